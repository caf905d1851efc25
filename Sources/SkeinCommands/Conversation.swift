import Foundation
import SkeinText

/// A TEXT of `tokenize --chat`, read as a conversation.
struct Conversation: Sendable, Equatable {
    var messages: [ChatMessage]
    /// Whether the rendered text ends with the opening of the assistant's answer.
    var addsGenerationPrompt: Bool

    init(messages: [ChatMessage], addsGenerationPrompt: Bool) {
        self.messages = messages
        self.addsGenerationPrompt = addsGenerationPrompt
    }

    /// Reads a JSON list of messages, or an object with `messages` and `add_generation_prompt`
    /// (false by default, as in transformers' `apply_chat_template`).
    ///
    /// Any other text, including other JSON, is one message of the user, awaiting an answer.
    ///
    /// - Throws: what is wrong with a JSON conversation; never for other text.
    init(text: String) throws(InputProblem) {
        guard let found = try Self.conversation(in: text) else {
            self.init(
                messages: [ChatMessage(role: "user", content: text)], addsGenerationPrompt: true)
            return
        }
        self = found
    }

    private static func conversation(in text: String) throws(InputProblem) -> Conversation? {
        switch json(in: text) {
        case let list as [Any] where list.allSatisfy({ $0 is [String: Any] }):
            return Conversation(messages: try messages(list), addsGenerationPrompt: false)
        case let object as [String: Any]:
            guard let value = object["messages"] else { return nil }
            guard let list = value as? [Any] else {
                throw .badField("messages", expected: "a list")
            }
            var adds = false
            if let given = object["add_generation_prompt"] {
                guard let flag = given as? Bool else {
                    throw .badField("add_generation_prompt", expected: "true or false")
                }
                adds = flag
            }
            return Conversation(messages: try messages(list), addsGenerationPrompt: adds)
        default: return nil
        }
    }

    /// The JSON list or object in `text`; nil for any other text, which is not an error here.
    private static func json(in text: String) -> Any? {
        guard let first = text.first(where: { !$0.isWhitespace }), first == "[" || first == "{"
        else { return nil }
        do {
            return try JSONSerialization.jsonObject(with: Data(text.utf8))
        } catch {
            return nil
        }
    }

    private static func messages(_ list: [Any]) throws(InputProblem) -> [ChatMessage] {
        guard !list.isEmpty else { throw .noMessages }
        var messages: [ChatMessage] = []
        for (index, item) in list.enumerated() {
            let place = "messages[\(index)]"
            guard let object = item as? [String: Any] else {
                throw .badField(place, expected: "an object")
            }
            guard let role = object["role"] as? String else {
                throw .badField("\(place).role", expected: "a string")
            }
            guard let content = object["content"] as? String else {
                throw .badField("\(place).content", expected: "a string")
            }
            messages.append(ChatMessage(role: role, content: content))
        }
        return messages
    }
}
