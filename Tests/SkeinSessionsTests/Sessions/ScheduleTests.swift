import SkeinAnswers
import SkeinText
import Synchronization
import Testing

@testable import SkeinSessions

/// Sessions at the same time, by seeds. `Scripts/check-sessions` runs many more of them under the thread
/// sanitizer.
@Suite("Sessions at the same time")
struct ScheduleTests {
    private struct Broken: Error {}

    /// What one session does, one thing after the other.
    private enum Action: CaseIterable {
        case respond, stream, cancel, second, tool, failingTool
    }

    private struct Echo: SkeinSessions.Tool {
        let name = "echo"
        let description = "Says it again"
        var fails = false

        func call(arguments: ToolTurnTests.CityArguments) async throws -> String {
            for _ in 0..<3 { await Task.yield() }
            if arguments.city == "fail" { throw Broken() }
            return arguments.city
        }
    }

    /// A reply is a function of the conversation.
    private static let source: @Sendable () -> ScriptedSource = {
        ScriptedSource { asked, _ in
            let last = asked.messages.last
            let text = last?["content"]?.string ?? ""
            if last?.role == "tool" { return ScriptedSource.words("said \(text)") }
            if text.hasPrefix("tool") {
                return [.call(id: "c\(asked.messages.count)", name: "echo", arguments: #"{"city":"x"}"#)]
            }
            if text.hasPrefix("fail") {
                return [
                    .call(id: "c\(asked.messages.count)", name: "echo", arguments: #"{"city":"fail"}"#)
                ]
            }
            return ScriptedSource.words("\(asked.messages.count) words for \(text) and a few more of them")
        }
    }

    private static func run(
        _ actions: [Action], in session: LanguageModelSession, seed: UInt64
    ) async throws {
        var random = SystemRandom(seed: seed)
        for (number, action) in actions.enumerated() {
            switch action {
            case .respond: try await session.respond(to: "r\(number)")
            case .stream:
                let stream = session.streamResponse(to: "s\(number)")
                var last = ""
                for try await snapshot in stream {
                    #expect(snapshot.content.hasPrefix(last))
                    last = snapshot.content
                }
                #expect(try await stream.collect().content == last)
            case .cancel:
                let task = Task { try await session.respond(to: "c\(number)") }
                for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
                task.cancel()
                let result = await task.result
                // It may have been too late: then what it said is taken back by hand.
                if case .failure(let error) = result { #expect(error is CancellationError) }
            case .second:
                let stream = session.streamResponse(to: "a\(number)")
                await #expect(throws: LanguageModelSession.GenerationError.self) {
                    try await session.respond(to: "b\(number)")
                }
                _ = try await stream.collect()
            case .tool: try await session.respond(to: "tool\(number)")
            case .failingTool:
                await #expect(throws: LanguageModelSession.ToolCallError.self) {
                    try await session.respond(to: "fail\(number)")
                }
            }
        }
    }

    /// What a sequential run would have said.
    private static func expected(_ actions: [Action], of transcript: Transcript) -> Bool {
        // Requests that were cancelled have a prompt, and perhaps a reply; all others are known.
        var prompts: [String] = []
        for entry in transcript {
            if case .prompt(let prompt) = entry { prompts.append(prompt.description) }
        }
        let kinds: [String] = actions.enumerated().compactMap { number, action in
            switch action {
            case .respond: "r\(number)"
            case .stream: "s\(number)"
            case .cancel: "c\(number)"
            case .second: "a\(number)"
            case .tool: "tool\(number)"
            case .failingTool: nil
            }
        }
        // A task that is cancelled before it begins leaves nothing.
        return prompts.filter { !$0.hasPrefix("c") } == kinds.filter { !$0.hasPrefix("c") }
    }

    static var schedules: Int { TestEnvironment.schedules ?? 60 }

    @Test("Eight sessions do as they would alone")
    func schedules() async throws {
        for seed in 0..<UInt64(Self.schedules) {
            let model = SystemLanguageModel(script: Self.source())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 as Range<UInt64> {
                    group.addTask {
                        var random = SystemRandom(seed: seed << 8 | number)
                        let actions = (0..<4).map { _ in
                            Action.allCases.randomElement(using: &random) ?? .respond
                        }
                        let session = LanguageModelSession(
                            model: model, tools: [Echo()], instructions: "session \(number)")
                        try await Self.run(actions, in: session, seed: seed << 8 | number)
                        #expect(!session.isResponding, "seed \(seed), session \(number)")
                        #expect(
                            Self.expected(actions, of: session.transcript),
                            "seed \(seed), session \(number): \(session.transcript)")
                        // Alone, and from the transcript, it says the same.
                        let saved = session.transcript
                        let alone = LanguageModelSession(
                            model: SystemLanguageModel(script: Self.source()), tools: [Echo()],
                            transcript: saved)
                        let one = try await session.respond(to: "last").content
                        #expect(try await alone.respond(to: "last").content == one)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
