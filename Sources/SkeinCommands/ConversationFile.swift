import SkeinJSON
import SkeinText

/// A TEXT of `tokenize --chat`, read as a conversation.
struct ConversationFile: Sendable, Equatable {
    var messages: [ChatMessage]
    /// What the model may call; nil if nothing.
    var tools: JSONValue?
    /// Whether the rendered text ends with the opening of the assistant's answer.
    var addsGenerationPrompt: Bool

    init(messages: [ChatMessage], tools: JSONValue? = nil, addsGenerationPrompt: Bool) {
        self.messages = messages
        self.tools = tools
        self.addsGenerationPrompt = addsGenerationPrompt
    }

    /// Reads a JSON list of messages, or an object with `messages`, `tools` and
    /// `add_generation_prompt` (false by default, as in transformers' `apply_chat_template`).
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

    private static func conversation(in text: String) throws(InputProblem) -> ConversationFile? {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: text.utf8)
        } catch {
            if case .tooDeep(let limit) = error.kind, text.hasPrefix("[") || text.hasPrefix("{") {
                throw .badField("messages", expected: "nested at most \(limit) deep")
            }
            // Other text is what a user says.
            return nil
        }
        switch json {
        case .list(let list) where list.allSatisfy({ $0.isObject }):
            return ConversationFile(messages: try messages(list), addsGenerationPrompt: false)
        case .object(let fields):
            guard let value = fields["messages"] else { return nil }
            guard case .list(let list) = value else {
                throw .badField("messages", expected: "a list")
            }
            var tools: JSONValue?
            switch fields["tools"] {
            case nil, .null, .list([]): break
            case .some(.list(let list)): tools = .list(list)
            default: throw .badField("tools", expected: "a list")
            }
            var adds = false
            if let given = fields["add_generation_prompt"] {
                guard case .bool(let flag) = given else {
                    throw .badField("add_generation_prompt", expected: "true or false")
                }
                adds = flag
            }
            return ConversationFile(
                messages: try messages(list), tools: tools, addsGenerationPrompt: adds)
        default: return nil
        }
    }

    /// The template sees all fields of a message.
    private static func messages(_ list: [JSONValue]) throws(InputProblem) -> [ChatMessage] {
        guard !list.isEmpty else { throw .noMessages }
        var messages: [ChatMessage] = []
        for (index, item) in list.enumerated() {
            let place = "messages[\(index)]"
            guard case .object(let fields) = item else {
                throw .badField(place, expected: "an object")
            }
            guard fields["role"]?.string != nil else {
                throw .badField("\(place).role", expected: "a string")
            }
            switch fields["content"] {
            case .text, .list: break
            case nil, .null:
                guard case .list(let calls)? = fields["tool_calls"], !calls.isEmpty else {
                    throw .badField("\(place).content", expected: "a string")
                }
            default: throw .badField("\(place).content", expected: "a string")
            }
            messages.append(ChatMessage(fields: fields))
        }
        return messages
    }
}

extension [JSONField] {
    fileprivate subscript(_ name: String) -> JSONValue? { first { $0.name == name }?.value }
}

extension JSONValue {
    fileprivate var isObject: Bool {
        if case .object = self { return true }
        return false
    }
}
