import SkeinInference
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinSessions

@Suite("Tools that a model knows already")
struct KnownToolTests {
    private let shown = RunTimeTool(name: "shown")
    private let known = RunTimeTool(name: "known", includesSchemaInInstructions: false)

    private func listed(_ transcript: Transcript) -> [String]? {
        guard case .instructions(let entry) = transcript.first else { return nil }
        return entry.toolDefinitions.map(\.name)
    }

    @Test("Neither instructions nor prompts present them, and they can be called")
    func calling() async throws {
        let source = ScriptedSource { _, number in
            number == 0
                ? [.call(id: "c", name: "known", arguments: #"{"town":"Oslo","degrees":1}"#)]
                : [.text("done")]
        }
        let session = LanguageModelSession(
            model: SystemLanguageModel(script: source), tools: [known, shown], instructions: "i")
        #expect(listed(session.transcript) == ["shown"])
        #expect(try await session.respond(to: "q").content == "done")
        #expect(source.asked.map(\.tools) == [["known", "shown"], ["known", "shown"]])
        #expect(source.asked.map(\.shownTools) == [["shown"], ["shown"]])
        guard case .toolOutput(let output) = session.transcript[3] else {
            Issue.record("no output")
            return
        }
        #expect(output.toolName == "known")

        // A session of that transcript reads the same prompt.
        let again = LanguageModelSession(
            model: SystemLanguageModel(script: source), tools: [known, shown],
            transcript: session.transcript)
        #expect(again.transcript == session.transcript)
        try await again.respond(to: "q")
        #expect(source.asked.last?.shownTools == ["shown"])
    }

    @Test("Without others there are no instructions for them")
    func alone() async throws {
        let source = ScriptedSource(saying: "a")
        let model = SystemLanguageModel(script: source)
        let session = LanguageModelSession(model: model, tools: [known])
        #expect(session.transcript.isEmpty)
        let restored = LanguageModelSession(
            model: model, tools: [known], transcript: session.transcript)
        #expect(restored.transcript.isEmpty)
        try await restored.respond(to: "q")
        #expect(source.asked.map(\.tools) == [["known"]])
        #expect(source.asked.map(\.shownTools) == [[]])
        #expect(source.asked.map(\.choice) == [.auto])
    }

    @Test("A transcript that lists them keeps them, and models are shown what it lists")
    func explicit() async throws {
        let definitions = [known, shown].map { Transcript.ToolDefinition(tool: $0) }
        let transcript = Transcript(entries: [
            .instructions(.init(segments: [], toolDefinitions: definitions))
        ])
        let source = ScriptedSource(saying: "a")
        let session = LanguageModelSession(
            model: SystemLanguageModel(script: source), tools: [known, shown],
            transcript: transcript)
        #expect(session.transcript == transcript)
        try await session.respond(to: "q")
        #expect(source.asked.map(\.shownTools) == [["known", "shown"]])
    }

    @Test("They take no tokens of a prompt")
    func tokens() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = try SessionCase(in: directory).model()
            let both = try await model.tokenCount(for: [known, shown] as [any SkeinSessions.Tool])
            let one = try await model.tokenCount(for: [shown] as [any SkeinSessions.Tool])
            #expect(both == one)
            #expect(one > 0)
            #expect(try await model.tokenCount(for: [known] as [any SkeinSessions.Tool]) == 0)
            let source = try await model.source()
            func promptTokens(_ tools: [any SkeinSessions.Tool]) async throws -> Int {
                let session = LanguageModelSession(
                    model: model, tools: tools, instructions: "Be brief.")
                let prompt = Transcript.Prompt(segments: [.text(.init(content: "q"))])
                let conversation = try TranscriptConversation(
                    entries: session.transcript + [.prompt(prompt)], tools: SessionTools(tools))
                return try await source.tokenCount(of: conversation.value, addsReply: true)
            }
            let bare = try await promptTokens([])
            #expect(try await promptTokens([known]) == bare)
            let other = try await promptTokens([shown])
            #expect(try await promptTokens([known, shown]) == other)
            #expect(other > bare)
            model.unload()
        }
    }
}
