import SkeinBasics
import SkeinFormats
import SkeinGrammar
import SkeinModels
import SkeinTestSupport
import SkeinText
import Synchronization
import Testing

@testable import SkeinInference

/// Answers of a given form whose client is gone while it is found out what may come next.
@Suite struct AbandonedGrammarTests {
    /// Wants an answer until it was asked so many times.
    private final class Client: Sendable {
        private let left: Atomic<Int>

        init(patience: Int) { left = Atomic(patience) }

        func leave() { left.store(0, ordering: .relaxed) }

        func isThere() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
    }

    @Test("the answer ends wherever it is, and the others go on")
    func others() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let tokenizer = try Tokenizer(model: model.raw)
            let plan = BatchPlan(model: model.configuration, sequences: 8, context: 128)
            let ends = Condition([RequestID: AnswerEvent.Content]())
            let engine = try AnswerEngine(
                AnswerEngine.Setup(
                    model: model, plan: plan, threads: 1, tokenizer: tokenizer, prefixes: nil,
                    guesses: false)
            ) { events in
                ends.change { ends in
                    for event in events {
                        if case .piece = event.content { continue }
                        ends[event.request] = event.content
                    }
                }
            }
            defer { engine.stop() }
            let projections = GenerationProjections(engine.weights, adapter: nil)
            let grammar = try CompiledGrammar(
                schema: Array(#"{"type":"string","minLength":8}"#.utf8),
                TokenVocabulary(tokens: tokenizer.writtenTokens))
            func job(_ number: Int, _ client: Client) throws -> AnswerJob {
                AnswerJob(
                    request: RequestID(number: UInt64(number)), choice: 0, prompt: [1, 2],
                    maximumTokens: 30, adapter: projections, sampler: Sampler(), bias: [:],
                    stops: [], ignoresEnd: false,
                    guide: .value(
                        try GrammarMatcher(grammar, limit: 30, isWanted: client.isThere)),
                    logprobs: nil, tellsPrompt: false, recordsEnd: false)
            }
            // The first question is asked when the limit is checked.
            let impatient = 1..<9
            for patience in impatient {
                engine.submit([try job(patience, Client(patience: patience))])
                engine.submit([try job(100 + patience, Client(patience: .max))])
            }
            try Deadline.wait { ends.change { $0.count } == 2 * impatient.count }
            let found = ends.change { $0 }
            for patience in impatient {
                guard case .failed? = found[RequestID(number: UInt64(patience))] else {
                    Issue.record("patience \(patience)")
                    continue
                }
                guard case .finished? = found[RequestID(number: UInt64(100 + patience))] else {
                    Issue.record("beside patience \(patience)")
                    continue
                }
            }
        }
    }

    @Test("what all answers of a request took is told before the failure of one")
    func cut() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let tokenizer = try Tokenizer(model: model.raw)
            let told = Condition([AnswerEvent]())
            let client = Client(patience: .max)
            let engine = try AnswerEngine(
                AnswerEngine.Setup(
                    model: model,
                    plan: BatchPlan(model: model.configuration, sequences: 2, context: 128),
                    threads: 1, tokenizer: tokenizer, prefixes: nil, guesses: false)
            ) { events in
                told.change { $0 += events }
                // Both are under way.
                if events.contains(where: { $0.choice == 1 }) { client.leave() }
            }
            defer { engine.stop() }
            let grammar = try CompiledGrammar(
                schema: Array(#"{"type":"string","minLength":8}"#.utf8),
                TokenVocabulary(tokens: tokenizer.writtenTokens))
            let guides: [AnswerGuide] = [
                .value(try GrammarMatcher(grammar, limit: 30, isWanted: client.isThere)), .free,
            ]
            engine.submit(
                guides.enumerated().map { choice, guide in
                    AnswerJob(
                        request: RequestID(number: 1), choice: choice, prompt: [1, 2],
                        maximumTokens: 100,
                        adapter: GenerationProjections(engine.weights, adapter: nil),
                        sampler: Sampler(), bias: [:], stops: [], ignoresEnd: true, guide: guide,
                        logprobs: nil, tellsPrompt: false, recordsEnd: false)
                })
            try Deadline.wait { told.change { $0.contains(where: \.isFailure) } }
            let ends = told.change { $0 }.filter { event in
                if case .piece = event.content { false } else { true }
            }
            let cuts = ends.compactMap { event -> CutAnswer? in
                if case .cut(let cut) = event.content { cut } else { nil }
            }
            #expect(ends.count == 3 && ends.last?.isFailure == true)
            #expect(Set(cuts.map(\.choice)) == [0, 1])
            for cut in cuts {
                #expect(cut.promptTokens == 2)
                #expect(cut.choice == 0 || cut.answerTokens > 0)
            }
        }
    }

    private static func guide(
        _ client: Client, _ vocabulary: TestTokenizer
    ) throws -> ToolGuide {
        try ToolGuide(
            .hermes, tools: try TestTools.all, choice: .required, parallel: false,
            grammars: vocabulary.grammars, tokenizer: vocabulary.tokenizer, limit: 500,
            idSeed: "request", isWanted: client.isThere)
    }

    @Test("a call of a tool ends where it is, and no tools are prepared without a client")
    func tools() throws {
        let vocabulary = try TestTokenizer(words: [])
        let client = Client(patience: .max)
        var guide = try Self.guide(client, vocabulary)
        var written = 0
        do {
            while true {
                switch try guide.next() {
                case .forced(let tokens): for token in tokens { _ = try guide.accept(token) }
                case .choice(_, let fitting, _):
                    let token = try #require(fitting.tokens.tokens.last)
                    _ = try guide.accept(token)
                case .free, .end:
                    Issue.record("the call is not finished")
                    return
                }
                written += 1
                // What is forced already needs no question.
                if written == 2 { client.leave() }
            }
        } catch GrammarError.cancelled {
            #expect(written >= 2)
        }
        #expect(throws: (any Error).self) { try Self.guide(Client(patience: 0), vocabulary) }
    }
}
