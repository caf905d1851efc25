import Foundation
import SkeinSessions
import Testing

@Suite("Transcripts")
struct TranscriptTests {
    private static func prompt(_ id: String) -> Transcript.Entry {
        .prompt(Transcript.Prompt(id: id, segments: SampleTranscript.text("Hi", id + "s")))
    }

    private static func calls(_ id: String, _ calls: [(String, String)]) -> Transcript.Entry {
        let list = calls.map {
            Transcript.ToolCall(
                id: $0.0, toolName: $0.1, arguments: GeneratedContent(properties: [:]))
        }
        return .toolCalls(Transcript.ToolCalls(id: id, list))
    }

    private static func output(_ id: String, _ name: String) -> Transcript.Entry {
        .toolOutput(Transcript.ToolOutput(id: id, toolName: name, segments: []))
    }

    private static func instructions(_ id: String) -> Transcript.Entry {
        .instructions(Transcript.Instructions(id: id, segments: [], toolDefinitions: []))
    }

    @Test("A transcript is a collection of its entries, which have identities of their own")
    func collection() throws {
        let transcript = try SampleTranscript.full()
        #expect(transcript.count == 6)
        #expect(transcript.map(\.id) == ["i", "p", "t", "c1", "c2", "r"])
        #expect(transcript[2...3].count == 2)
        #expect(Transcript().isEmpty)
        guard case .toolCalls(let calls) = transcript[2] else {
            Issue.record("no calls")
            return
        }
        #expect(calls.map(\.id) == ["c1", "c2"])
        let first = Transcript.TextSegment(content: "x")
        #expect(first.id != Transcript.TextSegment(content: "x").id)
    }

    @Test("Entries can be added and cut off again")
    func growing() throws {
        var transcript = try SampleTranscript.full()
        let before = transcript
        transcript.append(Self.prompt("x"))
        transcript.append(contentsOf: [Self.prompt("y"), Self.prompt("z")])
        #expect(transcript.count == 9)
        transcript.cut(to: 6)
        #expect(transcript == before)
        transcript.cut(to: 100)
        #expect(transcript == before)
    }

    @Test("A session presents its own tools, whatever a transcript had")
    func otherTools() throws {
        let transcript = try SampleTranscript.full()
        let other = RunTimeTool(name: "other")
        let presenting = transcript.presenting([other])
        #expect(Array(presenting[1...]) == Array(transcript[1...]))
        guard case .instructions(let instructions) = presenting.first else {
            Issue.record("no instructions")
            return
        }
        #expect(instructions.id == "i")
        #expect(instructions.toolDefinitions == [Transcript.ToolDefinition(tool: other)])
        let bare = Transcript(entries: [Self.prompt("p")])
        #expect(bare.presenting([]) == bare)
        let added = bare.presenting([other])
        #expect(added.count == 2)
        try added.check()
    }

    @Test("The text of segments has a line for each")
    func text() throws {
        let content = GeneratedContent(properties: ["a": 1])
        let segments: [Transcript.Segment] = [
            .text(Transcript.TextSegment(content: "x\ny")),
            .structure(Transcript.StructuredSegment(source: "A", content: content)),
        ]
        #expect(segments.text == "x\ny\n" + #"{"a":1}"#)
        #expect(Set(segments.map(\.id)).count == 2)
    }

