import SkeinJSON

/// What a template makes of a tool, a call and a system message whose name is in no template.
struct TemplateProbe {
    private static let name = "skein_probe"
    private let template: ChatTemplate
    private let tokens: TemplateTokens

    init(_ template: ChatTemplate, _ tokens: TemplateTokens) {
        self.template = template
        self.tokens = tokens
    }

    /// How the template writes calls, as far as it is known here.
    var format: ToolFormat {
        if showsTools {
            if let format = callsFormat { return format }
            if var format = ToolFormat.spelled(in: template.source) {
                format.showing = .templateWithoutCalls
                return format
            }
        }
        return .described(takesSystem: takesSystem)
    }

    private func text(_ messages: [ChatMessage], withTools: Bool) -> String? {
        // A template that refuses a probe does not know what is in it.
        let chat = try? template.render(
            messages, addGenerationPrompt: false, tokens: tokens,
            tools: withTools ? Self.tools : nil)
        return chat?.text
    }

    private static let tools: JSONValue = {
        let argument = JSONValue.fields([("type", .text("string")), ("description", .text("d"))])
        let parameters = JSONValue.fields([
            ("type", .text("object")), ("properties", .fields([("k", argument)])),
            ("required", .list([.text("k")])),
        ])
        let function = JSONValue.fields([
            ("name", .text(name)), ("description", .text("d")), ("parameters", parameters),
        ])
        return .list([.fields([("type", .text("function")), ("function", function)])])
    }()

    private static let question = ChatMessage(role: "user", content: "q")

    private var showsTools: Bool {
        // Some templates want a system message for tools to stand in.
        let system = ChatMessage(role: "system", content: "s")
        return [[Self.question], [system, Self.question]].contains { messages in
            text(messages, withTools: true)?.utf8.place(of: Self.name.utf8) != nil
        }
    }

    var takesSystem: Bool {
        let system = ChatMessage(role: "system", content: Self.name)
        let text = text([system, Self.question], withTools: false)
        return text?.utf8.place(of: Self.name.utf8) != nil
    }

    private static func turns(
        calls: Int, content: JSONValue = .text(""), value: String = "v", asText: Bool = false
    ) -> [ChatMessage] {
        let arguments = JSONValue.object([JSONField(name: "k", value: .text(value))])
        let list = ["skeinpro1", "skeinpro2"].prefix(calls).map { id in
            JSONValue.object([
                JSONField(name: "id", value: .text(id)),
                JSONField(name: "type", value: .text("function")),
                JSONField(
                    name: "function",
                    value: .object([
                        JSONField(name: "name", value: .text(name)),
                        JSONField(
                            name: "arguments",
                            value: asText ? .text(arguments.pythonText) : arguments),
                    ])),
            ])
        }
        return [
            question,
            ChatMessage(fields: [
                JSONField(name: "role", value: .text("assistant")),
                JSONField(name: "content", value: content),
                JSONField(name: "tool_calls", value: .list(list)),
            ]),
        ]
    }

