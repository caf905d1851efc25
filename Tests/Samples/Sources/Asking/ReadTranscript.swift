import FoundationModels
import SampleRunner

/// Kind 48: what a transcript has, by kind.
enum ReadTranscript {
    static let talk = Transcript(entries: [
        .instructions(
            Transcript.Instructions(
                segments: [.text(.init(content: "You know the tides."))], toolDefinitions: [])),
        .prompt(Transcript.Prompt(segments: [.text(.init(content: "When is low water?"))])),
        .toolCalls(
            Transcript.ToolCalls([
                Transcript.ToolCall(
                    id: "1", toolName: "tides",
                    arguments: GeneratedContent(properties: ["port": "Emden"]))
            ])),
        .toolOutput(
            Transcript.ToolOutput(
                id: "1", toolName: "tides", segments: [.text(.init(content: "at 14:05"))])),
        .response(
            Transcript.Response(
                assetIDs: [], segments: [.text(.init(content: "At five past two."))])),
    ])

    /// A row of a list.
    static func row(_ entry: Transcript.Entry) -> String {
        switch entry {
        case .instructions(let instructions):
            "rules: \(instructions.segments.map(\.description).joined())"
        case .prompt(let prompt):
            "you: \(prompt.segments.map(\.description).joined())"
        case .toolCalls(let calls):
            "calls: \(calls.map { "\($0.toolName) \($0.arguments.jsonString)" }.joined(separator: ", "))"
        case .toolOutput(let output):
            "\(output.toolName): \(output.segments.map(\.description).joined())"
        case .response(let response):
            "model: \(response.segments.map(\.description).joined())"
        @unknown default:
            "something new"
        }
    }

    static func run() async throws {
        let session = LanguageModelSession(transcript: talk)
        for entry in session.transcript { print(row(entry)) }
        try expect(Set(session.transcript.map(\.id)).count == 5, "each entry has an id")

        // What people and model said, and nothing else.
        var said: [String] = []
        for entry in session.transcript {
            switch entry {
            case .prompt(let prompt):
                for segment in prompt.segments {
                    if case .text(let text) = segment { said.append(text.content) }
                }
            case .response(let response):
                for case .text(let text) in response.segments { said.append(text.content) }
            default:
                break
            }
        }
        print(said)
        try expect(said == ["When is low water?", "At five past two."], "two texts were said")
    }
}
