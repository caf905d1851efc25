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
package indirect enum PairRow: Sendable, Equatable {
    case pair(prompt: String, completion: String)
    /// `tools` is a list of JSON schemas, nil if there are none.
    case conversation([ChatTurn], tools: ChatJSON? = nil)
    case text(String)
    /// Two answers to one prompt, the better one first: pairs or conversations.
    case preference(chosen: PairRow, rejected: PairRow)
}

extension PairRow {
    /// Reads one line of a data file.
    ///
    /// A line with several forms counts as the first of prompt/completion, messages, text (mlx-lm's
    /// precedence), conversations, instruction/output, prompt/chosen/rejected, unless `fields` names a
    /// part of another one; with a loss of pairs, the last of them is the first.
    /// Other keys are ignored; those of a message are handed to the chat template.
    ///
    /// - Parameters:
    ///   - line: a JSON object.
    ///   - fields: which keys hold its parts.
    /// - Throws: `LineProblem`.
    init(
        line: UnsafeRawBufferPointer, fields: RowFields = RowFields()
    ) throws(LineProblem) {
        self = try Self.read(line, fields).row
    }

    /// The same with the form in which the row is written, and with named parts that it lacks.
    static func read(
        _ line: UnsafeRawBufferPointer, _ fields: RowFields
    ) throws(LineProblem) -> (row: PairRow, form: RowForm, absent: Set<RowFields.Part>) {
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
        let (row, form) = try RowReader(object: object, line: line, fields: fields).row()
        return (row, form, Set(fields.given.keys.filter { object[fields.key($0)] == nil }))
    }
}

/// Reads a row of which the JSON is parsed.
private struct RowReader {
    let object: [String: Any]
    let line: UnsafeRawBufferPointer
    let fields: RowFields

    func row() throws(LineProblem) -> (row: PairRow, form: RowForm) {
        guard let form = try form() else {
            throw .unknownForm(fields: Array(object.keys.sorted().prefix(8)))
        }
        return (try row(form), form)
    }

    private func row(_ form: RowForm) throws(LineProblem) -> PairRow {
        switch form {
        case .preference: try preference()
        case .pair where self[.prompt] is [Any] || self[.completion] is [Any],
            .messages, .conversations:
            try ConversationReader(line: line, fields: fields).row(form)
        case .pair:
            .pair(prompt: try string(.prompt), completion: try string(.completion))
        case .text: .text(try string(.text))
        case .instruction: try instruction()
        }
    }

    /// The first form of which the row has what is looked for.
    private func form() throws(LineProblem) -> RowForm? {
        for form in fields.orderedForms {
            let isThere =
                switch form {
                case .preference: self[.chosen] != nil || self[.rejected] != nil
                case .pair: self[.completion] != nil
                case .messages: self[.messages] != nil
                case .text: self[.text] != nil
                case .conversations: self[.conversations] != nil
                case .instruction: self[.instruction] != nil
                }
            if isThere { return form }
        }
        // Some data sets have a prompt beside their messages.
        if self[.prompt] != nil, fields.forms.contains(.pair) { return .pair }
        // What was named must be there, or nobody would know why the row is of no form.
        let named = RowFields.Part.allCases.first { part in
            fields.given[part] != nil && !part.forms.isEmpty && self[part] == nil
        }
        if let named { throw .missing(field: fields.key(named)) }
        return nil
    }

    private subscript(_ part: RowFields.Part) -> Any? { object[fields.key(part)] }

    /// Answers are texts, or lists of messages as the prompt is. Without a prompt they are whole
    /// conversations, whose common beginning is the prompt, as in trl.
    private func preference() throws(LineProblem) -> PairRow {
        let row: PairRow
        if self[.chosen] is [Any] || self[.rejected] is [Any] || self[.prompt] is [Any] {
            // Beside whole conversations, a text is a copy of their question.
            row = try ConversationReader(line: line, fields: fields).preference(
                isWhole: !(self[.prompt] is [Any]) && self[.chosen] is [Any]
                    && self[.rejected] is [Any])
        } else {
            let prompt = try string(.prompt)
            row = .preference(
                chosen: .pair(prompt: prompt, completion: try string(.chosen)),
                rejected: .pair(prompt: prompt, completion: try string(.rejected)))
        }
        if case .preference(let chosen, let rejected) = row, chosen == rejected {
            throw .equalAnswers
        }
        return row
    }

    /// A row as Stanford Alpaca has it: `instruction`, `output`, and an `input` that is empty or
    /// follows the instruction on a line of its own. `system` and `history` (questions and answers
    /// before it) are LLaMA-Factory's additions, which make it a conversation.
    private func instruction() throws(LineProblem) -> PairRow {
        let instruction = try string(.instruction)
        let output = try string(.output)
        let input = try optionalString(.input)
        let prompt = input.isEmpty ? instruction : instruction + "\n" + input
        let system = try optionalString(.system)
        let history = try history()
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

    private func history() throws(LineProblem) -> [[String]] {
        guard let value = self[.history], !(value is NSNull) else { return [] }
        guard let pairs = value as? [[String]], pairs.allSatisfy({ $0.count == 2 }) else {
            throw .wrongType(
                field: fields.key(.history), expected: "a list of pairs of strings",
                found: JSONKind.name(of: value))
        }
        return pairs
    }

    /// Empty if the field is absent or null.
    private func optionalString(_ part: RowFields.Part) throws(LineProblem) -> String {
        guard let value = self[part], !(value is NSNull) else { return "" }
        return try string(part)
    }

    private func string(_ part: RowFields.Part) throws(LineProblem) -> String {
        guard let value = self[part] else { throw .missing(field: fields.key(part)) }
        guard let text = value as? String else {
            throw .wrongType(
                field: fields.key(part), expected: "a string", found: JSONKind.name(of: value))
        }
        return text
    }
}
