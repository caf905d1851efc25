import Foundation
import SkeinJSON
import Testing

@testable import SkeinText

/// What Jinja2, set up by transformers, makes of published templates. Others' templates are not
/// part of this repository: Scripts/check-templates fetches them and makes the file.
@Suite(.enabled(if: PublishedTemplates.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct PublishedTemplateTests {
    struct Published {
        let name: String
        let template: ChatTemplate
        let cases: [JSONValue]
    }

    private static func file() throws -> JSONValue {
        let data = try Data(contentsOf: URL(fileURLWithPath: try #require(PublishedTemplates.path)))
        return try JSONValue(parsing: data)
    }

    private static func published() throws -> [Published] {
        try file()[key: "templates"].items.map { entry in
            let name = try #require(entry[key: "name"].string)
            return Published(
                name: name,
                template: try ChatTemplate(
                    source: try #require(entry[key: "template"].string), name: name),
                cases: entry[key: "cases"].items)
        }
    }

    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private func render(
        _ template: ChatTemplate, _ given: JSONValue, messages: Int? = nil, prompt: Bool
    ) throws -> RenderedChat {
        let all = given[key: "messages"].items.map { ChatMessage(fields: $0.fields ?? []) }
        let extra = ["pad_token": "<pad>", "unk_token": "<unk>"].map {
            JSONField(name: $0.key, value: .text($0.value))
        }
        return try template.render(
            Array(all.prefix(messages ?? all.count)), addGenerationPrompt: prompt,
            tokens: Self.tokens, tools: given[key: "tools"] == .null ? nil : given[key: "tools"],
            arguments: extra + (given[key: "arguments"].fields ?? []))
    }

    @Test("a published template writes what it writes in transformers, or refuses with it")
    func texts() throws {
        var names: [String] = []
        for published in try Self.published() {
            for given in published.cases {
                let place: Comment =
                    "\(published.name): \(given[key: "kind"]), \(given[key: "prompt"])"
                do {
                    let chat = try render(
                        published.template, given, prompt: given[key: "prompt"] == .bool(true))
                    #expect(chat.text == given[key: "text"].string, place)
                    let generated = given[key: "generated"].items.map(\.items)
                    let joined = chat.generated.map { [$0.lowerBound, $0.upperBound] }
                    #expect(joined == Self.joined(generated), place)
                } catch {
                    #expect(given[key: "text"] == .null, "\(place): \(error)")
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
                let place: Comment = "\(name): \(given[key: "kind"]), \(given[key: "prompt"])"
                let chat = try? render(template, given, prompt: given[key: "prompt"] == .bool(true))
                #expect(chat?.text == given[key: "text"].string, place)
            }
        }
    }

    /// Adjacent stretches as one, empty ones left out.
    private static func joined(_ stretches: [[JSONValue]]) -> [[Int]] {
        var result: [[Int]] = []
        for stretch in stretches {
            guard let start = stretch[0].integer, let end = stretch[1].integer, start < end
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
        let ends = try Self.file()[key: "ends"].items.compactMap {
            $0.string.map { Array($0.utf8) }
        }
        var turns = 0
        for published in try Self.published() {
            for given in published.cases where given[key: "trained"] != .null {
                let messages = given[key: "messages"].items
                let assistants = messages.indices.filter {
                    messages[$0][key: "role"] == .text("assistant")
                }
                guard
                    let sequences = try? ChatSequence.sequences(
                        assistants: assistants, trained: Set(assistants), count: messages.count,
                        ends: ends,
                        render: {
                            try render(published.template, given, messages: $0, prompt: $1)
                        })
                else { continue }
                for expected in given[key: "trained"].items {
                    let place: Comment = "\(published.name): \(given[key: "kind"]), \(expected)"
                    let found = sequences.flatMap { sequence in
                        sequence.turns.filter {
                            $0.isTrained && .integer($0.message) == expected[key: "message"]
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
                    let end = expected[key: "end"].string ?? ""
                    if turn.isComplete {
                        // The template's author decided where the turn begins and ends.
                        let whole =
                            (expected[key: "prompt"].string ?? "")
                            + (expected[key: "said"].string ?? "")
                        #expect((before + said).hasPrefix(whole), place)
                    } else {
                        #expect(before == expected[key: "prompt"].string, place)
                        #expect(said == expected[key: "said"].string, place)
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

extension JSONValue {
    fileprivate subscript(key name: String) -> JSONValue { self[name] ?? .null }

    fileprivate var items: [JSONValue] { list ?? [] }
}
