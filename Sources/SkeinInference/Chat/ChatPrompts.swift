import SkeinJSON
import SkeinModels
import SkeinText

/// Turns conversations into prompts, by the model's chat template.
package struct ChatPrompts: Sendable {
    private let renderer: Result<ChatRenderer?, any Error>
    /// The template's text; nil if the model has none.
    package let source: String?
    /// Says that an argument is none of the template's; nil: all are.
    package let unusedArgument: ChatTemplateError?
    /// How the model writes calls.
    package let format: ToolFormat

    /// A template that cannot be used is an error of each request that needs it: completions can be
    /// served without one.
    package init(
        _ model: ModelDirectory, _ settings: ChatTemplateSettings, _ tokenizer: Tokenizer
    ) {
        renderer = Result {
            // Clients see the name in errors: it has no path.
            try ChatRenderer(model.raw, settings, tokenizer, name: "the chat template")
        }
        // `renderer` keeps the error for the requests.
        let found = try? renderer.get()
        source = try? found?.template.source
        format = found?.format ?? .described
        do throws(ChatTemplateError) {
            try found.map { found throws(ChatTemplateError) in try settings.check(found.templates) }
            unusedArgument = nil
        } catch {
            unusedArgument = error
        }
    }

    /// The tokens of a conversation, up to the beginning of the answer.
    ///
    /// - Parameters:
    ///   - messages: as a client sends them.
    ///   - tools: that the model may call.
    ///   - choice: whether it may; with `.none` it is not told of them.
    ///   - extra: variables for the template, before those of the same names in its settings.
    ///   - addsPrompt: whether the prompt ends with the beginning of an answer.
    ///   - continues: whether the prompt ends within the last message, which the answer continues.
    ///   - tokenizer: of the model.
    /// - Returns: at least one.
    /// - Throws: `ChatPromptError`, `ToolProblem`; what reading and rendering the template and cutting
    ///   the text throw.
    package func prompt(
        _ messages: [ChatMessage], tools: [Tool], choice: ToolChoice,
        arguments extra: [JSONField], addsPrompt: Bool, continues: Bool = false,
        _ tokenizer: Tokenizer
    ) throws -> [Int32] {
        let (renderer, chat) = try prepared(messages, tools: tools, choice: choice)
        let whole = try renderer.render(
            chat, arguments: extra, addsPrompt: addsPrompt && !continues)
        var text = whole.text
        if continues {
            guard let begun = whole.text(untilMessage: chat.messages.count - 1) else {
                throw ChatPromptError.lostMessage
            }
            text = begun
        }
        let tokens = try tokenizer.ids(of: text)
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
        usesTools: Bool = false, arguments extra: [JSONField] = [], addsPrompt: Bool
    ) throws -> RenderedChat {
        let (renderer, chat) = try prepared(
            messages, tools: tools, choice: choice, usesTools: usesTools)
        return try renderer.render(chat, arguments: extra, addsPrompt: addsPrompt)
    }

    private func prepared(
        _ messages: [ChatMessage], tools: [Tool], choice: ToolChoice, usesTools: Bool = false
    ) throws -> (ChatRenderer, PreparedChat) {
        guard let renderer = try renderer.get() else { throw ChatPromptError.noTemplate }
        let shown = choice == .none ? [] : tools
        let chat = try renderer.prepared(
            messages, tools: .list(shown.map(\.definition)),
            usesTools: usesTools && choice != .none, for: .answer)
        return (renderer, chat)
    }
}

extension RenderedChat {
    /// The text up to the end of what a message says, without what closes its turn; nil if the template
    /// left the message out, or wrote others after it.
    fileprivate func text(untilMessage index: Int) -> String? {
        guard let end = pieces.lastIndex(where: { $0.messageIndex != nil }),
            pieces[end].messageIndex == index
        else { return nil }
        return pieces[...end].map(\.text).joined()
    }
}
