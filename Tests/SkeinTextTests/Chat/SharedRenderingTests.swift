import SkeinJSON
import Testing

@testable import SkeinText

/// Beginnings of a conversation that are rendered at once are what each is alone.
@Suite struct SharedRenderingTests {
    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private static let system = "{% if messages[0].role == 'system' %}"

    /// Each looks at the messages, or at the loop over them, in ways of its own.
    static let templates: [(name: String, source: String)] =
        BuiltInTemplate.names.map { ($0, BuiltInTemplate.source(of: $0) ?? "") } + [
            ("last", "{% for m in messages %}{{ m.content }}{{ '.' if loop.last }}{% endfor %}"),
            (
                "next",
                "{% for m in messages %}{{ m.content }}{{ (loop.nextitem or {}).role }}{% endfor %}"
            ),
            (
                "previous",
                "{% for m in messages %}{{ (loop.previtem or {}).role }}{{ m.content }}{% endfor %}"
            ),
            (
                "ahead",
                "{% for m in messages %}{{ m.content }}"
                    + "{{ (messages[loop.index0 + 1] or {}).role }}{% endfor %}"
            ),
            (
                "rest",
                "\(system){% set all = messages[1:] %}{% else %}{% set all = messages %}{% endif %}"
                    + "{% for m in all %}{{ loop.index }}{{ m.content }}{% endfor %}"
            ),
            (
                "length",
                "{{ messages|length }}{% for m in messages %}{{ m.content }}"
                    + "{% if loop.index == messages|length - 1 %}!{% endif %}{% endfor %}"
            ),
            (
                "counted backwards",
                "{% for m in messages %}{{ loop.revindex }},{{ loop.length }}{{ m.role }}{% endfor %}"
            ),
            (
                "end",
                "{% for m in messages %}{{ m.content }}{% endfor %}{{ messages[-1].role }}"
                    + "{{ (messages|last).role }}{{ (messages|first).role }}{{ messages[-2].role }}"
            ),
            (
                "filtered",
                "{% for m in messages if m.role == 'user' %}{{ loop.index }}{{ m.content }}"
                    + "{{ loop.last }}{% else %}none{% endfor %}"
            ),
            (
                "selected",
                "{% set users = messages|selectattr('role', 'equalto', 'user')|list %}"
                    + "{% for m in messages %}{{ m.content }}{{ m == users[-1] }}{% endfor %}"
            ),
            (
                "before",
                "{% set ns = namespace(n=0, last='') %}{% for m in messages %}"
                    + "{% if m.role == 'user' %}{% set ns.n = loop.index0 %}{% endif %}{% endfor %}"
                    + "{% for m in messages %}{{ '<' if loop.index0 > ns.n }}{{ m.content }}"
                    + "{% endfor %}{{ ns.n }}"
            ),
            (
                "backwards",
                "{% set ns = namespace(open=true, n=messages|length - 1) %}"
                    + "{% for m in messages[::-1] %}"
                    + "{% set index = (messages|length - 1) - loop.index0 %}"
                    + "{% if ns.open and m.role == 'user' %}{% set ns.open = false %}"
                    + "{% set ns.n = index %}{% endif %}{% endfor %}"
                    + "{% for m in messages %}{{ '<' if loop.index0 > ns.n }}{{ m.content }}"
                    + "{{ '.' if loop.last }}{% endfor %}{% if add_generation_prompt %}>{% endif %}"
            ),
            (
                "backwards, written",
                "{% for m in messages[::-1] %}{{ loop.index }}{{ loop.first }}{{ loop.last }}"
                    + "{{ loop.length }}{{ loop.revindex }}{{ (loop.previtem or {}).role }}"
                    + "{{ (loop.nextitem or {}).role }}{{ m.content }}{% else %}none{% endfor %}"
            ),
            (
                "backwards, left",
                "{% set ns = namespace(n=none) %}{% for m in messages[::-1] %}"
                    + "{% if m.role == 'user' %}{% set ns.n = m.content %}{% break %}{% endif %}"
                    + "{% if m.role == 'system' %}{% continue %}{% endif %}{% else %}none"
                    + "{% endfor %}{% for m in messages %}{{ ns.n }}{{ m.content }}{% endfor %}"
            ),
            (
                "backwards, cycled",
                "{% for m in messages[::-1] %}{{ loop.cycle('a', 'b') }}{{ loop.changed(m.role) }}"
                    + "{% endfor %}"
            ),
            (
                "within",
                "{% for m in messages %}{{ m.content }}{% for o in messages[loop.index:] %}"
                    + "{{ o.role[0] }}{% endfor %}{% endfor %}"
            ),
            (
                "forward scan",
                "{% for m in messages %}{{ m.content }}{% set ns = namespace(go=true) %}"
                    + "{% for k in range(loop.index0 + 1, messages|length) %}{% if ns.go %}"
                    + "{{ k }}{{ messages[k].role[0] }}{% if messages[k].role == 'user' %}"
                    + "{% set ns.go = false %}{% endif %}{% endif %}{% endfor %}{% endfor %}"
            ),
            (
                "by number",
                "{% for i in range(messages|length) %}{{ i }}{{ messages[i].content }}{% endfor %}"
                    + "{% for i in range(messages|length, 0, -1) %}{{ i }}{% endfor %}"
                    + "{{ messages|length * 2 }}{{ 10 - messages|length }}{{ -(messages|length) }}"
                    + "{{ 1 < messages|length < 4 }}{{ messages|length in [2, 3] }}"
            ),
            (
                "whole",
                "{{ messages }}{{ messages|tojson }}{{ messages == messages[:] }}"
                    + "{{ messages[1:3]|length }}{{ messages[:-1]|map(attribute='role')|join }}"
                    + "{{ [messages]|length }}{{ {'a': messages}.a|length }}{{ messages is string }}"
                    + "{{ messages|default('') == messages }}{{ (messages, 1)|length }}"
            ),
            (
                "macro",
                "{% macro role(all, i) %}{{ all[i].role }}{% for m in all %}{{ m.role[0] }}"
                    + "{% endfor %}{% endmacro %}{% for m in messages %}{{ role(messages, loop.index0) }}"
                    + "{% endfor %}{% macro wrap(all) %}{{ all|length }}{{ caller() }}{% endmacro %}"
                    + "{% call wrap(messages) %}{{ messages|length }}{% endcall %}"
            ),
            (
                "generation",
                "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
                    + "{{ '.' if loop.last }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}"
                    + "{% endfor %}{% if messages and messages[-1].role == 'assistant' %}"
                    + "{% generation %}${% endgeneration %}{% endif %}"
            ),
            (
                "refusing",
                "{% for m in messages %}{% if loop.last and m.role == 'user' and "
                    + "not add_generation_prompt %}{{ raise_exception('no') }}{% endif %}"
                    + "{{ m.content + m.missing if loop.index == 7 else m.content }}{% endfor %}"
            ),
            (
                "all refused",
                "{% if messages|length > 3 %}{{ raise_exception('long') }}{% endif %}{{ messages }}"
            ),
            (
                "two names of a generator",
                "{% set g = 'ab'|map('upper') %}{% set h = g %}{% set ns = namespace(items=g) %}"
                    + "{% for m in messages %}{{ m.content }}{% if loop.last %}{{ g == h }}"
                    + "{% for x in g %}{{ x }}{% endfor %}{% endif %}{% endfor %}"
                    + "{% for x in h %}{{ x }}{% endfor %}{% for x in ns.items %}{{ x }}{% endfor %}"
            ),
            (
                "an alias of no loop",
                "{% set g = 'ab'|map('upper') %}{% set h = g %}{% for x in g %}{{ x }}{% endfor %}"
                    + "{% for x in h %}{{ x }}{% endfor %}{{ messages|length }}"
            ),
            (
                "a namespace in an iterator",
                "{% set ns = namespace(n=messages|length) %}"
                    + "{% if ('a'|map('int', ns)|selectattr('n')|first) is defined %}x{% endif %}"
            ),
            (
                "a loop in an iterator",
                "{% for m in messages %}{% if ('a'|map('int', loop)|selectattr('revindex')|first) "
                    + "is defined %}x{% endif %}{% endfor %}"
            ),
            (
                "changed",
                "{% set g = 'ab'|map('upper') %}{% for m in messages %}{{ loop.changed(g) }}"
                    + "{{ loop.last }}{% endfor %}"
            ),
            (
                "generator",
                "{% set roles = messages|map(attribute='role') %}{% for r in roles %}{{ r }}"
                    + "{% endfor %}{% for r in roles %}{{ r }}{% endfor %}"
                    + "{% set bits = 'ab'|map('upper') %}{% for b in bits %}{{ b }}"
                    + "{{ '!' if add_generation_prompt }}{% endfor %}"
            ),
            (
                "choices",
                "{% if add_generation_prompt %}{% for m in messages %}{{ m.content }}{% endfor %}"
                    + "{% elif messages|length > 2 %}{% for m in messages %}{{ m.role }}{% endfor %}"
                    + "{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}"
            ),
            (
                "kept in loops",
                "{% set ns = namespace(seen=[], all=messages) %}{% for m in ns.all %}"
                    + "{% if m.role in ns.seen %}{{ '+' }}{% endif %}"
                    + "{% set ns.seen = ns.seen + [m.role] %}{{ m.content }}{% endfor %}{{ ns.seen }}"
            ),
        ]

