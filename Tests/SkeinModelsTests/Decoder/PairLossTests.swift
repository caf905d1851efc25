import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Losses of pairs of answers through the whole model.
@Suite struct PairLossTests {
    private static let lora = LoRAConfiguration(
        rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2)

    private static func loss(_ kind: PreferenceLoss.Kind) -> PreferenceLoss {
        PreferenceLoss(kind: kind, beta: kind == .simpo ? 2 : 0.5, gamma: 0.3)
    }

    /// Sequences as `TinyDecoder.batch` makes them, as pairs.
    private static func batch(
        _ lengths: [Int], _ kind: PreferenceLoss.Kind, _ numbers: Range<Int>? = nil
    ) -> PackedBatch {
        let sequences = lengths.enumerated().map { index, length in
            let number = index + (numbers?.lowerBound ?? 0)
            return PackedBatch.Sequence(
                tokens: (0..<length).map { Int32(($0 * 37 + number * 11 + 5) % 320) },
                isTarget: (0..<length).map { $0 >= length / 2 }, number: UInt32(number))
        }
        return PackedBatch(
            sequences,
            pairs: .init(
                loss: loss(kind), tokenShare: 0.125,
                references: kind == .dpo
                    ? lengths.indices.map { -Double(20 + 3 * $0) } : []))
    }

    private static func decoder() throws -> (Decoder, [Float]) {
        let weights = try TinyDecoder.weights()
        let shape = AdapterShape(lora, model: weights.configuration)
        return (Decoder(weights: weights, adapter: shape), TinyDecoder.parameters(shape))
    }

    private static func gradient(
        _ decoder: Decoder, _ batch: PackedBatch, _ parameters: [Float]
    ) -> (BatchLoss, [Float]) {
        var gradient = [Float](repeating: .nan, count: parameters.count)
        let loss = decoder.gradient(
            of: batch, parameters: parameters, dropout: nil, workspace: DecoderWorkspace(),
            into: &gradient)
        return (loss, gradient)
    }

    @Test(
        "every matrix has the gradient of the loss", arguments: PreferenceLoss.Kind.allCases)
    func gradients(kind: PreferenceLoss.Kind) throws {
        let (decoder, parameters) = try Self.decoder()
        let batch = Self.batch([9, 6, 12, 14], kind)
        let (loss, gradient) = Self.gradient(decoder, batch, parameters)
        #expect(loss.lossTokens == 2 && loss.lossSum > 0)
        let workspace = DecoderWorkspace()
        for entry in decoder.adapter?.layout.entries ?? [] {
            let spaced = stride(
                from: entry.offset, to: entry.offset + entry.count, by: max(1, entry.count / 12))
            let numeric = CentralDifference.gradient(
                at: parameters, indices: Array(spaced), step: 1e-2
            ) { point in
                decoder.loss(of: batch, parameters: point, workspace: workspace).lossSum
            }
            let own = spaced.map { Double(gradient[$0]) }
            let error = CentralDifference.relativeError(own, numeric)
            #expect(error < 1e-2, "\(kind) \(entry.name): \(error)")
        }
    }

    @Test("a pair's loss does not depend on the pairs beside it, nor on how logits are cut")
    func grouping() throws {
        let (decoder, parameters) = try Self.decoder()
        // Together more loss rows than exist at once, so that they are predicted twice.
        let lengths = [120, 90, 60, 130]
        for kind in PreferenceLoss.Kind.allCases {
            let (whole, together) = Self.gradient(decoder, Self.batch(lengths, kind), parameters)
            #expect(Self.batch(lengths, kind).lossRows.count > DecoderWorkspace.headRows)
            var sums = BatchLoss()
            var apart = [Float](repeating: 0, count: together.count)
            for pair in [0..<2, 2..<4] {
                var batch = Self.batch(Array(lengths[pair]), kind, pair)
                if kind == .dpo {
                    batch = PackedBatch(
                        batch, references: pair.map { -Double(20 + 3 * $0) })
                }
                let (loss, gradient) = Self.gradient(decoder, batch, parameters)
                sums += loss
                for index in apart.indices { apart[index] += gradient[index] }
            }
            #expect(sums == whole, "\(kind)")
            let error = CentralDifference.relativeError(
                together.map(Double.init), apart.map(Double.init))
            #expect(error < 1e-5, "\(kind) \(error)")
        }
    }

    @Test("log-probabilities are minus the cross-entropies of the sequences")
    func logProbabilities() throws {
        let (decoder, parameters) = try Self.decoder()
        let workspace = DecoderWorkspace()
        let batch = TinyDecoder.batch([9, 5, 14])
        let found = parameters.withUnsafeBufferPointer {
            decoder.logProbabilities(
                of: batch, parameters: $0.baseAddress, workspace: workspace, progress: nil)
        }
        let values = try #require(found)
        #expect(values.count == 3)
        let loss = decoder.loss(of: batch, parameters: parameters, workspace: workspace)
        #expect(abs(values.reduce(0, +) + loss.lossSum) < 1e-9)
        #expect(values.allSatisfy { $0 < 0 })
    }
}

extension PackedBatch {
    /// The same pairs with other references.
    fileprivate init(_ batch: PackedBatch, references: [Double]) {
        let sequences = zip(batch.offsets, batch.offsets.dropFirst()).enumerated().map {
            index, range in
            // The last token of each is only a target.
            let rows = batch.lossRowsOfSequences[index]
            let last = batch.lossTargets[rows.upperBound - 1]
            let tokens = Array(batch.tokens[range.0..<range.1]) + [last]
            let targets = Set(batch.lossRows[rows].map { $0 - range.0 + 1 })
            return Sequence(
                tokens: tokens, isTarget: tokens.indices.map(targets.contains),
                number: batch.sequenceNumbers[index])
        }
        self.init(
            sequences,
            pairs: batch.pairs.map {
                Pairs(loss: $0.loss, tokenShare: $0.tokenShare, references: references)
            })
    }
}
