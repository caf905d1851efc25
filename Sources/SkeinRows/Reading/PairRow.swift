import SkeinJSON
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

    /// Whether the turn says nothing: no words, no calls, no thoughts.
    package var isEmpty: Bool {
        let others = ["tool_calls", "reasoning_content", "thinking", "reasoning"]
        return (message["content"] ?? .null).contentText.allSatisfy(\.isWhitespace)
            && others.allSatisfy { name in
                switch message[name] {
                case nil, .null?, .list([])?, .text("")?: true
                default: false
                }
            }
    }
}

/// One row of training data, as in its line.
package indirect enum PairRow: Sendable {
    case pair(prompt: String, completion: String)
    /// `tools` is a list of JSON schemas, nil if there are none.
    case conversation([ChatTurn], tools: JSONValue? = nil)
    case text(String)
    /// Two answers to one prompt, the better one first: pairs or conversations.
    case preference(chosen: PairRow, rejected: PairRow)
}

extension PairRow: Equatable {
    /// Texts are equal when their code points are.
    package static func == (left: PairRow, right: PairRow) -> Bool {
        switch (left, right) {
        case (.pair(let prompt, let completion), .pair(let other, let answer)):
            prompt.isSame(as: other) && completion.isSame(as: answer)
        case (.conversation(let turns, let tools), .conversation(let others, let otherTools)):
            turns == others && tools == otherTools
        case (.text(let left), .text(let right)): left.isSame(as: right)
        case (.preference(let chosen, let rejected), .preference(let better, let worse)):
            chosen == better && rejected == worse
        default: false
        }
    }
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
        self = try ReadRow(line, fields).row
    }
}

/// A row, and what its line told besides.
struct ReadRow {
    let row: PairRow
    /// In which the row is written.
    let form: RowForm
    /// Named parts that it lacks.
    let absent: Set<RowFields.Part>
    /// What was found while reading.
    let remarks: RowRemarks

    /// - Parameters:
    ///   - line: a JSON object, as Python reads it.
    ///   - fields: which keys hold its parts.
    /// - Throws: `LineProblem`.
    init(_ line: UnsafeRawBufferPointer, _ fields: RowFields) throws(LineProblem) {
        guard line.count <= Limits.lineBytes else {
            throw .tooLong(bytes: line.count, limit: Limits.lineBytes)
        }
        let value: JSONValue
        do {
            value = try JSONReader.read(line, .python(depth: Limits.rowDepth))
        } catch {
            switch error.kind {
            case .notUTF8: throw .notUTF8
            case .tooDeep(let limit):
                throw .notJSON(detail: "more than \(limit) nested lists and objects")
            case .malformed, .halfOfPair, .repeatedName:
                throw String(validating: line, as: UTF8.self) == nil
                    ? .notUTF8 : .notJSON(detail: "at byte \(error.offset)")
            case .tooLarge(let limit): throw .tooLong(bytes: line.count, limit: limit)
            }
        }
        guard case .object(let object) = value else { throw .notAnObject(found: value.kind) }
        let reader = RowReader(object: object, fields: fields)
        (row, form) = try reader.row()
        absent = Set(fields.given.keys.filter { object[fields.key($0)] == nil })
        remarks = try reader.remarks(form)
    }
}

/// Reads a row of which the JSON is parsed.
private struct RowReader {
    let object: [JSONField]
    let fields: RowFields

    func row() throws(LineProblem) -> (row: PairRow, form: RowForm) {
        guard let form = try form() else {
            throw .unknownForm(fields: Array(object.map(\.name).sorted().prefix(8)))
        }
        return (try row(form), form)
    }

    private func row(_ form: RowForm) throws(LineProblem) -> PairRow {
        switch form {
        case .preference: try preference()
        case .pair where self[.prompt]?.list != nil || self[.completion]?.list != nil,
            .messages, .conversations:
            try conversations.row(form)
        case .pair:
            try answered(try string(.prompt), [try string(.completion)])[0]
        case .text: .text(try string(.text))
        case .instruction: try instruction()
        }
    }

    private var conversations: ConversationReader {
        ConversationReader(object: object, fields: fields)
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
        // What was named must be there, or it would be a riddle why the row is of no form.
        let named = RowFields.Part.allCases.first { part in
            fields.given[part] != nil && !part.forms.isEmpty && self[part] == nil
        }
        if let named { throw missing(named) }
        return nil
    }

    private subscript(_ part: RowFields.Part) -> JSONValue? { object[fields.key(part)] }

    /// A row of texts: a pair, or a conversation if a system or tools stand beside it.
    private func answered(_ prompt: String, _ answers: [String]) throws(LineProblem) -> [PairRow] {
        let system = try conversations.system()
        let tools = try conversations.tools()
        guard system != nil || tools != nil else {
            return answers.map { .pair(prompt: prompt, completion: $0) }
        }
        return answers.map { answer in
            .conversation(
                [system].compactMap(\.self) + [
                    ChatTurn(role: "user", content: prompt),
                    ChatTurn(role: "assistant", content: answer),
                ], tools: tools)
        }
    }