    @Test("beginnings rendered at once are what they are alone, errors too", arguments: templates)
    func equal(name: String, source: String) throws {
        let template = try ChatTemplate(source: source, name: name)
        for kind in LongConversations.Kind.allCases {
            let messages = LongConversations.messages(kind, 11)
            try expectEqual(template, messages, "\(name), \(kind)")
        }
    }

    private func expectEqual(
        _ template: ChatTemplate, _ messages: [ChatMessage], _ place: String
    ) throws {
        let wanted = allBeginnings(messages.count)
        guard let shared = template.beginnings(wanted, of: messages, tokens: Self.tokens) else {
            // They ask for what was passed last, which is another thing in each run.
            #expect(
                ["backwards, cycled", "changed"].contains(template.name), "\(place): not shared")
            return
        }
        for beginning in wanted {
            let alone = Result {
                try template.render(
                    Array(messages.prefix(beginning.messages)),
                    addGenerationPrompt: beginning.addsPrompt, tokens: Self.tokens)
            }
            let together = Result {
                try #require(
                    try shared.rendering(beginning.messages, addsPrompt: beginning.addsPrompt)
                ).chat
            }
            #expect(described(together) == described(alone), "\(place), \(beginning)")
        }
    }

    @Test("beginnings that have little in common are left to be rendered one by one")
    func apart() throws {
        let content = String(repeating: "a", count: 4096)
        let messages = (0..<400).map { _ in ChatMessage(role: "user", content: content) }
        let template = try ChatTemplate(
            source:
                "{% set last = messages[-1] %}{% for m in messages %}{{ m.content }}{% endfor %}",
            name: "apart")
        let shared = template.beginnings(allBeginnings(400), of: messages, tokens: Self.tokens)
        #expect(shared.map(\.work) == nil)
    }

    @Test("a conversation is cut as when each of its beginnings is compared byte by byte")
    func sequences() throws {
        for (name, source) in Self.templates {
            let template = try ChatTemplate(source: source, name: name)
            for kind in LongConversations.Kind.allCases {
                let messages = LongConversations.messages(kind, 9)
                try expectSameSequences(template, messages, nil, "\(name), \(kind)")
            }
        }
    }

    /// The steps of all beginnings of a conversation that training asks for.
    private func work(
        _ name: String, _ kind: LongConversations.Kind, _ count: Int
    ) throws -> Int {
        let source = try #require(Self.templates.first { $0.name == name }?.source)
        let messages = LongConversations.messages(kind, count)
        let assistants = messages.indices.filter { messages[$0].role == "assistant" }
        return try #require(
            try ChatTemplate(source: source, name: name).beginnings(
                ChatSequence.beginnings(
                    assistants: assistants, empty: [], count: messages.count),
                of: messages, tokens: Self.tokens)
        ).work
    }

    @Test(
        "twice the messages take twice the steps where a template goes through them",
        arguments: [
            "chatml", "llama3", "gemma", "mistral", "last", "next", "ahead", "rest", "before",
            "backwards", "end",
        ])
    func linear(name: String) throws {
        // Gemma's refuses a system.
        for kind in name == "gemma" ? [.plain] : [LongConversations.Kind.plain, .thinking, .agent] {
            let (some, more) = (try work(name, kind, 100), try work(name, kind, 200))
            #expect(more * 10 < some * 21, "\(name), \(kind): \(some), \(more)")
        }
    }
}

