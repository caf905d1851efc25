import Foundation
import SkeinInference
import SkeinModels
import SkeinText
import Testing

@testable import SkeinSessions

/// What a session costs beside the engine it asks. A measurement for an idle machine: Scripts/bench-sessions runs it.
@Suite(
    "Costs of sessions", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["SKEIN_BENCH_SESSIONS"] != nil))
struct SessionCosts {
    @Generable struct Life {
        var name: String
        @Guide(.range(1...99)) var age: Int
        @Guide(.count(6)) var friends: [Friend]
        @Guide(.pattern(/[a-z ]{200}/)) var story: String
    }

    @Generable struct Friend {
        var name: String
        @Guide(.range(1...99)) var age: Int
    }

    private let model: SystemLanguageModel

    init() throws {
        let path = try #require(ProcessInfo.processInfo.environment["SKEIN_BENCH_SESSIONS"])
        model = SystemLanguageModel(model: URL(filePath: path))
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .milliseconds(1)
    }

    /// A request of one token three times: to the engine with its tokens at hand; rendered and cut into
    /// tokens, too, as a server does; in a session of its own. Each is the first of the three in turn.
    @Test func ofARequest() async throws {
        let source = try #require(try await model.source() as? LoadedModel)
        let question = "What is the capital of France, and who lives there?"
        let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 1)
        let sampler = options.sampler(source.sampling, hasAdapter: false)
        let conversation = Conversation(messages: [ChatMessage(role: "user", content: question)])
        let ids = try source.conversations.ids(of: conversation)

        func engine() async throws {
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: ReplyUpdate.self)
            let sink = try source.sinks.add(continuation)
            source.host.engine.submit([
                AnswerJob(
                    request: sink.id, choice: 0, prompt: ids, maximumTokens: 1,
                    adapter: source.host.adapters.plain, sampler: sampler,
                    bias: [:], stops: [], ignoresEnd: false, guide: .free, logprobs: nil,
                    tellsPrompt: false, recordsEnd: false)
            ])
            for try await _ in stream {}
        }
        func reply() async throws {
            let request = ReplyRequest(
                conversation: conversation, form: .text, sampler: sampler,
                maximumTokens: 1, adapter: nil)
            for try await _ in source.reply(to: request) {}
        }
        func session() async throws {
            _ = try await LanguageModelSession(model: model).respond(to: question, options: options)
        }

        var times: [[Double]] = [[], [], []]
        for round in 0..<306 {
            var now = [0.0, 0, 0]
            for turn in 0..<3 {
                let which = (round + turn) % 3
                let start = ContinuousClock.now
                switch which {
                case 0: try await engine()
                case 1: try await reply()
                default: try await session()
                }
                now[which] = Self.milliseconds(since: start)
            }
            // The first rounds fill caches.
            guard round >= 6 else { continue }
            for which in 0..<3 { times[which].append(now[which]) }
        }
        func difference(_ one: Int, _ other: Int) -> Double {
            Self.median(zip(times[one], times[other]).map { $0 - $1 })
        }
        print("a request of one token, medians of 300, milliseconds:")
        print("  the engine alone         \(Self.median(times[0]))")
        print("  rendered and cut, too    \(Self.median(times[1])), longer by \(difference(1, 0))")
        print("  in a session             \(Self.median(times[2])), longer by \(difference(2, 1))")
        #expect(times.allSatisfy { $0.count == 300 })
    }

    /// Time for a token of a value and of a text of as many tokens, after the same short prompt.
    @Test func ofAValue() async throws {
        func perToken(_ usage: LanguageModelSession.Usage) throws -> Double {
            let first = try #require(usage.metadata.timeToFirstToken)
            return (usage.metadata.duration - first) / .milliseconds(1)
                / Double(usage.output.totalTokenCount - 1)
        }
        var ratios: [Double] = []
        var values: [Double] = []
        var seed: UInt64 = 0
        while ratios.count < 24, seed < 200 {
            seed += 1
            let value = try await LanguageModelSession(model: model).respond(
                to: "Write about people.", generating: Life.self, includeSchemaInPrompt: false,
                options: GenerationOptions(
                    samplingMode: .random(top: 40, seed: seed), temperature: 1))
            let tokens = value.usage.output.totalTokenCount
            let text = try await LanguageModelSession(model: model).respond(
                to: "Write about people.",
                options: GenerationOptions(
                    samplingMode: .random(top: 40, seed: seed), temperature: 1,
                    maximumResponseTokens: tokens))
            // A text that ends earlier has other contexts; the first pairs fill caches.
            guard seed > 2, text.usage.output.totalTokenCount > tokens * 3 / 4 else { continue }
            values.append(try perToken(value.usage))
            ratios.append(try values[values.count - 1] / perToken(text.usage))
        }
        print(
            "a token of a value: \(Self.median(values)) ms, \(Self.median(ratios)) times that of a text"
        )
        print("  (medians of \(ratios.count) pairs)")
        #expect(ratios.count >= 8)
    }
}