    @Test("Printed, each entry is one line with its kind in parentheses")
    func printing() throws {
        let lines = try SampleTranscript.full().description.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines == [
                "(Instructions) Be brief. [tools: ForecastTool]",
                #"(Prompt) Weather in Oslo\nand Rome?"#,
                #"(Tool calls) ForecastTool {"town":"Oslo"}; ForecastTool {"town":"Rome"}"#,
                #"(Tool output) ForecastTool: {"town":"Oslo","degrees":-3}"#,
                "(Tool output) ForecastTool: 12 degrees",
                #"(Response) {"town":"Oslo","degrees":-3}"#,
            ])
        let odd = Transcript(entries: [
            .prompt(
                Transcript.Prompt(
                    segments: SampleTranscript.text("a\r\nb\u{2028}c\u{85}d\u{B}e", "s")))
        ])
        #expect(odd.description == #"(Prompt) a\r\nb c d e"#)
    }

    @Test("The older name of the entries still works")
    func older() throws {
        try (OlderEntries() as any OlderTranscript).check()
    }

    @Test("A history that a session can have had passes the check")
    func possible() throws {
        #expect(try SampleTranscript.full().check(byIdentity: true) == [3: "c1", 4: "c2"])
        try Transcript().check()
        try Transcript(entries: [Self.instructions("i")]).check()
        try Transcript(entries: [Self.prompt("1"), Self.prompt("2")]).check()
        // Outputs may come in another order than their calls.
        let crossed = Transcript(entries: [
            Self.calls("t", [("a", "x"), ("b", "y")]), Self.output("b", "y"),
            Self.output("a", "x"),
        ])
        #expect(try crossed.check() == [1: "b", 2: "a"])
    }

    @Test("An output with another identity answers the first open call of its tool")
    func otherIdentities() throws {
        let transcript = Transcript(entries: [
            Self.calls("t", [("a", "x"), ("b", "y"), ("c", "x")]), Self.output("1", "x"),
            Self.output("2", "y"), Self.output("3", "x"),
        ])
        #expect(try transcript.check() == [1: "a", 2: "b", 3: "c"])
        #expect(throws: TranscriptError.outputWithoutCall(toolName: "x", entry: 1)) {
            try transcript.check(byIdentity: true)
        }
        // Written, the outputs name their calls, so that they can be read.
        let again = try Transcript(jsonData: transcript.jsonData())
        #expect(again.map(\.id) == transcript.map(\.id))
        #expect(try again.check(byIdentity: true) == [1: "a", 2: "b", 3: "c"])
    }

    static let impossible: [([Transcript.Entry], TranscriptError)] = [
        ([prompt("1"), prompt("1")], .duplicateID(id: "1", entry: 1)),
        ([prompt("1"), instructions("2")], .instructionsNotFirst(entry: 1)),
        ([instructions("1"), instructions("2")], .instructionsNotFirst(entry: 1)),
        ([output("1", "x")], .outputWithoutCall(toolName: "x", entry: 0)),
        (
            [calls("t", [("a", "x")]), output("a", "y")],
            .outputWithoutCall(toolName: "y", entry: 1)
        ),
        (
            [calls("t", [("a", "x")]), output("a", "x"), output("b", "x")],
            .outputWithoutCall(toolName: "x", entry: 2)
        ),
        ([calls("t", [("a", "x")])], .openToolCall(toolName: "x", entry: 0)),
        (
            [prompt("1"), calls("t", [("a", "x"), ("b", "y")]), output("a", "x"), prompt("2")],
            .openToolCall(toolName: "y", entry: 1)
        ),
        (
            [calls("t", [("a", "x"), ("a", "y")])],
            .duplicateID(id: "a", entry: 0)
        ),
        (
            [
                calls("t", [("a", "x")]), output("a", "x"), calls("u", [("a", "x")]),
                output("b", "x"),
            ],
            .duplicateID(id: "a", entry: 2)
        ),
    ]

    @Test("A history that no session can have had is a typed error")
    func impossibility() {
        for (entries, error) in Self.impossible {
            #expect(throws: error) { try Transcript(entries: entries).check() }
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion?.isEmpty == false)
        }
    }
}

private protocol OlderTranscript { func check() throws }

private struct OlderEntries {}

extension OlderEntries: OlderTranscript {
    @available(*, deprecated)
    func check() throws {
        let transcript = try SampleTranscript.full()
        #expect(transcript.entries == Array(transcript))
    }
}