    /// What the template makes of a call; nil if it does not write it, or writes something for what is
    /// not there.
    /// `goesOn`: also where the conversation goes on after it.
    private func written(
        _ content: JSONValue, asText: Bool, goesOn: Bool, _ words: String = ""
    ) -> String? {
        let value = "skein_value"
        let turns = Self.turns(calls: 1, content: content, value: value, asText: asText)
        let result = ChatMessage(fields: [
            JSONField(name: "role", value: .text("tool")),
            JSONField(name: "content", value: .text("r")),
            JSONField(name: "tool_call_id", value: .text("skeinpro1")),
            JSONField(name: "name", value: .text(Self.name)),
        ])
        let answer = ChatMessage(role: "assistant", content: "a")
        let more = goesOn ? [result, answer, Self.question] : []
        guard let text = text(turns + more, withTools: true) else { return nil }
        func has(_ word: String) -> Bool { text.utf8.place(of: word.utf8) != nil }
        // An object that is written as a text would have its quotes escaped.
        let isGood =
            has(Self.name) && has(value) && has(words) && !has("None")
            && !has(#"\"\#(value)\""#)
        return isGood ? text : nil
    }

    /// What the template makes of a question and its answer, as texts and as lists of one text part.
    private var contents: TemplateHabits.ContentForm {
        func text(_ content: (String) -> JSONValue) -> String? {
            self.text(
                [("user", Self.name), ("assistant", "skein_answer")].map { role, words in
                    ChatMessage(fields: [
                        JSONField(name: "role", value: .text(role)),
                        JSONField(name: "content", value: content(words)),
                    ])
                }, withTools: false)
        }
        func isWhole(_ text: String?) -> Bool {
            [Self.name, "skein_answer"].allSatisfy { text?.utf8.place(of: $0.utf8) != nil }
        }
        let plain = text { .text($0) }
        let parts = text { .list([JSONValue.textPart($0)]) }
        if let plain, let parts, plain.isSame(as: parts) { return .both }
        return isWhole(parts) && !isWhole(plain) ? .parts : .text
    }

    /// What the template does with tools and calls.
    var habits: TemplateHabits {
        var own = TemplateHabits()
        own.showsTools = showsTools
        own.contents = contents
        own.writesResults = [false, true].contains { withTools in
            let result = ChatMessage(role: "tool", content: Self.name)
            let turns = [Self.question, ChatMessage(role: "assistant", content: "a"), result]
            return text(turns, withTools: withTools)?.utf8.place(of: Self.name.utf8) != nil
        }
        own.readsTools = template.names.contains("tools")
        own.readsCalls =
            template.names.contains("tool_calls")
            || template.literals.contains(Array("tool_calls".utf8))
        for (goesOn, asText) in [(true, false), (true, true), (false, false), (false, true)] {
            let empty = written(.text(""), asText: asText, goesOn: goesOn)
            let null = written(.null, asText: asText, goesOn: goesOn)
            guard empty != nil || null != nil else { continue }
            own.writesCalls = true
            own.argumentsAsText = asText
            // Where both are taken and differ, an empty content is a turn of its own beside the calls.
            own.callContent =
                null == nil
                ? .text : empty == nil || empty?.isSame(as: null ?? "") == false ? .null : .asGiven
            let words = "skein_words"
            // Where the answer is the last turn, or where others follow: each is learned in its place.
            own.writesCallsBesideWords = [true, false].contains {
                written(.text(words), asText: asText, goesOn: $0, words) != nil
            }
            break
        }
        return own
    }

    /// The format of the calls that the template writes; nil if it writes none, or others.
    var callsFormat: ToolFormat? {
        let two = text(Self.turns(calls: 2), withTools: true)
        guard let text = two ?? text(Self.turns(calls: 1), withTools: true) else { return nil }
        let bytes = Array(text.utf8)
        for key in ["arguments", "parameters"] {
            let call = Array(#"{"name": "\#(Self.name)", "\#(key)": {"k": "v"}"#.utf8)
            guard let start = bytes.place(of: call) else { continue }
            let before = Array(bytes[..<start])
            let after = Array(bytes[(start + call.count)...])
            return key == "parameters" ? .llama : Self.format(before, after, call)
        }
        return nil
    }

    /// `after`: what follows a call's arguments; the call's own closing brace, and perhaps an id.
    private static func format(_ before: [UInt8], _ after: [UInt8], _ call: [UInt8]) -> ToolFormat?
    {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x0A }
        let lead = before.reversed().prefix { isSpace($0) || $0 == UInt8(ascii: "[") }.reversed()
        let stem = before.dropLast(lead.count)
        let isList = lead.last == UInt8(ascii: "[")
        func ends(_ marker: String) -> Bool {
            stem.suffix(marker.utf8.count).elementsEqual(marker.utf8)
        }
        if isList {
            var format: ToolFormat
            if ends("[TOOL_CALLS]") {
                format = .mistral
            } else if ends("<|tool_call|>") {
                format = .granite
                format.showing = .template
            } else {
                return nil
            }
            format.afterMarker = String(decoding: lead, as: UTF8.self)
            return format
        }
        for known in [ToolFormat.hermes, .phi] where ends(known.marker) {
            var format = known
            let end = Array(known.callEnd.utf8).drop(while: isSpace)
            let space = after.dropFirst().prefix(while: isSpace)
            guard after.first == UInt8(ascii: "}"),
                after.dropFirst(1 + space.count).starts(with: end)
            else { return nil }
            format.afterMarker = String(decoding: lead, as: UTF8.self)
            format.callEnd = String(decoding: space + end, as: UTF8.self)
            let rest = Array(after.dropFirst(1 + space.count + end.count))
            let next = rest.place(of: call).map { Array(rest[..<$0]) }
            let opening = Array(format.opening.utf8)
            if let next, next.suffix(opening.count).elementsEqual(opening),
                next.dropLast(opening.count).allSatisfy(isSpace)
            {
                format.callNext = String(decoding: next, as: UTF8.self)
            } else {
                format.callNext = nil
            }
            return format
        }
        return nil
    }
}
