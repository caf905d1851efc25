import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Adapters of the embedding and the head in generation.
@Suite struct EdgeGenerationTests {
    private static func adapter(
        _ targets: [TargetModule], _ model: ModelConfiguration, seed: UInt64 = 5
    ) -> AdapterParameters {
        let shape = AdapterShape(
            LoRAConfiguration(rank: 3, scale: 2, dropout: 0, targets: targets, layers: 1..<2),
            model: model)
        let noise = CentralDifference.numbers(
            shape.layout.count, seed: seed, stream: 1, spread: 0.2)
        return AdapterParameters(shape: shape, values: noise)
    }

    private func open(
        _ isTied: Bool, _ body: (ModelDirectory) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.tiedEmbeddings = isTied
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            var model = try ModelDirectory.open(directory + "/tiny.gguf")
            model.configuration.design.embeddingMultiplier = 1.5
            model.configuration.design.logitsMultiplier = 0.75
            try body(model)
        }
    }

    @Test(
        "logits are those of the training pass, for prompts, answers and whole prompts",
        arguments: [[TargetModule.embedding], [.head], [.down, .embedding, .head]], [false, true])
    func trainingPass(targets: [TargetModule], isTied: Bool) throws {
        try open(isTied) { model in
            let adapter = Self.adapter(targets, model.configuration)
            let decoder = Decoder(
                weights: try DecoderWeights(
                    model: model, residence: .resident, positions: 64, threads: 1),
                adapter: adapter.shape)
            let tokens = (0..<24).map { Int32($0 * 7 % 320) }
            func trained(_ parameters: [Float]?) -> [Float] {
                decoder.logits(
                    of: PackedBatch([
                        .init(
                            tokens: tokens + [0], isTarget: tokens.indices.map { $0 > 0 } + [true],
                            number: 0)
                    ]), parameters: parameters, workspace: DecoderWorkspace())
            }
            let expected = trained(adapter.values)
            let base = trained(nil)
            func error(_ found: [Float], at token: Int, of logits: [Float]) -> Double {
                CentralDifference.relativeError(
                    found.map(Double.init),
                    logits[(token * 320)..<((token + 1) * 320)].map(Double.init))
            }
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            let session = DecoderSession(
                weights: weights, adapter: adapter, capacity: 32, team: team)
            #expect(error(session.logits(after: Array(tokens[..<20])), at: 19, of: expected) < 1e-5)
            for token in 20..<24 {
                let found = session.logits(after: [tokens[token]], as: .answer)
                #expect(error(found, at: token, of: expected) < 1e-5)
                #expect(error(found, at: token, of: base) > 1e-3)
            }
        }
    }

    @Test("rows of several adapters in one step have the logits that each has alone")
    func together() throws {
        try open(false) { model in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            let projections =
                [GenerationProjections(weights, adapter: nil)]
                + [[TargetModule.embedding], [.head], [.down, .embedding, .head], [.down]]
                .enumerated().map { index, targets in
                    GenerationProjections(
                        weights,
                        adapter: Self.adapter(targets, model.configuration, seed: UInt64(index)))
                }
            let plan = BatchPlan(
                model: model.configuration, sequences: 8, context: 64, rows: 8, rank: 3)
            func logits(_ members: [Int]) -> [Int: [Float]] {
                let decoder = BatchDecoder(weights: weights, plan: plan, team: team)
                var ids: [BatchDecoder.SequenceID: Int] = [:]
                for member in members {
                    let prompt = (0..<9).map { Int32(($0 * 37 + member * 5) % 320) }
                    guard let id = decoder.join(prompt, 20, projections[member]) else {
                        Issue.record("no room for \(member)")
                        continue
                    }
                    ids[id] = member
                }
                for _ in 0..<3 {
                    let last = decoder.drain()
                    for id in last.keys { _ = decoder.feed(id, [7]) }
                }
                var found: [Int: [Float]] = [:]
                for (id, values) in decoder.drain() { found[ids[id] ?? -1] = values }
                return found
            }
            let together = logits([4, 0, 3, 1, 2])
            #expect(together.count == 5)
            for member in 0..<5 { #expect(logits([member])[member] == together[member]) }
            #expect(Set(projections.map(\.digest)).count == 5)
            for (index, targets) in [[TargetModule.embedding], [.head]].enumerated() {
                let adapter = Self.adapter(targets, model.configuration, seed: UInt64(index))
                #expect(
                    projections[index + 1].byteCount
                        == GenerationProjections.byteCount(of: adapter.shape))
                // Another number gives another name, and with it other blocks of the prefix cache.
                var other = adapter
                other.values[3] += 1
                #expect(
                    GenerationProjections(weights, adapter: other).digest
                        != projections[index + 1].digest)
            }
        }
    }
}
