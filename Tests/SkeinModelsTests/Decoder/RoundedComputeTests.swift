import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Products in bf16 and int8 beside those in fp32.
@Suite struct RoundedComputeTests {
    private func gradient(
        _ lora: LoRAConfiguration, compute: ComputeType, batch: PackedBatch,
        tiny: TinyModel = TinyModel()
    ) throws -> (loss: BatchLoss, gradient: [Float]) {
        let weights = try TinyDecoder.weights(tiny, compute: compute)
        let shape = AdapterShape(lora, model: weights.configuration)
        var gradient = [Float](repeating: .nan, count: shape.layout.count)
        let loss = Decoder(weights: weights, adapter: shape).gradient(
            of: batch, parameters: TinyDecoder.parameters(shape),
            dropout: Decoder.DropoutAddress(
                dropout: Dropout(probability: 0.1, seed: 9), step: 4),
            workspace: DecoderWorkspace(), into: &gradient)
        return (loss, gradient)
    }

    @Test(
        "bf16 and int8 are near to fp32 and are not fp32",
        arguments: [
            TargetModule.allCases, [.query, .key, .value, .output], [.gate, .up], [.down],
        ], [(ComputeType.bf16, 0.05), (.int8, 0.1)])
    func near(targets: [TargetModule], compute: (type: ComputeType, bound: Double)) throws {
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0.1, targets: targets, layers: 0..<2)
        let batch = TinyDecoder.batch([20, 7, 70])
        let single = try gradient(lora, compute: .fp32, batch: batch)
        let rounded = try gradient(lora, compute: compute.type, batch: batch)
        #expect(abs(rounded.loss.lossSum - single.loss.lossSum) < 5e-3 * single.loss.lossSum)
        #expect(rounded.loss.lossTokens == single.loss.lossTokens)
        #expect(rounded.gradient != single.gradient)
        let error = CentralDifference.relativeError(
            rounded.gradient.map(Double.init), single.gradient.map(Double.init))
        #expect(error < compute.bound, "\(compute.type): relative L2 error \(error)")
    }

    @Test("in bf16 no product of a weight is left to fp32, in fp32 none to bf16")
    func kinds() throws {
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2)
        for compute in ComputeType.allCases {
            let weights = try TinyDecoder.weights(compute: compute)
            let shape = AdapterShape(lora, model: weights.configuration)
            let tally = MatMulTally()
            var gradient = [Float](repeating: 0, count: shape.layout.count)
            _ = Decoder(weights: weights, adapter: shape).gradient(
                of: TinyDecoder.batch([20, 7]), parameters: TinyDecoder.parameters(shape),
                dropout: nil, workspace: DecoderWorkspace(tally: tally), into: &gradient)
            let kinds = Set(tally.counts.keys.map(\.kind))
            switch compute {
            case .fp32: #expect(kinds == [.single, .thin])
            case .bf16: #expect(kinds == [.packed, .thin])
            // Attention is in fp32.
            case .int8: #expect(kinds == [.single, .quantized, .thin])
            }
        }
    }

    @Test("an odd feed-forward width is refused in bf16, with a way out")
    func oddWidth() throws {
        var tiny = TinyModel()
        tiny.weightType = .f32
        tiny.feedForwardWidth = 97
        _ = try TinyDecoder.weights(tiny)
        #expect {
            _ = try TinyDecoder.weights(tiny, compute: .bf16)
        } throws: { error in
            guard let error = error as? FormatError else { return false }
            return error.explanation.what.contains("fp32")
        }
    }

    @Test(
        "the last block makes only the rows that carry loss, whichever they are",
        arguments: [[0], [3], [0, 1, 2], [0, 5, 19, 20, 26], Array(0..<27)])
    func trimmed(rows: [Int]) throws {
        // Two rows of 14 and 13 predictions; a target is one place after its row.
        let chosen = Set(rows)
        let lengths = [15, 14]
        func batch(only row: Int?) -> PackedBatch {
            var start = 0
            return PackedBatch(
                lengths.enumerated().map { number, length in
                    defer { start += length - 1 }
                    return .init(
                        tokens: (0..<length).map { Int32(($0 * 37 + number * 11) % 320) },
                        isTarget: (0..<length).map { place in
                            let own = start + place - 1
                            return place > 0 && chosen.contains(own) && (row ?? own) == own
                        }, number: UInt32(number))
                })
        }
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0.1, targets: TargetModule.allCases, layers: 0..<2)
        let together = try gradient(lora, compute: .fp32, batch: batch(only: nil))
        #expect(together.loss.lossTokens == rows.count)
        var sum = [Double](repeating: 0, count: together.gradient.count)
        var loss = 0.0
        for row in rows {
            let alone = try gradient(lora, compute: .fp32, batch: batch(only: row))
            #expect(alone.loss.lossTokens == 1)
            loss += alone.loss.lossSum
            for i in sum.indices { sum[i] += Double(alone.gradient[i]) }
        }
        #expect(abs(loss - together.loss.lossSum) < 1e-5 * loss)
        #expect(
            CentralDifference.relativeError(together.gradient.map(Double.init), sum) < 1e-5)
    }
}
