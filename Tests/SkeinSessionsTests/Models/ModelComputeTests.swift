import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinSessions

/// `Resources.compute`: prompts of sessions in each precision, against the same model used directly.
@Suite("Sessions whose prompts are multiplied in another precision")
struct ModelComputeTests {
    private typealias Compute = SystemLanguageModel.Resources.Compute

    private static let conversation = Conversation(messages: [
        ChatMessage(
            role: "user", content: (0..<60).map { "the answer \($0) is" }.joined(separator: " "))
    ])
    private static let seeds = 0..<8 as Range<UInt64>
    private static let replyTokens = 48

    private func withCase(_ body: (SessionCase) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { try await body(SessionCase(in: $0)) }
    }

    private func sampler(_ seed: UInt64) -> Sampler { Sampler(temperature: 1, seed: seed) }

    /// What a loaded model replies.
    private func reply(_ model: LoadedModel, seed: UInt64) async throws -> (String, ReplyEnd) {
        let request = ReplyRequest(
            conversation: Self.conversation, form: .text, sampler: sampler(seed),
            maximumTokens: Self.replyTokens, adapter: nil)
        var (text, end): (String, ReplyEnd?) = ("", nil)
        for try await update in model.reply(to: request) {
            switch update {
            case .text(let more): text += more
            case .finished(let found): end = found
            case .callBegan, .arguments: Issue.record("there are no tools")
            }
        }
        return (text, try #require(end))
    }

    /// What `Generator` says, alone.
    private func direct(
        _ tiny: SessionCase, _ model: LoadedModel, _ weights: GenerationWeights,
        _ compute: ComputeType, seed: UInt64
    ) throws -> String {
        let prompt = try model.conversations.ids(of: Self.conversation)
        let tokenizer = model.host.tokenizer
        let session = DecoderSession(
            weights: weights, adapter: nil, capacity: prompt.count + Self.replyTokens,
            team: ComputeTeam(threadCount: 1), compute: compute)
        let generator = Generator(
            session: session, sampler: sampler(seed), stopTokens: tokenizer.endOfTurnIDs,
            tokenCount: tokenizer.usableCount)
        var said: [Int32] = []
        try generator.run(
            prompt: prompt, maximumTokens: Self.replyTokens, check: DecoderSession.uninterrupted
        ) {
            said.append($0)
            return true
        }
        return tokenizer.decode(said, skippingSpecialTokens: true)
    }

    @Test("a session's replies are those of its model's prompts in that precision, cached or not")
    func replies() async throws {
        try await withCase { tiny in
            var texts: [Compute: [String]] = [:]
            for compute in Compute.allCases {
                let model = tiny.model { $0.compute = compute }
                let loaded = try #require(try await model.source() as? LoadedModel)
                let weights = try GenerationWeights(
                    model: tiny.directoryModel, compute: compute.type,
                    team: ComputeTeam(threadCount: 1))
                for seed in Self.seeds {
                    let (text, end) = try await reply(loaded, seed: seed)
                    #expect(
                        try text == direct(tiny, loaded, weights, compute.type, seed: seed),
                        "\(compute) \(seed)")
                    // Those that another model of the same files has read are not used.
                    #expect((end.cachedTokens > 0) == (seed > Self.seeds.lowerBound))
                    texts[compute, default: []].append(text)
                }
                model.unload()
            }
            #expect(Set(texts.values).count == Compute.allCases.count)
        }
    }

    @Test("a model in another precision is another model, and int8 takes a second copy of weights")
    func memory() async throws {
        try await withCase { tiny in
            let facts = try ModelFacts.of(tiny.path)
            func needed(_ compute: ComputeType) throws -> Int {
                try GenerationWeights.packedBytes(of: tiny.directoryModel, compute: compute)
            }
            let models = Compute.allCases.map { compute in tiny.model { $0.compute = compute } }
            var loaded: [LoadedModel] = []
            for (compute, model) in zip(Compute.allCases, models) {
                let one = try #require(try await model.source() as? LoadedModel)
                #expect(one.host.plan.batch.compute == compute.type)
                #expect(try one.host.plan.weightBytes == needed(compute.type))
                #expect(loaded.allSatisfy { $0 !== one })
                loaded.append(one)
            }
            let copy = try needed(.int8) - needed(.fp32)
            #expect(copy > 0)
            #expect(
                loaded[2].host.engine.weights.byteCount
                    > loaded[0].host.engine.weights.byteCount + copy / 2)
            // Activations in int8 are those of longer blocks, too.
            #expect(facts.bytes(computing: .int8) >= facts.bytes(computing: .fp32) + copy)
            for model in models { model.unload() }
        }
    }
}
