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
    /// A line with several forms counts as the first of prompt/completion, messages, text (mlx-lm's
    /// precedence), conversations, instruction/output. Other fields are ignored; those of a message
    /// are handed to the chat template.
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
        if object["prompt"] is [Any] || object["completion"] is [Any] {
            self = try ConversationReader(line: line).row()
        } else if object["prompt"] != nil || object["completion"] != nil {
            self = .pair(
                prompt: try Self.string("prompt", in: object),
                completion: try Self.string("completion", in: object))
        } else if object["messages"] != nil {
            self = try ConversationReader(line: line).row()
        } else if object["text"] != nil {
            self = .text(try Self.string("text", in: object))
        } else if object["conversations"] != nil {
            self = try ConversationReader(line: line).row()
        } else if object["instruction"] != nil {
            self = try Self.instruction(object)
        } else {
            throw .unknownForm(fields: Array(object.keys.sorted().prefix(8)))
        }
    }

    /// A row as Stanford Alpaca has it: `instruction`, `output`, and an `input` that is empty or
    /// follows the instruction on a line of its own. `system` and `history` (questions and answers
    /// before it) are LLaMA-Factory's additions, which make it a conversation.
    private static func instruction(_ object: [String: Any]) throws(LineProblem) -> PairRow {
        let instruction = try string("instruction", in: object)
        let output = try string("output", in: object)
        let input = try optionalString("input", in: object)
        let prompt = input.isEmpty ? instruction : instruction + "\n" + input
        let system = try optionalString("system", in: object)
        let history = try history(of: object)
        if system.isEmpty, history.isEmpty {
            return .pair(prompt: prompt, completion: output)
        }
        var turns = system.isEmpty ? [] : [ChatTurn(role: "system", content: system)]
        for pair in history + [[prompt, output]] {
            turns.append(ChatTurn(role: "user", content: pair[0]))
            turns.append(ChatTurn(role: "assistant", content: pair[1]))
        }
        guard turns.count <= Limits.turns else {
            throw .messageCount(found: turns.count, limit: Limits.turns)
        }
        return .conversation(turns)
    }

    private static func history(of object: [String: Any]) throws(LineProblem) -> [[String]] {
        guard let value = object["history"], !(value is NSNull) else { return [] }
        guard let pairs = value as? [[String]], pairs.allSatisfy({ $0.count == 2 }) else {
            throw .wrongType(
                field: "history", expected: "a list of pairs of strings",
                found: JSONKind.name(of: value))
        }
        return pairs
    }

    /// Empty if the field is absent or null.
    private static func optionalString(
        _ field: String, in object: [String: Any]
    ) throws(LineProblem) -> String {
        guard let value = object[field], !(value is NSNull) else { return "" }
        return try string(field, in: object)
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
