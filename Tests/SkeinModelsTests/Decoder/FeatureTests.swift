import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// What leaves the frozen blocks can be kept: it depends on a row alone.
@Suite struct FeatureTests {
    private static let layerCount = 4

    private func decoder(
        _ layers: Range<Int>, compute: ComputeType = .fp32, checkpointing: Bool = false,
        rounds: Bool = false
    ) throws -> Decoder {
        var tiny = TinyModel()
        tiny.layerCount = Self.layerCount
        let weights = try TinyDecoder.weights(tiny, compute: compute)
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0.1, targets: TargetModule.allCases, layers: layers)
        return Decoder(
            weights: weights, adapter: AdapterShape(lora, model: weights.configuration),
            gradientCheckpointing: checkpointing, roundsFeatures: rounds)
    }

    private func features(_ decoder: Decoder, _ batch: PackedBatch) -> [Float] {
        var features = [Float](repeating: .nan, count: batch.tokens.count * decoder.width)
        let isDone = decoder.features(
            of: batch, into: &features, training: true, workspace: DecoderWorkspace(),
            progress: nil)
        #expect(isDone)
        return features
    }

    private func gradient(
        _ decoder: Decoder, _ batch: PackedBatch, features: [Float]?
    ) throws -> (loss: BatchLoss, gradient: [Float]) {
        let shape = try #require(decoder.adapter)
        var gradient = [Float](repeating: .nan, count: shape.layout.count)
        let address = Decoder.DropoutAddress(
            dropout: Dropout(probability: 0.1, seed: 9), step: 4)
        let loss = decoder.gradient(
            of: batch, features: features, parameters: TinyDecoder.parameters(shape),
            dropout: address, workspace: DecoderWorkspace(), into: &gradient, progress: nil)
        return (try #require(loss), gradient)
    }

    @Test(
        "a pass that begins with features has the bits of one that begins with tokens",
        arguments: ComputeType.allCases)
    func sameBits(compute: ComputeType) throws {
        let batch = TinyDecoder.batch([20, 7, 70])
        for layers in [1..<4, 2..<3, 3..<4] {
            for checkpointing in [false, true] {
                for rounds in [false, true] {
                    let decoder = try decoder(
                        layers, compute: compute, checkpointing: checkpointing, rounds: rounds)
                    let kept = features(decoder, batch)
                    let expected = try gradient(decoder, batch, features: nil)
                    let found = try gradient(decoder, batch, features: kept)
                    #expect(expected.gradient.allSatisfy { $0.isFinite })
                    #expect(found.loss == expected.loss)
                    #expect(found.gradient == expected.gradient)
                    let parameters = TinyDecoder.parameters(try #require(decoder.adapter))
                    let judged = decoder.loss(
                        of: batch, parameters: parameters, workspace: DecoderWorkspace())
                    #expect(
                        decoder.loss(
                            of: batch, features: kept, parameters: parameters,
                            workspace: DecoderWorkspace(), progress: nil) == judged)
                    let likelihoods = decoder.logProbabilities(
                        of: batch, parameters: nil, workspace: DecoderWorkspace(), progress: nil)
                    #expect(
                        decoder.logProbabilities(
                            of: batch, features: kept, parameters: nil,
                            workspace: DecoderWorkspace(), progress: nil) == likelihoods)
                }
            }
        }
    }

    @Test(
        "features of a row do not depend on the rows beside it", arguments: ComputeType.allCases)
    func independent(compute: ComputeType) throws {
        let decoder = try decoder(2..<4, compute: compute)
        // Lengths on both sides of the kernels' tiles.
        let lengths = [2, 3, 7, 13, 16, 33, 70, 129, 12]
        let batch = TinyDecoder.batch(lengths)
        let together = features(decoder, batch)
        for index in lengths.indices {
            let alone = features(decoder, batch.inputs(of: [index]))
            let first = batch.offsets[index] * decoder.width
            #expect(alone == Array(together[first..<first + alone.count]), "row \(index)")
        }
        let some = features(decoder, batch.inputs(of: [6, 1, 4]))
        let expected = [6, 1, 4].flatMap { index in
            together[
                batch.offsets[index] * decoder.width..<batch.offsets[index + 1] * decoder.width]
        }
        #expect(some == expected)
    }

    @Test("rounded features are bf16 numbers, and change the loss")
    func rounded() throws {
        let batch = TinyDecoder.batch([20, 7])
        let exact = features(try decoder(2..<4), batch)
        let rounded = features(try decoder(2..<4, rounds: true), batch)
        #expect(rounded.allSatisfy { $0.bitPattern & 0xffff == 0 })
        #expect(rounded != exact)
        for (number, near) in zip(exact, rounded) {
            #expect(abs(number - near) <= abs(number) / 256)
        }
        let plain = try gradient(try decoder(2..<4), batch, features: nil)
        let other = try gradient(try decoder(2..<4, rounds: true), batch, features: nil)
        #expect(plain.loss != other.loss)
    }

    @Test("frozen blocks are those below the lowest adapter, never the last")
    func frozen() throws {
        for (layers, expected) in [(0..<4, 0), (1..<4, 1), (2..<3, 2), (3..<4, 3)] {
            #expect(try decoder(layers).frozenLayers == expected)
        }
    }

    @Test(
        "frozen blocks share their activations, so that adapters of upper layers take less memory")
    func memory() throws {
        func floats(_ layers: Range<Int>) throws -> Int {
            let decoder = try decoder(layers)
            var arena = Arena()
            _ = BatchMemory(
                BatchSize(
                    tokens: 100, longest: 100, lossRows: 50, model: decoder.model,
                    adapter: decoder.adapter, training: true, compute: .fp32,
                    checkpointing: false, dropout: false, streamedFloats: 0), &arena)
            return arena.used
        }
        let (all, two) = (try floats(0..<4), try floats(2..<4))
        #expect(two < all)
        // Two of four blocks are kept, and one is shared.
        #expect(try floats(3..<4) < two)
    }

    @Test("progress goes on from the frozen blocks to the others")
    func progress() throws {
        let decoder = try decoder(2..<4)
        let batch = TinyDecoder.batch([20, 7])
        let progress = PassProgress()
        var kept = [Float](repeating: 0, count: batch.tokens.count * decoder.width)
        _ = decoder.features(
            of: batch, into: &kept, training: true, workspace: DecoderWorkspace(),
            progress: progress)
        #expect(progress.layersDone == 2 && progress.layerCount == 6)
        var gradient = [Float](repeating: 0, count: decoder.adapter?.layout.count ?? 0)
        let parameters = TinyDecoder.parameters(try #require(decoder.adapter))
        func pass(_ progress: PassProgress) {
            _ = decoder.gradient(
                of: batch, features: kept, parameters: parameters, dropout: nil,
                workspace: DecoderWorkspace(), into: &gradient, progress: progress)
        }
        pass(progress)
        #expect(progress.layersDone == 6 && progress.layerCount == 6)
        let other = PassProgress()
        pass(other)
        #expect(other.layersDone == 4 && other.layerCount == 4 && other.thousandths == 1000)
        let abandoned = PassProgress()
        abandoned.abandon()
        let isDone = decoder.features(
            of: batch, into: &kept, training: true, workspace: DecoderWorkspace(),
            progress: abandoned)
        #expect(!isDone)
    }
}