/// Compares what `ChatSequence` makes of shared renderings with what it made of each alone.
func expectSameSequences(
    _ template: ChatTemplate, _ messages: [ChatMessage], _ tools: JSONValue?, _ place: String,
    arguments: [JSONField] = [], ends: [String] = ["</s>", "<|im_end|>", "."]
) throws {
    let tokens = TemplateTokens(begin: "<s>", end: "</s>")
    let ends = ends.map { Array($0.utf8) }
    let assistants = messages.indices.filter { messages[$0].role == "assistant" }
    let empty = Set(assistants.filter { messages[$0]["content"] == .text("") })
    let count = messages.count
    func render(_ messages: ArraySlice<ChatMessage>, _ addsPrompt: Bool) throws -> RenderedChat {
        try template.render(
            Array(messages), addGenerationPrompt: addsPrompt, tokens: tokens, tools: tools,
            arguments: arguments)
    }
    let shared = template.beginnings(
        ChatSequence.beginnings(assistants: assistants, empty: empty, count: count), of: messages,
        tokens: tokens, tools: tools, arguments: arguments)
    for trained in [Set(assistants), Set(assistants.suffix(1))] {
        let plain = Result {
            try ChatSequence.plainSequences(
                assistants: assistants, trained: trained, empty: empty, count: count, ends: ends,
                render: { try render(messages.prefix($0), $1) })
        }
        let new = Result {
            try ChatSequence.sequences(
                assistants: assistants, trained: trained, empty: empty, count: count, ends: ends,
                rendering: {
                    guard let shared else {
                        return ChatRendering(try render(messages.prefix($0), $1))
                    }
                    return try #require(try shared.rendering($0, addsPrompt: $1))
                })
        }
        #expect(described(new) == described(plain), "\(place)")
    }
}

/// What a result is, or its error.
func described<Value>(_ result: Result<Value, any Error>) -> String {
    switch result {
    case .success(let value): "\(value)"
    case .failure(let error): "error: \(error)"
    }
}
