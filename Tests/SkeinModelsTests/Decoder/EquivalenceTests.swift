import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// What may not change a result, and what may change it only by rounding.
@Suite struct EquivalenceTests {
    static let lora = LoRAConfiguration(
        rank: 3, scale: 2, dropout: 0.1, targets: TargetModule.allCases, layers: 0..<2)

    private func gradient(
        _ weights: DecoderWeights, checkpointing: Bool = false, batch: PackedBatch,
        workspace: DecoderWorkspace = DecoderWorkspace(), dropout: Bool = true
    ) -> (loss: BatchLoss, gradient: [Float]) {
        let shape = AdapterShape(Self.lora, model: weights.configuration)
        let decoder = Decoder(
            weights: weights, adapter: shape, gradientCheckpointing: checkpointing)
        var gradient = [Float](repeating: .nan, count: shape.layout.count)
        let address = Decoder.DropoutAddress(
            dropout: Dropout(probability: 0.1, seed: 9), step: 4)
        let loss = decoder.gradient(
            of: batch, parameters: TinyDecoder.parameters(shape),
            dropout: dropout ? address : nil, workspace: workspace, into: &gradient)
        return (loss, gradient)
    }

    @Test(
        "resident and streamed weights and gradient checkpointing give the same bits",
        arguments: TinyModel.WeightType.allCases, ComputeType.allCases)
    func sameBits(type: TinyModel.WeightType, compute: ComputeType) throws {
        for var tiny in [TinyModel()] + TinyModel.otherHeads {
            tiny.weightType = type
            try checkSameBits(tiny, compute: compute)
        }
    }

    private func checkSameBits(_ tiny: TinyModel, compute: ComputeType) throws {
        let resident = try TinyDecoder.weights(tiny, compute: compute)
        let streamed = try TinyDecoder.weights(tiny, residence: .streamed, compute: compute)
        let batch = TinyDecoder.batch([20, 7, 70])
        let expected = gradient(resident, batch: batch)
        #expect(expected.gradient.allSatisfy { $0.isFinite })
        for (weights, checkpointing) in [(streamed, false), (resident, true), (streamed, true)] {
            let found = gradient(weights, checkpointing: checkpointing, batch: batch)
            #expect(found.loss == expected.loss)
            #expect(found.gradient == expected.gradient)
        }
    }

    @Test(
        "a workspace that held another batch gives the same bits as a new one",
        arguments: ComputeType.allCases)
    func reusedWorkspace(compute: ComputeType) throws {
        let weights = try TinyDecoder.weights(compute: compute)
        let workspace = DecoderWorkspace()
        let expected = gradient(weights, batch: TinyDecoder.batch([12, 5]))
        _ = gradient(weights, batch: TinyDecoder.batch([90, 33]), workspace: workspace)
        let found = gradient(weights, batch: TinyDecoder.batch([12, 5]), workspace: workspace)
        #expect(found.gradient == expected.gradient)
    }

    @Test(
        "everything in a workspace is written before it is read",
        arguments: ComputeType.allCases)
    func poisonedWorkspace(compute: ComputeType) throws {
        for tiny in [TinyModel()] + TinyModel.otherHeads {
            try checkPoisonedWorkspace(tiny, compute: compute)
        }
    }

