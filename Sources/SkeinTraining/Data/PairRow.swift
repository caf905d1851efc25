import Foundation
import SkeinText

/// A message of a conversation.
package struct ChatTurn: Sendable, Equatable {
    /// What the chat template sees.
    package var message: ChatMessage
    /// Whether an assistant's turn carries loss: its `weight` is not 0.
    package var isTrained: Bool

    package init(message: ChatMessage, isTrained: Bool = true) {
        self.message = message
        self.isTrained = isTrained
    }

    package init(role: String, content: String) {
        self.init(message: ChatMessage(role: role, content: content))
    }

    package var role: String { message.role }

    /// Empty if the content is none or a list of parts.
    package var content: String { message["content"]?.string ?? "" }

    /// Whether the model learns to say this turn.
    package var isAssistant: Bool { role == "assistant" }
}

/// One row of training data, as in its line.
package enum PairRow: Sendable, Equatable {
    case pair(prompt: String, completion: String)
    /// `tools` is a list of JSON schemas, nil if there are none.
    case conversation([ChatTurn], tools: ChatJSON? = nil)
    case text(String)
}

extension PairRow {
    /// Reads one line of a data file.
    ///
    /// A line with several forms counts as the first of prompt/completion, messages, conversations,
    /// text (mlx-lm's precedence). Other fields are ignored; those of a message are handed to the
    /// chat template.
    ///
    /// - Throws: `LineProblem`.
    init(line: UnsafeRawBufferPointer) throws(LineProblem) {
        guard line.count <= Limits.lineBytes else {
            throw .tooLong(bytes: line.count, limit: Limits.lineBytes)
        }
        guard String(validating: line, as: UTF8.self) != nil else { throw .notUTF8 }
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(
                with: Data(line), options: [.fragmentsAllowed])
        } catch {
            throw .notJSON(detail: JSONKind.remark(on: error))
        }
        guard let object = value as? [String: Any] else {
            throw .notAnObject(found: JSONKind.name(of: value))
        }
        try self.init(object: object, line: line)
    }

    private init(
        object: [String: Any], line: UnsafeRawBufferPointer
    ) throws(LineProblem) {
        if object["prompt"] != nil || object["completion"] != nil {
            self = .pair(
                prompt: try Self.string("prompt", in: object),
                completion: try Self.string("completion", in: object))
        } else if object["messages"] != nil {
            self = try ConversationReader(line: line).row()
        } else if object["text"] != nil {
            self = .text(try Self.string("text", in: object))
        } else if object["conversations"] != nil {
            self = try ConversationReader(line: line).row()
        } else {
            throw .unknownForm(fields: Array(object.keys.sorted().prefix(8)))
        }
    }

    private static func string(
        _ field: String, in object: [String: Any], of place: String = ""
    ) throws(LineProblem) -> String {
        guard let value = object[field] else { throw .missing(field: place + field) }
        guard let text = value as? String else {
            throw .wrongType(
                field: place + field, expected: "a string", found: JSONKind.name(of: value))
        }
        return text
    }
}
