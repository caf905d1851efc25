import SkeinBasics
import SkeinInference
import SkeinText

extension ChatPrompts {
    /// The tokens of a request's conversation, up to the beginning of the answer.
    func prompt(_ request: ChatRequest, _ tokenizer: Tokenizer) throws(APIError) -> [Int32] {
        do {
            return try prompt(
                request.messages, tools: request.tools, choice: request.toolChoice,
                arguments: request.arguments, addsPrompt: request.end == .answer,
                continues: request.end == .continuation, tokenizer)
        } catch let error as ChatPromptError {
            throw APIError(error)
        } catch let problem as ToolProblem {
            throw APIError(problem)
        } catch {
            throw APIError(error, param: "messages")
        }
    }
}

extension APIError {
    /// A conversation that makes no prompt.
    init(_ error: ChatPromptError) {
        switch error {
        case .noTemplate:
            self = .invalid(
                "messages",
                "the model has no chat template: use /v1/completions, or start skein serve "
                    + "with --chat-template", code: "no_chat_template")
        case .noTokens: self = .invalid("messages", "the conversation has no tokens")
        case .lostMessage:
            self = .invalid(
                "messages", "\(error.explanation.what): \(error.explanation.remedy)")
        }
    }
}