    private func checkPoisonedWorkspace(_ tiny: TinyModel, compute: ComputeType) throws {
        let batch = TinyDecoder.batch([70, 5, 2])
        for residence in WeightResidence.allCases {
            let weights = try TinyDecoder.weights(tiny, residence: residence, compute: compute)
            for targets in [
                TargetModule.allCases, [.output], [.value], [.up], [.down], [.gate],
                [.embedding], [.head], [.value, .embedding, .head],
            ] {
                for (layers, checkpointing) in [(0..<2, false), (0..<1, true), (1..<2, false)] {
                    let lora = LoRAConfiguration(
                        rank: 3, scale: 2, dropout: 0.1, targets: targets, layers: layers)
                    let shape = AdapterShape(lora, model: weights.configuration)
                    let decoder = Decoder(
                        weights: weights, adapter: shape, gradientCheckpointing: checkpointing)
                    let workspace = DecoderWorkspace()
                    func run() -> (BatchLoss, BatchLoss, [Float]) {
                        let parameters = TinyDecoder.parameters(shape)
                        func poison() {
                            workspace.memory.contents.update(repeating: .nan)
                        }
                        var gradient = [Float](repeating: .nan, count: shape.layout.count)
                        let dropout = Decoder.DropoutAddress(
                            dropout: Dropout(probability: 0.1, seed: 9), step: 4)
                        poison()
                        let loss = decoder.gradient(
                            of: batch, parameters: parameters, dropout: dropout,
                            workspace: workspace, into: &gradient)
                        poison()
                        return (
                            loss,
                            decoder.loss(of: batch, parameters: parameters, workspace: workspace),
                            gradient
                        )
                    }
                    // The first run makes the memory, the second finds it full of NaN.
                    let expected = run()
                    #expect(expected.2.allSatisfy { $0.isFinite }, "\(targets) \(layers)")
                    #expect(run() == expected, "\(targets) \(layers) \(checkpointing)")
                }
            }
        }
    }

    @Test("sequences in one batch do not see each other, and keep their dropout masks")
    func packing() throws {
        let weights = try TinyDecoder.weights()
        let rows = [13, 6, 21].enumerated().map { number, length in
            PackedBatch.Sequence(
                tokens: (0..<length).map { Int32(($0 * 29 + number) % 320) },
                isTarget: (0..<length).map { $0 > 2 }, number: UInt32(number + 7))
        }
        let together = gradient(weights, batch: PackedBatch(rows))
        var loss = BatchLoss()
        var sum = [Double](repeating: 0, count: together.gradient.count)
        for row in rows {
            let alone = gradient(weights, batch: PackedBatch([row]))
            loss += alone.loss
            for i in sum.indices { sum[i] += Double(alone.gradient[i]) }
        }
        #expect(loss.lossTokens == together.loss.lossTokens)
        #expect(abs(loss.lossSum - together.loss.lossSum) < 1e-5 * loss.lossSum)
        let error = CentralDifference.relativeError(together.gradient.map(Double.init), sum)
        #expect(error < 1e-5)
    }

    @Test("the loss without gradient is the loss with gradient", arguments: ComputeType.allCases)
    func lossAlone(compute: ComputeType) throws {
        let weights = try TinyDecoder.weights(compute: compute)
        let shape = AdapterShape(Self.lora, model: weights.configuration)
        let batch = TinyDecoder.batch([20, 7])
        let alone = Decoder(weights: weights, adapter: shape).loss(
            of: batch, parameters: TinyDecoder.parameters(shape), workspace: DecoderWorkspace())
        #expect(alone == gradient(weights, batch: batch, dropout: false).loss)
    }

    @Test("a cache gives the logits of reading everything at once")
    func cache() throws {
        let weights = try TinyDecoder.weights()
        let shape = AdapterShape(Self.lora, model: weights.configuration)
        let decoder = Decoder(weights: weights, adapter: shape)
        let parameters = TinyDecoder.parameters(shape)
        let tokens = (0..<40).map { Int32($0 * 7 % 320) }
        let whole = DecoderSession(decoder: decoder, parameters: parameters, capacity: 40)
        let expected = whole.logits(after: tokens)
        let stepwise = DecoderSession(decoder: decoder, parameters: parameters, capacity: 40)
        _ = stepwise.logits(after: Array(tokens[..<25]))
        var found: [Float] = []
        for token in tokens[25...] { found = stepwise.logits(after: [token], as: .answer) }
        #expect(stepwise.room == 0)
        let error = CentralDifference.relativeError(
            found.map(Double.init), expected.map(Double.init))
        #expect(error < 1e-5)
    }
}
