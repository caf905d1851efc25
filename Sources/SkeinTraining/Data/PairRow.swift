import Foundation

/// A message of a conversation.
package struct ChatTurn: Sendable, Equatable {
    package var role: String
    package var content: String

    package init(role: String, content: String) {
        self.role = role
        self.content = content
    }

    /// Whether the model learns to say this turn.
    package var isAssistant: Bool { role == "assistant" }
}

/// One row of training data, as in its line.
package enum PairRow: Sendable, Equatable {
    case pair(prompt: String, completion: String)
    case conversation([ChatTurn])
    case text(String)
}

extension PairRow {
    /// Reads one line of a data file.
    ///
    /// A line with several forms counts as the first of prompt/completion, messages, text (mlx-lm's
    /// precedence). Other fields are ignored, except those that would change the training in a way
    /// that Skein does not support: `tools`, `tool_calls` and a `weight` other than 1.
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
        try self.init(object: object)
    }

    private init(object: [String: Any]) throws(LineProblem) {
        if object["prompt"] != nil || object["completion"] != nil {
            self = .pair(
                prompt: try Self.string("prompt", in: object),
                completion: try Self.string("completion", in: object))
        } else if let messages = object["messages"] {
            if let tools = object["tools"], !Self.isEmpty(tools) {
                throw .unsupported(field: "tools")
            }
            self = .conversation(try Self.turns(messages))
        } else if object["text"] != nil {
            self = .text(try Self.string("text", in: object))
        } else {
            throw .unknownForm(fields: Array(object.keys.sorted().prefix(8)))
        }
    }

    private static func turns(_ value: Any) throws(LineProblem) -> [ChatTurn] {
        guard let list = value as? [Any] else {
            throw .wrongType(
                field: "messages", expected: "a list", found: JSONKind.name(of: value))
        }
        guard !list.isEmpty, list.count <= Limits.turns else {
            throw .messageCount(found: list.count, limit: Limits.turns)
        }
        var turns: [ChatTurn] = []
        turns.reserveCapacity(list.count)
        for (index, item) in list.enumerated() {
            let place = "messages[\(index)]"
            guard let message = item as? [String: Any] else {
                throw .wrongType(
                    field: place, expected: "an object", found: JSONKind.name(of: item))
            }
            if let calls = message["tool_calls"], !isEmpty(calls) {
                throw .unsupported(field: "\(place).tool_calls")
            }
            if let weight = message["weight"] as? NSNumber, weight.doubleValue != 1 {
                throw .unsupported(field: "\(place).weight")
            }
            turns.append(
                ChatTurn(
                    role: try string("role", in: message, of: place + "."),
                    content: try string("content", in: message, of: place + ".")))
        }
        return turns
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

    private static func isEmpty(_ value: Any) -> Bool {
        value is NSNull || (value as? [Any])?.isEmpty == true
    }
}
