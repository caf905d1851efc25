import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Prompts in int8: what they share with training in int8, and that they name themselves.
@Suite struct QuantizedPromptTests {
    @Test(
        "a prompt's way to the last layer is the training decoder's in int8",
        arguments: GenerationCase.few + [.family("qwen3"), .family("gemma3")])
    func decoder(tested: GenerationCase) throws {
        try tested.open { model, _ in
            let configuration = model.configuration
            let prompt = GenerationCase.tokens(90, of: configuration)
            let last = configuration.layerCount - 1
            let trained = AdapterShape(
                LoRAConfiguration(
                    rank: 1, scale: 1, dropout: 0, targets: [.query], layers: last..<last + 1),
                model: configuration)
            func expected(_ compute: ComputeType) throws -> [Double] {
                let decoder = Decoder(
                    weights: try DecoderWeights(
                        model: model, residence: .resident, compute: compute, positions: 90,
                        threads: 1),
                    adapter: trained)
                #expect(decoder.frozenLayers == last)
                let width = configuration.width
                var all = [Float](repeating: .nan, count: 90 * width)
                // What follows the last token that is read is only a target.
                let row = PackedBatch.Sequence(
                    tokens: prompt + [0], isTarget: [Bool](repeating: false, count: 91), number: 0)
                let isDone = decoder.features(
                    of: PackedBatch([row]), into: &all, training: false,
                    workspace: DecoderWorkspace(), progress: nil)
                #expect(isDone)
                return all.suffix(width).map(Double.init)
            }
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: .int8, team: team)
            let session = DecoderSession(
                weights: weights, adapter: nil, capacity: 90, team: team, compute: .int8)
            let found = session.read(prompt).hidden[last].map(Double.init)
            let (int8, fp32) = (try expected(.int8), try expected(.fp32))
            let error = CentralDifference.relativeError(found, int8)
            let rounding = CentralDifference.relativeError(fp32, int8)
            #expect(rounding > 1e-4)
            // A number near a border between two codes may become the other one.
            #expect(error < 0.2 * rounding, "\(error) \(rounding)")
        }
    }

    @Test(
        "the codes of packed weights are those of their rows",
        arguments: GenerationCase.few + [.family("gemma3")])
    func groups(tested: GenerationCase) throws {
        try tested.open { model, _ in
            let team = ComputeTeam(threadCount: 1)
            let weights = try GenerationWeights(model: model, compute: .int8, team: team)
            let block = weights.blocks[0]
            let scratch = FloatBuffer(count: InterleavedMatrix.scratchCount)
            for (matrix, codes) in zip(block.projections, block.codes) {
                let codes = try #require(codes)
                let (rows, columns) = (matrix.rows, matrix.columns)
                var all = [Float](repeating: .nan, count: rows * columns)
                for row in 0..<rows {
                    all.withUnsafeMutableBufferPointer {
                        guard let base = $0.baseAddress else { return }
                        matrix.copyRow(row, into: base + row * columns, scratch: scratch.base)
                    }
                }
                let expected = try QuantizedPanels(outputs: rows, inputs: columns)
                let packing = FloatBuffer(
                    count: QuantizedPanels.packingBytes(rows: rows, inputs: columns) / 4)
                expected.pack(all, first: 0, count: rows, scratch: packing.base)
                let x = CentralDifference.numbers(5 * columns, seed: 3, stream: 1)
                let room = FloatBuffer(count: QuantizedRows.bytes(rows: 5, columns: columns) / 4)
                let input = QuantizedRows(rows: 5, columns: columns, in: room.base)
                input.quantize(0..<2, of: x)
                input.quantize(2..<5, of: x)
                let products = [codes, expected].map { codes in
                    var y = [Float](repeating: .nan, count: 5 * rows)
                    codes.multiply(
                        rows: 0..<rows, input, into: &y, stride: rows, accumulating: false)
                    return y
                }
                #expect(products[0].allSatisfy { $0.isFinite })
                #expect(products[0] == products[1])
            }
        }
    }

    @Test("more than a block behind a window's ring is the same in one call and in three")
    func blocks() throws {
        try GenerationCase.tiny(.q4x0, isWindowed: true).open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: .int8, team: team)
            let count = DecoderSession.blockTokens(.int8) + 161
            let prompt = GenerationCase.tokens(count, of: model.configuration)
            let found = [[count], [100, 101, count], [513, 640, count]].map { ends in
                let session = DecoderSession(
                    weights: weights, adapter: adapter, capacity: count + 1, team: team,
                    compute: .int8)
                session.expectedLength = count
                var first = 0
                var last: [Float] = []
                for end in ends {
                    last = session.logits(after: Array(prompt[first..<end]))
                    first = end
                }
                return last + session.logits(after: [7], as: .answer)
            }
            #expect(found[0].allSatisfy { $0.isFinite })
            #expect(found[1] == found[0] && found[2] == found[0])
        }
    }

    @Test("blocks of a prompt in int8 are not those of one in another precision")
    func names() throws {
        try GenerationCase.tiny(.q4x0, isWindowed: false).openWeights { weights, _ in
            let projections = GenerationProjections(weights, adapter: nil)
            let names = ComputeType.allCases.map {
                PrefixName(
                    model: SHA256.digest(of: [1]), adapter: projections.digest, compute: $0,
                    cacheType: .fp32, turns: [false], byteCounts: [1])
            }
            #expect(Set(names).count == names.count)
        }
    }
}
