import SkeinText

extension ToolFormat {
    /// The format of a model, by what its template makes of a conversation with a call.
    ///
    /// A template that fails, or writes calls in a way that is not known here, gives the described form,
    /// which works with any model: what it writes is held to the grammar in any case.
    ///
    /// - Parameters:
    ///   - source: the model's chat template.
    ///   - tokens: its `bos_token` and `eos_token`.
    package init(template source: String, tokens: TemplateTokens) {
        let probe = try? FormatProbe(source: source, tokens: tokens)
        guard let probe else {
            self = .described
            return
        }
        guard probe.showsTools else {
            self = .described(takesSystem: probe.takesSystem)
            return
        }
        if let format = probe.callsFormat {
            self = format
        } else if let format = Self.spelled(in: source) {
            self = format
            showing = .templateWithoutCalls
        } else {
            self = .described(takesSystem: probe.takesSystem)
        }
    }

    /// The format that a template explains to the model without writing calls itself.
    private static func spelled(in source: String) -> ToolFormat? {
        func has(_ word: String) -> Bool { source.utf8.place(of: word.utf8) != nil }
        // It writes calls in a way that is not known here.
        if has("tool_calls") { return nil }
        if has("<|tool_call|>"), has("JSON list") { return .granite }
        let others = ["<function=", "<parameter=", "<arg_key>", "<|tool_call|>"]
        if has("<tool_call>"), has("arguments"), !others.contains(where: has) { return .hermes }
        return nil
    }
}

/// What a template makes of a tool, a call and a system message whose name is in no template.
private struct FormatProbe {
    private static let name = "skein_probe"
    private let template: ChatTemplate
    private let tokens: TemplateTokens

    init(source: String, tokens: TemplateTokens) throws {
        template = try ChatTemplate(source: source, name: "template")
        self.tokens = tokens
    }

    private func text(_ messages: [ChatMessage], withTools: Bool) -> String? {
        let json = """
            [{"type":"function","function":{"name":"\(Self.name)","description":"d","parameters":\
            {"type":"object","properties":{"k":{"type":"string","description":"d"}},\
            "required":["k"]}}}]
            """
        let tools = withTools ? try? ChatJSON(parsing: json.utf8) : nil
        let chat = try? template.render(
            messages, addGenerationPrompt: false, tokens: tokens, tools: tools)
        return chat?.text
    }

    private static let question = ChatMessage(role: "user", content: "q")

    var showsTools: Bool {
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

    private static func turns(calls: Int) -> [ChatMessage] {
        let ids = ["skeinpro1", "skeinpro2"].prefix(calls)
        let written = ids.map {
            """
            {"id":"\($0)","type":"function","function":{"name":"\(name)","arguments":{"k":"v"}}}
            """
        }
        let list = try? ChatJSON(parsing: "[\(written.joined(separator: ","))]".utf8)
        var answer = ChatMessage(role: "assistant", content: "")
        answer.fields.append(ChatMessage.Field(name: "tool_calls", value: list ?? .null))
        return [question, answer]
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

extension Collection<UInt8> {
    /// Where some bytes first stand, counted from the beginning.
    func place(of wanted: some Collection<UInt8>) -> Int? {
        guard let first = wanted.first else { return 0 }
        var index = startIndex
        var place = 0
        while index != endIndex {
            if self[index] == first, self[index...].starts(with: wanted) { return place }
            index = self.index(after: index)
            place += 1
        }
        return nil
    }
}
