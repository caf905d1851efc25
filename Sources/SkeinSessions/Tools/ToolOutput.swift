/// The output of a tool, as older code writes it: new code returns the text or the value itself.
@available(*, deprecated, message: "return the text or the value itself")
public struct ToolOutput: Sendable {
    private let prompt: Prompt

    /// - Parameter text: what the model reads.
    public init(_ text: String) { prompt = Prompt(text) }

    /// - Parameter content: what the model reads, as JSON.
    public init(_ content: GeneratedContent) { prompt = Prompt(content) }

    /// - Parameter text: what the model reads.
    /// - Returns: the output.
    public static func string(_ text: String) -> ToolOutput { ToolOutput(text) }
}

@available(*, deprecated, message: "return the text or the value itself")
extension ToolOutput: PromptRepresentable {
    /// What the model reads.
    public var promptRepresentation: Prompt { return prompt }
}