    /// Answers are texts, or lists of messages as the prompt is. Without a prompt they are whole
    /// conversations, whose common beginning is the prompt, as in trl.
    private func preference() throws(LineProblem) -> PairRow {
        let row: PairRow
        let lists = [self[.chosen], self[.rejected], self[.prompt]].map { $0?.list != nil }
        if lists.contains(true) {
            // Beside whole conversations, a text is a copy of their question.
            row = try conversations.preference(isWhole: !lists[2] && lists[0] && lists[1])
        } else {
            let answers = try answered(
                try string(.prompt), [try string(.chosen), try string(.rejected)])
            row = .preference(chosen: answers[0], rejected: answers[1])
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
        let history = try history()
        if history.isEmpty { return try answered(prompt, [output])[0] }
        var turns = [try conversations.system()].compactMap(\.self)
        for pair in history + [[prompt, output]] {
            turns.append(ChatTurn(role: "user", content: pair[0]))
            turns.append(ChatTurn(role: "assistant", content: pair[1]))
        }
        guard turns.count <= Limits.turns else {
            throw .messageCount(found: turns.count, limit: Limits.turns)
        }
        return .conversation(turns, tools: try conversations.tools())
    }

    private func history() throws(LineProblem) -> [[String]] {
        guard let value = self[.history], value != .null else { return [] }
        let pairs = value.list?.map { pair in pair.list?.compactMap(\.string) ?? [] }
        guard let pairs,
            zip(pairs, value.list ?? []).allSatisfy({ $0.count == 2 && $1.list?.count == 2 })
        else {
            throw .wrongType(
                field: fields.key(.history), expected: "a list of pairs of strings",
                found: value.kind)
        }
        return pairs
    }

    /// Empty if the field is absent or null.
    private func optionalString(_ part: RowFields.Part) throws(LineProblem) -> String {
        guard let value = self[part], value != .null else { return "" }
        return try string(part)
    }

    private func missing(_ part: RowFields.Part) -> LineProblem {
        let others = object.map(\.name).filter { !fields.keys.contains($0) }
        return .missing(
            field: fields.key(part), part: others.isEmpty ? nil : part.rawValue,
            others: Array(others.prefix(8)))
    }

    private func string(_ part: RowFields.Part) throws(LineProblem) -> String {
        guard let value = self[part] else {
            throw missing(part)
        }
        guard let text = value.string else {
            throw .wrongType(
                field: fields.key(part), expected: "a string", found: value.kind)
        }
        return text
    }

    // MARK: - Remarks

    /// Says what is odd about the row's keys, or refuses it.
    func remarks(_ form: RowForm) throws(LineProblem) -> RowRemarks {
        var remarks = RowRemarks()
        if form != .text, form != .preference, !fields.keys.contains(RowFields.label) {
            switch object[RowFields.label] {
            case .bool?: throw .booleanLabel
            // As CSV has it.
            case .text(let text)? where ["true", "false"].contains(text.lowercased()):
                throw .booleanLabel
            case .number?: remarks.insert(.numericLabel)
            case .text(let text)? where Double(text) != nil: remarks.insert(.numericLabel)
            default: break
            }
        }
        if form == .text, fields.given.isEmpty, isComplete {
            remarks.insert(.textAlone)
        }
        let parts: [RowFields.Part] =
            switch form {
            case .preference: [.prompt, .chosen, .rejected]
            case .pair: [.prompt, .completion]
            case .messages: [.messages]
            case .conversations: [.conversations]
            default: []
            }
        let hasNull = parts.contains { part in
            self[part]?.list?.contains { Self.hasNull(message: $0) } ?? false
        }
        if hasNull || form != .text && (self[.tools].map { Self.hasNull(in: $0) } ?? false) {
            remarks.insert(.explicitNull)
        }
        return remarks
    }

    /// Whether questions and answers stand beside a text, as in the data set of Stanford Alpaca.
    private var isComplete: Bool {
        self[.conversations]?.list?.isEmpty == false
            || [RowFields.Part.instruction, .output].allSatisfy {
                self[$0]?.string?.isEmpty == false
            }
    }

    /// Whether something in a field is null. A field that is null itself is left out.
    private static func hasNull(message: JSONValue) -> Bool {
        message.fields?.contains { hasNull(in: $0.value) } ?? false
    }

    private static func hasNull(in value: JSONValue) -> Bool {
        switch value {
        case .object(let fields): fields.contains { $0.value == .null || hasNull(in: $0.value) }
        case .list(let items): items.contains { hasNull(in: $0) }
        default: false
        }
    }
}
