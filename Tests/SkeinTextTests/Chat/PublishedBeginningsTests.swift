import Foundation
import SkeinJSON
import Testing

@testable import SkeinText

/// Published templates give the same whether the beginnings of a conversation are rendered at once or
/// one by one. Scripts/check-templates makes the file.
@Suite(.enabled(if: PublishedBeginnings.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct PublishedBeginningsTests {
    /// A conversation as the template takes it.
    private struct Given {
        var name: String
        var messages: [ChatMessage]
        var tools: JSONValue?
        var arguments: [JSONField] = []
    }

    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private static func templates() throws -> [(template: ChatTemplate, cases: [JSONValue])] {
        let path = try #require(PublishedBeginnings.path)
        let file = try JSONValue(parsing: try Data(contentsOf: URL(fileURLWithPath: path)))
        return try (file["templates"]?.list ?? []).map { entry in
            let name = try #require(entry["name"]?.string)
            let source = try #require(entry["template"]?.string)
            return (try ChatTemplate(source: source, name: name), entry["cases"]?.list ?? [])
        }
    }

    /// The conversations of the file, and long ones.
    private static func conversations(
        _ template: ChatTemplate, _ cases: [JSONValue], _ count: Int
    ) throws -> [Given] {
        var all: [Given] = cases.compactMap { given in
            // Each stands there with a prompt and without.
            guard given["prompt"] == .bool(true) else { return nil }
            return Given(
                name: given["kind"]?.string ?? "",
                messages: (given["messages"]?.list ?? []).map {
                    ChatMessage(fields: $0.fields ?? [])
                },
                tools: given["tools"].flatMap { $0 == .null ? nil : $0 },
                arguments: given["arguments"]?.fields ?? [])
        }
        for kind in LongConversations.Kind.allCases {
            all.append(long(template, kind, count))
        }
        return all
    }

    private static func long(
        _ template: ChatTemplate, _ kind: LongConversations.Kind, _ count: Int
    ) -> Given {
        let preparation = ConversationPreparation(template, tokens: tokens, ends: ["</s>"])
        let tools =
            [.calls, .agent].contains(kind) ? LongConversations.tools : nil
        let messages = LongConversations.messages(kind, count)
        let prepared = try? preparation.prepared(messages, tools: tools, for: .text)
        return Given(
            name: kind.rawValue, messages: prepared?.messages.map(\.message) ?? messages,
            tools: prepared == nil ? tools : prepared?.tools)
    }

    private static func arguments(_ given: Given) -> [JSONField] {
        ["pad_token": "<pad>", "unk_token": "<unk>"].map {
            JSONField(name: $0.key, value: .text($0.value))
        } + given.arguments
    }

    @Test("all beginnings are what each is alone, and conversations are cut the same")
    func equal() throws {
        var (compared, alone): (Int, Set<String>) = (0, [])
        for (template, cases) in try Self.templates() {
            for given in try Self.conversations(template, cases, 13) {
                let place = "\(template.name), \(given.name)"
                let wanted = allBeginnings(given.messages.count)
                guard
                    let shared = template.beginnings(
                        wanted, of: given.messages, tokens: Self.tokens, tools: given.tools,
                        arguments: Self.arguments(given))
                else {
                    alone.insert(place)
                    continue
                }
                for beginning in wanted {
                    let plain = Result {
                        try template.render(
                            Array(given.messages.prefix(beginning.messages)),
                            addGenerationPrompt: beginning.addsPrompt, tokens: Self.tokens,
                            tools: given.tools, arguments: Self.arguments(given))
                    }
                    let together = Result {
                        try #require(
                            try shared.rendering(
                                beginning.messages, addsPrompt: beginning.addsPrompt)
                        ).chat
                    }
                    compared += 1
                    #expect(described(together) == described(plain), "\(place), \(beginning)")
                }
                try expectSameSequences(
                    template, given.messages, given.tools, place,
                    arguments: Self.arguments(given),
                    ends: ["</s>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>"])
            }
        }
        #expect(compared > 0)
        print("beginnings: \(compared) compared; rendered one by one: \(alone.sorted())")
    }

    @Test("most templates take twice the steps for twice the messages")
    func linear() throws {
        var (linear, all) = (0, 0)
        var others: [String: [String]] = [:]
        for (template, _) in try Self.templates() {
            for kind in [LongConversations.Kind.plain, .thinking, .calls, .agent] {
                let work = [64, 128].map { count -> Int? in
                    let given = Self.long(template, kind, count)
                    let messages = given.messages
                    return template.beginnings(
                        ChatSequence.beginnings(
                            assistants: messages.indices.filter {
                                messages[$0].role == "assistant"
                            }, empty: [], count: messages.count),
                        of: messages, tokens: Self.tokens, tools: given.tools,
                        arguments: Self.arguments(given))?.work
                }
                all += 1
                if let some = work[0], let more = work[1], more * 10 < some * 25 {
                    linear += 1
                } else {
                    let ratio = work.compactMap(\.self).map { "\($0)" }.joined(separator: "->")
                    others[template.name, default: []].append("\(kind) \(ratio)")
                }
            }
        }
        print("linear: \(linear) of \(all); the others: \(others.count) templates")
        for (name, kinds) in others.sorted(by: { $0.key < $1.key }) { print("  \(name): \(kinds)") }
        #expect(linear * 10 > all * 8)
    }
}

private enum PublishedBeginnings {
    static let path = ProcessInfo.processInfo.environment["SKEIN_TEST_TEMPLATES"]
}
