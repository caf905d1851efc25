import SkeinInference
import SkeinJSON
import SkeinText
import Synchronization
import Testing

@testable import SkeinSessions

/// Sessions at the same time, by seeds. `SKEIN_SCHEDULES=1000` runs as many, also with
/// `--sanitize thread`.
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

    /// Holds back the replies to prompts that a test names.
    private final class Gates: Sendable {
        private let gates = Mutex([String: Gate]())

        func gate(for prompt: String) -> Gate {
            gates.withLock { gates in
                if let known = gates[prompt] { return known }
                let gate = Gate()
                gates[prompt] = gate
                return gate
            }
        }
    }

    /// The text of a reply, a function of the conversation.
    private static func text(for messages: [ChatMessage]) -> String {
        let last = messages.last
        let text = last?["content"]?.string ?? ""
        return last?.role == "tool"
            ? "said \(text)" : "\(messages.count) words for \(text) and a few more of them"
    }

    private static func source(_ gates: Gates) -> ScriptedSource {
        ScriptedSource { asked, _ in
            let last = asked.messages.last
            let text = last?["content"]?.string ?? ""
            let words = ScriptedSource.words(Self.text(for: asked.messages))
            if last?.role == "tool" { return words }
            for (word, city) in [("tool", "x"), ("fail", "fail")] where text.hasPrefix(word) {
                return [
                    .call(
                        id: "c\(asked.messages.count)", name: "echo",
                        arguments: #"{"city":"\#(city)"}"#)
                ]
            }
            return text.hasPrefix("a") ? [.gate(gates.gate(for: text))] + words : words
        }
    }

    private static func run(
        _ actions: [Action], in session: LanguageModelSession, _ gates: Gates, seed: UInt64
    ) async throws {
        var random = SystemRandom(seed: seed)
        for (number, action) in actions.enumerated() {
            switch action {
            case .respond: try await session.respond(to: "r\(number)")
            case .stream:
                let stream = session.streamResponse(to: "s\(number)")
                var last = ""
                for try await snapshot in stream {
                    #expect(snapshot.content.utf8.starts(with: last.utf8))
                    last = snapshot.content
                }
                #expect(try await stream.collect().content == last)
            case .cancel:
                let task = Task { try await session.respond(to: "c\(number)") }
                for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
                task.cancel()
                let result = await task.result
                // It may have been too late.
                if case .failure(let error) = result { #expect(error is CancellationError) }
            case .second:
                let prompt = "a\(seed)-\(number)"
                let stream = session.streamResponse(to: prompt)
                await #expect(throws: LanguageModelSession.GenerationError.self) {
                    try await session.respond(to: "b\(number)")
                }
                gates.gate(for: prompt).open()
                _ = try await stream.collect()
            case .tool: try await session.respond(to: "tool\(number)")
            case .failingTool:
                await #expect(throws: LanguageModelSession.ToolCallError.self) {
                    try await session.respond(to: "fail\(number)")
                }
            }
        }
    }

    /// Whether the transcript is that of a run without others: the prompts of all requests that were
    /// neither cancelled nor failed, and to each the reply that its conversation has.
    private static func expected(
        _ actions: [Action], of transcript: Transcript, seed: UInt64
    ) throws -> Bool {
        var prompts: [String] = []
        for (place, entry) in transcript.enumerated() {
            switch entry {
            case .prompt(let prompt): prompts.append(prompt.description)
            case .response(let response):
                let before = try TranscriptConversation(
                    entries: Array(transcript.prefix(place)), tools: SessionTools([Echo()]))
                let said = TranscriptConversation.text(response.segments)
                if said != text(for: before.value.messages) { return false }
            default: break
            }
        }
        let kinds: [String] = actions.enumerated().compactMap { number, action in
            switch action {
            case .respond: "r\(number)"
            case .stream: "s\(number)"
            case .second: "a\(seed)-\(number)"
            case .tool: "tool\(number)"
            case .cancel, .failingTool: nil
            }
        }
        // A task that is cancelled before it begins leaves nothing.
        return prompts.filter { !$0.hasPrefix("c") } == kinds
    }

    static var schedules: Int { TestEnvironment.schedules ?? 60 }

    @Test("Eight sessions do as they would alone")
    func schedules() async throws {
        for seed in 0..<UInt64(Self.schedules) {
            let gates = Gates()
            let model = SystemLanguageModel(script: Self.source(gates))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 as Range<UInt64> {
                    group.addTask {
                        var random = SystemRandom(seed: seed << 8 | number)
                        let actions = (0..<4).map { _ in
                            Action.allCases.randomElement(using: &random) ?? .respond
                        }
                        let session = LanguageModelSession(
                            model: model, tools: [Echo()], instructions: "session \(number)")
                        try await Self.run(
                            actions, in: session, gates, seed: seed << 8 | number)
                        #expect(!session.isResponding, "seed \(seed), session \(number)")
                        #expect(
                            try Self.expected(
                                actions, of: session.transcript, seed: seed << 8 | number),
                            "seed \(seed), session \(number): \(session.transcript)")
                        // Alone, and from the transcript, it says the same.
                        let saved = session.transcript
                        let alone = LanguageModelSession(
                            model: SystemLanguageModel(script: Self.source(gates)), tools: [Echo()],
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
