import SkeinBasics

/// Why a conversation makes no prompt.
package enum ChatPromptError: Error, Equatable {
    /// The model has no chat template.
    case noTemplate
    /// The template writes nothing for the conversation.
    case noTokens
    /// The message that an answer is to continue is not the last that the template writes.
    case lostMessage
}

extension ChatPromptError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noTemplate:
            Explanation(
                what: "the model has no chat template",
                remedy: "give one (--chat-template), or a text to continue", status: .badData)
        case .noTokens:
            Explanation(
                what: "the conversation has no tokens", remedy: "give a message with a text",
                status: .badData)
        case .lostMessage:
            Explanation(
                what: "the chat template does not end with the text of the last message",
                remedy: "give it a text, or do not continue it", status: .badData)
        }
    }
}
