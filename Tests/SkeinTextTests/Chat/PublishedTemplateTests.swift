import Foundation
import Testing

@testable import SkeinText

/// What Jinja2, set up by transformers, makes of published templates. Others' templates are not
/// part of this repository: Scripts/check-templates fetches them and makes the file.
@Suite(.enabled(if: PublishedTemplates.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct PublishedTemplateTests {
    struct Published {
        let name: String
        let template: ChatTemplate
        let cases: [ChatJSON]
    }

    private static func file() throws -> ChatJSON {
        let data = try Data(contentsOf: URL(fileURLWithPath: try #require(PublishedTemplates.path)))
        return try ChatJSON(parsing: data)
    }

    private static func published() throws -> [Published] {
        try file()["templates"].items.map { entry in
            let name = try #require(entry["name"].string)
            return Published(
                name: name,
                template: try ChatTemplate(
                    source: try #require(entry["template"].string), name: name),
                cases: entry["cases"].items)
        }
    }

    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private func render(
        _ template: ChatTemplate, _ given: ChatJSON, messages: Int? = nil, prompt: Bool
    ) throws -> RenderedChat {
        let all = given["messages"].items.map { ChatMessage(fields: $0.fields) }
        let extra = ["pad_token": "<pad>", "unk_token": "<unk>"].map {
            ChatMessage.Field(name: $0.key, value: .text($0.value))
        }
        return try template.render(
            Array(all.prefix(messages ?? all.count)), addGenerationPrompt: prompt,
            tokens: Self.tokens, tools: given["tools"] == .null ? nil : given["tools"],
            arguments: extra + given["arguments"].fields)
    }

    @Test("a published template writes what it writes in transformers, or refuses with it")
    func texts() throws {
        var names: [String] = []
        for published in try Self.published() {
            for given in published.cases {
                let place: Comment = "\(published.name): \(given["kind"]), \(given["prompt"])"
                do {
                    let chat = try render(
                        published.template, given, prompt: given["prompt"] == .bool(true))
                    #expect(chat.text == given["text"].string, place)
                    let generated = given["generated"].items.map(\.items)
                    let joined = chat.generated.map { [$0.lowerBound, $0.upperBound] }
                    #expect(joined == Self.joined(generated), place)
                } catch {
                    #expect(given["text"] == .null, "\(place): \(error)")
                }
            }
            names.append(published.name)
        }
        // The script may be given a few templates of one's own.
        if names.count > 50 {
            let missing = Self.names.filter { !names.contains("\($0).jinja") }
            #expect(missing.isEmpty)
        }
        #expect(!names.isEmpty)
    }

    @Test("a built-in template writes what the template of its family writes")
    func builtIn() throws {
        for published in try Self.published() {
            let name = String(published.name.dropLast(".jinja".count))
            guard let source = BuiltInTemplate.source(of: name) else { continue }
            let template = try ChatTemplate(source: source, name: name)
            for given in published.cases {
                let place: Comment = "\(name): \(given["kind"]), \(given["prompt"])"
                let chat = try? render(template, given, prompt: given["prompt"] == .bool(true))
                #expect(chat?.text == given["text"].string, place)
            }
        }
    }

    /// Adjacent stretches as one, empty ones left out.
    private static func joined(_ stretches: [[ChatJSON]]) -> [[Int]] {
        var result: [[Int]] = []
        for stretch in stretches {
            guard case .integer(let start) = stretch[0], case .integer(let end) = stretch[1],
                start < end
            else { continue }
            if result.last?[1] == start {
                result[result.count - 1][1] = end
            } else {
                result.append([start, end])
            }
        }
        return result
    }

    @Test("every assistant's turn is trained as what the model would have said")
    func turns() throws {
        let ends = try Self.file()["ends"].items.compactMap { $0.string.map { Array($0.utf8) } }
        var turns = 0
        for published in try Self.published() {
            for given in published.cases where given["trained"] != .null {
                let messages = given["messages"].items
                let assistants = messages.indices.filter {
                    messages[$0]["role"] == .text("assistant")
                }
                guard
                    let sequences = try? ChatSequence.sequences(
                        assistants: assistants, trained: Set(assistants), count: messages.count,
                        ends: ends,
                        render: {
                            try render(published.template, given, messages: $0, prompt: $1)
                        })
                else { continue }
                for expected in given["trained"].items {
                    let place: Comment = "\(published.name): \(given["kind"]), \(expected)"
                    let found = sequences.flatMap { sequence in
                        sequence.turns.filter {
                            $0.isTrained && .integer($0.message) == expected["message"]
                        }.map { (sequence, $0) }
                    }
                    guard found.count == 1, let (sequence, turn) = found.first else {
                        Issue.record("\(place): trained \(found.count) times")
                        continue
                    }
                    turns += 1
                    let before = String(
                        decoding: sequence.text[..<turn.said.lowerBound], as: UTF8.self)
                    let said = String(decoding: sequence.text[turn.said], as: UTF8.self)
                    let end = expected["end"].string ?? ""
                    if turn.isComplete {
                        // The template's author decided where the turn begins and ends.
                        let whole =
                            (expected["prompt"].string ?? "") + (expected["said"].string ?? "")
                        #expect((before + said).hasPrefix(whole), place)
                    } else {
                        #expect(before == expected["prompt"].string, place)
                        #expect(said == expected["said"].string, place)
                        let after = sequence.text[turn.said.upperBound...]
                        #expect(after.starts(with: end.utf8), place)
                    }
                }
            }
        }
        #expect(turns > 0)
    }
}

private enum PublishedTemplates {
    static let path = ProcessInfo.processInfo.environment["SKEIN_TEST_TEMPLATES"]
}

extension ChatJSON {
    fileprivate subscript(_ name: String) -> ChatJSON {
        fields.first { $0.name == name }?.value ?? .null
    }

    fileprivate var fields: [ChatMessage.Field] {
        if case .object(let fields) = self { return fields }
        return []
    }

    fileprivate var items: [ChatJSON] {
        if case .list(let items) = self { return items }
        return []
    }
}
