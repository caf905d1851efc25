/// How a model writes calls, and how its template shows tools, calls and results.
///
/// An answer with calls is `marker`, `afterMarker`, a call's JSON, `callEnd`, then for each further
/// call `callNext`, its JSON and `callEnd`, and at the end `listEnd`.
package struct ToolFormat: Sendable, Equatable {
    package enum Showing: Sendable, Equatable {
        /// The template writes tools, calls and results.
        case template
        /// The template writes tools and results; calls are put into the text of the turn.
        case templateWithoutCalls
        /// The template writes turns of text alone: everything is put into these.
        case described(takesSystem: Bool)
    }

    package var showing: Showing
    /// What begins a call in the middle of text.
    package var marker: String
    package var afterMarker: String
    package var callEnd: String
    /// nil: one call at most.
    package var callNext: String?
    package var listEnd: String
    /// The name of a call's arguments in its JSON.
    package var argumentsKey: String
    /// Whether a call may be the whole answer without the marker.
    package var isBare: Bool
    package var idStyle: CallID.Style

    package init(
        showing: Showing = .template, marker: String, afterMarker: String = "",
        callEnd: String = "", callNext: String? = nil, listEnd: String = "",
        argumentsKey: String = "arguments", isBare: Bool = false,
        idStyle: CallID.Style = .openAI
    ) {
        self.showing = showing
        self.marker = marker
        self.afterMarker = afterMarker
        self.callEnd = callEnd
        self.callNext = callNext
        self.listEnd = listEnd
        self.argumentsKey = argumentsKey
        self.isBare = isBare
        self.idStyle = idStyle
    }

    /// What is written before the first call where a call must come.
    package var opening: String { isBare ? "" : marker + afterMarker }

    /// Hermes, Qwen 2.5 and 3, SmolLM 3, Granite 4: `<tool_call>\n{...}\n</tool_call>`.
    package static let hermes = ToolFormat(
        marker: "<tool_call>", afterMarker: "\n", callEnd: "\n</tool_call>",
        callNext: "\n<tool_call>\n")

    /// Llama 3.1, 3.2 and 3.3: `{"name": ..., "parameters": ...}` is the whole turn. Some write
    /// `<|python_tag|>` before it.
    package static let llama = ToolFormat(
        marker: "<|python_tag|>", argumentsKey: "parameters", isBare: true)

    /// Mistral 7B v0.3, Nemo: `[TOOL_CALLS] [{...}, {...}]`.
    package static let mistral = ToolFormat(
        marker: "[TOOL_CALLS]", afterMarker: " [", callNext: ",", listEnd: "]", idStyle: .mistral)

    /// Granite 3: `<|tool_call|>[{...}, {...}]`.
    package static let granite = ToolFormat(
        showing: .templateWithoutCalls, marker: "<|tool_call|>", afterMarker: "[", callNext: ",",
        listEnd: "]")

    /// Phi-4-mini with llama.cpp's template: `<|tool_call|>{...}<|/tool_call|>`.
    package static let phi = ToolFormat(
        marker: "<|tool_call|>", callEnd: "<|/tool_call|>", callNext: "<|tool_call|>")

    /// For models whose templates know nothing of tools, or write calls in some other way: Hermes'
    /// form, explained to the model in a system message.
    package static let described = described(takesSystem: true)

    package static func described(takesSystem: Bool) -> ToolFormat {
        var format = hermes
        format.showing = .described(takesSystem: takesSystem)
        return format
    }
}

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
        // Rendering a conversation says what is wrong with the template.
        guard let template = try? ChatTemplate(source: source, name: "template") else {
            self = .described
            return
        }
        self = TemplateProbe(template, tokens).format
    }

    /// The format that a template explains to the model without writing calls itself.
    static func spelled(in source: String) -> ToolFormat? {
        func has(_ word: String) -> Bool { source.utf8.place(of: word.utf8) != nil }
        // It writes calls in a way that is not known here.
        if has("tool_calls") { return nil }
        if has("<|tool_call|>"), has("JSON list") { return .granite }
        let others = ["<function=", "<parameter=", "<arg_key>", "<|tool_call|>"]
        if has("<tool_call>"), has("arguments"), !others.contains(where: has) { return .hermes }
        return nil
    }
}

extension Collection<UInt8> {
    /// Where some bytes first stand, counted from the beginning.
    package func place(of wanted: some Collection<UInt8>) -> Int? {
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
