import SkeinBasics
import SkeinModels
import SkeinText
import SkeinTraining

/// Turns conversations into prompts, by the model's chat template.
struct ChatPrompts: Sendable {
    private let plain: Result<ChatTemplate?, any Error>
    /// What a model has for conversations with tools; the plain one if it has no other.
    private let withTools: Result<ChatTemplate?, any Error>
    private let arguments: [ChatMessage.Field]
    /// The template's text; nil if the model has none.
    let source: String?
    /// How the model writes calls.
    let format: ToolFormat
    private let model: String

    /// A template that cannot be used is an error of each request that needs it: completions can be
    /// served without one.
    init(_ model: ModelDirectory, _ settings: ChatTemplateSettings, _ tokenizer: Tokenizer) {
        func template(_ hasTools: Bool) throws -> (ChatTemplate, String)? {
            guard let source = try settings.source(for: model, hasTools: hasTools) else {
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
        self.model = model.path
    }

    /// The tokens of a conversation, up to the beginning of the answer.
    func prompt(_ request: ChatRequest, _ tokenizer: Tokenizer) throws(APIError) -> [Int32] {
        do {
            let usesTools = !request.tools.isEmpty && request.toolChoice != .none
            guard let template = try (usesTools ? withTools : plain).get() else {
                throw APIError.invalid(
                    "messages",
                    "the model has no chat template: use /v1/completions, or start skein serve "
                        + "with --chat-template", code: "no_chat_template")
            }
            let prepared = try format.prepared(
                messages: request.messages, tools: request.tools, choice: request.toolChoice)
            var arguments = arguments
            arguments.removeAll { own in request.arguments.contains { $0.name == own.name } }
            let chat = try template.render(
                prepared.messages, addGenerationPrompt: request.addsPrompt,
                tokens: tokenizer.templateTokens, tools: prepared.tools,
                arguments: arguments + request.arguments)
            let tokens = try tokenizer.ids(of: chat.text)
            guard !tokens.isEmpty else {
                throw APIError.invalid("messages", "the conversation has no tokens")
            }
            return tokens
        } catch let error as APIError {
            throw error
        } catch let problem as ToolProblem {
            throw APIError(problem)
        } catch {
            throw APIError(error, param: "messages")
        }
    }
}
