import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinText

/// What Jinja2 made of the templates in Tests/Fixtures/templates (make_goldens.py).
@Suite struct ChatTemplateGoldenTests {
    @Test(
        "renders what Jinja2 renders, and fails where Jinja2 fails",
        arguments: ["families.json", "constructs.json"])
    func goldens(file: String) throws {
        let entries = try Golden.read(file)
        #expect(entries.count >= 8)
        for entry in entries {
            let template = try ChatTemplate(source: entry.template, name: "golden")
            for (number, golden) in entry.cases.enumerated() {
                let outcome = Result {
                    try template.render(
                        golden.chat, addGenerationPrompt: golden.prompt,
                        tokens: TemplateTokens(begin: "<s>", end: "</s>"))
                }
                expect(outcome, golden, "\(entry.name), case \(number)")
            }
        }
    }

    private func expect(
        _ outcome: Result<RenderedChat, any Error>, _ golden: Golden.Case, _ place: String
    ) {
        switch outcome {
        case .success(let rendered):
            #expect(Array(rendered.text.utf8) == Array((golden.text ?? "").utf8), "\(place)")
            #expect(golden.error == nil, "\(place)")
            #expect(rendered.pieces.map(\.text).joined() == rendered.text, "\(place)")
            guard let pieces = golden.pieces else { return }
            let expected = pieces.map {
                RenderedChat.Piece(text: $0.text, messageIndex: $0.messageIndex)
            }
            #expect(rendered.pieces == expected, "\(place)")
        case .failure(let error):
            #expect(golden.text == nil, "\(place): \(error)")
            switch error {
            case TemplateError.raised(let message, _, "golden"):
                #expect(golden.error == "raised", "\(place)")
                #expect(message == golden.message, "\(place)")
            case TemplateError.undefined(_, _, "golden"):
                #expect(golden.error == "undefined", "\(place)")
            case TemplateError.evaluation(_, _, "golden"):
                #expect(golden.error == "evaluation", "\(place)")
            default: Issue.record("\(place): \(error)")
            }
        }
    }
}

/// The form of the golden files.
private enum Golden {
    struct File: Decodable {
        var entries: [Entry]
    }

    struct Entry: Decodable {
        var name: String
        var template: String
        var cases: [Case]
    }

    struct Case: Decodable {
        var messages: [[String]]
        var prompt: Bool
        var text: String?
        var pieces: [Piece]?
        var error: String?
        var message: String?

        var chat: [ChatMessage] { messages.map { ChatMessage(role: $0[0], content: $0[1]) } }
    }

    struct Piece: Decodable {
        var text: String
        var messageIndex: Int?

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            text = try values.decode(String.self)
            messageIndex = try values.decodeIfPresent(Int.self)
        }
    }

    static func read(_ file: String) throws -> [Entry] {
        let url = URL(fileURLWithPath: TestPaths.fixture("templates/\(file)"))
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: url)).entries
    }
}
