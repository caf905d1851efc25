import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Each family's arithmetic beside transformers' and PEFT's; Scripts/check-families does this on
/// many models.
@Suite struct FamilyNumbersTests {
    private struct Opened {
        let golden: FamilyNumbers
        let model: ModelDirectory
        let adapter: AdapterParameters

        func weights(
            _ residence: WeightResidence = .resident, _ compute: ComputeType = .fp32
        ) throws -> DecoderWeights {
            try DecoderWeights(
                model: model, residence: residence, compute: compute,
                positions: golden.batch.longest + 1, threads: 1)
        }

        func decoder(
            _ residence: WeightResidence = .resident, _ compute: ComputeType = .fp32,
            checkpointing: Bool = false
        ) throws -> Decoder {
            Decoder(
                weights: try weights(residence, compute), adapter: adapter.shape,
                gradientCheckpointing: checkpointing,
                baseNorms: try BaseNorms.needed(adapter.shape, of: model))
        }

        func gradient(_ decoder: Decoder) -> (loss: BatchLoss, gradient: [Float]) {
            var gradient = [Float](repeating: .nan, count: adapter.values.count)
            let loss = decoder.gradient(
                of: golden.batch, parameters: adapter.values, dropout: nil,
                workspace: DecoderWorkspace(), into: &gradient)
            return (loss, gradient)
        }

        func generated(_ prompt: [Int32], count: Int, threads: Int) throws -> [Int32] {
            let team = ComputeTeam(threadCount: threads)
            let session = DecoderSession(
                weights: try GenerationWeights(model: model, team: team), adapter: adapter,
                capacity: prompt.count + count, team: team)
            var tokens: [Int32] = []
            try Generator(session: session, sampler: Sampler(), stopTokens: []).run(
                prompt: prompt, maximumTokens: count, check: DecoderSession.uninterrupted
            ) {
                tokens.append($0)
                return true
            }
            return tokens
        }
    }

    private func open(_ family: String, _ body: (Opened) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let golden = try FamilyNumbers.of(family)
            let model = try golden.model(in: directory)
            try body(
                Opened(
                    golden: golden, model: model,
                    adapter: golden.adapter(model.configuration)))
        }
    }

    @Test("every family has numbers")
    func families() {
        #expect(FamilyNumbers.families.count == 14 + 5 + 6)
    }

    @Test("logits, loss and gradients are those of transformers", arguments: FamilyNumbers.families)
    func reference(family: String) throws {
        try open(family) { opened in
            let golden = opened.golden
            #expect(golden.scoreSpread > 3)
            let decoder = try opened.decoder()
            for (row, expected) in zip(golden.rows, golden.logits) {
                let batch = PackedBatch([
                    .init(
                        tokens: row.ids, isTarget: row.ids.indices.map { $0 > 0 }, number: 0)
                ])
                let logits = decoder.logits(
                    of: batch, parameters: opened.adapter.values, workspace: DecoderWorkspace())
                let error = CentralDifference.relativeError(
                    logits.suffix(expected.count).map(Double.init), expected)
                #expect(error < 1e-4, "logits")
            }
            let (loss, gradient) = opened.gradient(decoder)
            #expect(abs(loss.lossSum - golden.loss) < 1e-4 * golden.loss)
            let entries = opened.adapter.shape.layout.entries
            #expect(Set(entries.map(\.name)) == Set(golden.gradients.keys))
            for entry in entries {
                let expected = try #require(golden.gradients[entry.name])
                let found = gradient[entry.range].map(Double.init)
                let probe = FamilyNumbers.uniform("probe " + entry.name, count: entry.count)
                    .map(Double.init)
                func dot(_ a: [Double], _ b: [Double]) -> Double {
                    zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
                }
                let norm = dot(found, found).squareRoot()
                let along = dot(found, probe) / dot(probe, probe).squareRoot()
                let hasEdges = !opened.adapter.shape.edges.isEmpty
                let most = golden.magnitudes == true || hasEdges ? 1e-4 : 1e-3
                #expect(abs(norm - expected[0]) < most * expected[0], "\(entry.name)")
                #expect(abs(along - expected[1]) < most * expected[0], "\(entry.name)")
            }
        }
    }

    @Test(
        "streamed weights and checkpointing give the same bits",
        arguments: FamilyNumbers.families, ComputeType.allCases)
    func sameBits(family: String, compute: ComputeType) throws {
        try open(family) { opened in
            // bf16 wants an even feed-forward width.
            let isOdd = !opened.model.configuration.feedForwardWidth.isMultiple(of: 2)
            if compute == .bf16, isOdd {
                #expect(throws: FormatError.self) { try opened.weights(.resident, compute) }
                return
            }
            let expected = opened.gradient(try opened.decoder(.resident, compute))
            #expect(expected.gradient.allSatisfy { $0.isFinite })
            for (residence, checkpointing) in [
                (WeightResidence.streamed, false), (.resident, true), (.streamed, true),
            ] {
                let found = opened.gradient(
                    try opened.decoder(residence, compute, checkpointing: checkpointing))
                #expect(found.loss == expected.loss)
                #expect(found.gradient == expected.gradient)
            }
            guard compute == .bf16 else { return }
            #expect(
                abs(expected.loss.lossSum - opened.golden.loss) < 0.1 * opened.golden.loss,
                "bf16 \(expected.loss.lossSum) fp32 \(opened.golden.loss)")
        }
    }

    @Test(
        "greedy tokens are transformers', those of the training pass, and of any number of threads",
        arguments: FamilyNumbers.families)
    func generation(family: String) throws {
        try open(family) { opened in
            let decoder = try opened.decoder()
            for (prompt, expected) in zip(opened.golden.prompts, opened.golden.tokens) {
                let tokens = try opened.generated(prompt, count: expected.count, threads: 1)
                #expect(tokens == expected)
                let shared = try opened.generated(prompt, count: expected.count, threads: 3)
                #expect(shared == tokens)
                var row = prompt
                for token in tokens {
                    row.append(token)
                    // With this token the row is just long enough to be turned differently.
                    let tables = opened.model.configuration.design.rotaryTables
                    if tables.contains(where: { $0.longFrom == row.count - 1 }) { continue }
                    // Longer rows are rotated differently in some families: each step by itself.
                    let last = PackedBatch([
                        .init(
                            tokens: row, isTarget: row.indices.map { $0 == row.count - 1 },
                            number: 0)
                    ])
                    let loss = decoder.loss(
                        of: last, parameters: opened.adapter.values,
                        workspace: DecoderWorkspace())
                    #expect(loss.correct == 1)
                }
            }
        }
    }
}
