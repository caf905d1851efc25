/// How a model writes calls, and how its template shows tools, calls and results.
///
/// An answer with calls is `marker`, `afterMarker`, a call's JSON, `callEnd`, then for each further
/// call `callNext`, its JSON and `callEnd`, and at the end `listEnd`.
struct ToolFormat: Sendable, Equatable {
    enum Showing: Sendable, Equatable {
        /// The template writes tools, calls and results.
        case template
        /// The template writes tools and results; calls are put into the text of the turn.
        case templateWithoutCalls
        /// The template writes turns of text alone: everything is put into these.
        case described(takesSystem: Bool)
    }

    var showing = Showing.template
    /// What begins a call in the middle of text.
    var marker: String
    var afterMarker = ""
    var callEnd = ""
    /// nil: one call at most.
    var callNext: String?
    var listEnd = ""
    /// The name of a call's arguments in its JSON.
    var argumentsKey = "arguments"
    /// Whether a call may be the whole answer without the marker.
    var isBare = false
    var idStyle = CallID.Style.openAI

    /// What is written before the first call where a call must come.
    var opening: String { isBare ? "" : marker + afterMarker }

    /// Hermes, Qwen 2.5 and 3, SmolLM 3, Granite 4: `<tool_call>\n{...}\n</tool_call>`.
    static let hermes = ToolFormat(
        marker: "<tool_call>", afterMarker: "\n", callEnd: "\n</tool_call>",
        callNext: "\n<tool_call>\n")

    /// Llama 3.1, 3.2 and 3.3: `{"name": ..., "parameters": ...}` is the whole turn. Some write
    /// `<|python_tag|>` before it.
    static let llama = ToolFormat(
        marker: "<|python_tag|>", argumentsKey: "parameters", isBare: true)

    /// Mistral 7B v0.3, Nemo: `[TOOL_CALLS] [{...}, {...}]`.
    static let mistral = ToolFormat(
        marker: "[TOOL_CALLS]", afterMarker: " [", callNext: ",", listEnd: "]", idStyle: .mistral)

    /// Granite 3: `<|tool_call|>[{...}, {...}]`.
    static let granite = ToolFormat(
        showing: .templateWithoutCalls, marker: "<|tool_call|>", afterMarker: "[", callNext: ",",
        listEnd: "]")

    /// Phi-4-mini with llama.cpp's template: `<|tool_call|>{...}<|/tool_call|>`.
    static let phi = ToolFormat(
        marker: "<|tool_call|>", callEnd: "<|/tool_call|>", callNext: "<|tool_call|>")

    /// For models whose templates know nothing of tools, or write calls in some other way: Hermes'
    /// form, explained to the model in a system message.
    static let described = described(takesSystem: true)

    static func described(takesSystem: Bool) -> ToolFormat {
        var format = hermes
        format.showing = .described(takesSystem: takesSystem)
        return format
    }
}
