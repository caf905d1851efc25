import SkeinModels
import SkeinText

/// Turns conversations into prompts, by the model's chat template.
package struct ChatPrompts: Sendable {
    private let plain: Result<ChatTemplate?, any Error>
    /// What a model has for conversations with tools; the plain one if it has no other.
    private let withTools: Result<ChatTemplate?, any Error>
    private let arguments: [ChatMessage.Field]
    /// The template's text; nil if the model has none.
    package let source: String?
    /// How the model writes calls.
    package let format: ToolFormat

    /// A template that cannot be used is an error of each request that needs it: completions can be
    /// served without one.
    package init(
        _ model: ModelDirectory, _ settings: ChatTemplateSettings, _ tokenizer: Tokenizer
    ) {
        func template(_ hasTools: Bool) throws -> (ChatTemplate, String)? {
            guard let source = try settings.source(for: model.raw, hasTools: hasTools) else {
                return nil
            }
            return (
                // Clients see the name in errors: it has no path.
                try ChatTemplate(
                    source: source.text, name: "the chat template", date: settings.today),
                source.text
            )
        }
        let first = Result { try template(false) }
        plain = first.map { $0?.0 }
        switch first {
        case .success(let found): source = found?.1
        case .failure: source = nil
        }
        let tools = Result { try template(true) }
        withTools = tools.map { $0?.0 }
        let text: String?
        switch tools {
        case .success(let found): text = found?.1
        case .failure: text = nil
        }
        format =
            text.map { ToolFormat(template: $0, tokens: tokenizer.templateTokens) } ?? .described
        arguments = settings.arguments
    }

    /// The tokens of a conversation, up to the beginning of the answer.
    ///
    /// - Parameters:
    ///   - messages: as a client sends them.
    ///   - tools: that the model may call.
    ///   - choice: whether it may; with `.none` it is not told of them.
    ///   - extra: variables for the template, before those of the same names in its settings.
    ///   - addsPrompt: whether the prompt ends with the beginning of an answer.
    ///   - tokenizer: of the model.
    /// - Returns: at least one.
    /// - Throws: `ChatPromptError`, `ToolProblem`; what reading and rendering the template and cutting
    ///   the text throw.
    package func prompt(
        _ messages: [ChatMessage], tools: [Tool], choice: ToolChoice,
        arguments extra: [ChatMessage.Field], addsPrompt: Bool, _ tokenizer: Tokenizer
    ) throws -> [Int32] {
        let chat = try rendered(
            messages, tools: tools, choice: choice, arguments: extra, addsPrompt: addsPrompt,
            tokenizer)
        let tokens = try tokenizer.ids(of: chat.text)
        guard !tokens.isEmpty else { throw ChatPromptError.noTokens }
        return tokens
    }

    /// The text of a conversation, and which message each part of it is from. Parameters as of `prompt`;
    /// `usesTools` is whether the template for conversations with tools is the right one even if `tools`,
    /// those that it shows, are none.
    ///
    /// - Throws: `ChatPromptError.noTemplate`, `ToolProblem`; what reading and rendering the template
    ///   throws.
    package func rendered(
        _ messages: [ChatMessage], tools: [Tool], choice: ToolChoice,
        usesTools: Bool = false, arguments extra: [ChatMessage.Field] = [], addsPrompt: Bool,
        _ tokenizer: Tokenizer
    ) throws -> RenderedChat {
        let usesTools = (usesTools || !tools.isEmpty) && choice != .none
        guard let template = try (usesTools ? withTools : plain).get() else {
            throw ChatPromptError.noTemplate
        }
        let prepared = try format.prepared(messages: messages, tools: tools, choice: choice)
        var arguments = arguments
        arguments.removeAll { own in extra.contains { $0.name == own.name } }
        return try template.render(
            prepared.messages, addGenerationPrompt: addsPrompt, tokens: tokenizer.templateTokens,
            tools: prepared.tools, arguments: arguments + extra)
    }
}
