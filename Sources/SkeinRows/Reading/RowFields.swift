import SkeinBasics
import SkeinJSON

/// Which keys or columns of a row hold its parts (`--field prompt=question`).
package struct RowFields: Sendable, Hashable {
    /// A part of a row, by the name that its key has unless another one is given.
    package enum Part: String, CaseIterable, Sendable {
        case prompt
        case completion
        case messages
        case text
        case conversations
        case instruction
        case input
        case output
        case system
        case history
        case tools
        case chosen
        case rejected

        /// The forms of which it is a part; none: of any.
        var forms: Set<RowForm> {
            switch self {
            case .prompt: [.pair, .preference]
            case .completion: [.pair]
            case .chosen, .rejected: [.preference]
            case .messages: [.messages]
            case .text: [.text]
            case .conversations: [.conversations]
            case .instruction, .input, .output, .history: [.instruction]
            case .system, .tools: []
            }
        }

        /// Whether rows of a form may have it.
        func isUsed(by form: RowForm) -> Bool {
            switch self {
            case .system, .tools: form != .text
            default: forms.contains(form)
            }
        }

        /// Whether it is a list, which CSV writes as JSON.
        var isList: Bool {
            switch self {
            case .messages, .conversations, .history, .tools: true
            default: false
            }
        }

        /// Whether it is a text or a list of messages.
        var mayBeList: Bool {
            switch self {
            case .prompt, .completion, .chosen, .rejected: true
            default: false
            }
        }
    }

    /// The keys that were given.
    let given: [Part: String]
    /// Whether rows are looked at for pairs of answers first. For any other loss they are that last: a
    /// row may well have such keys beside what it is trained on.
    package var comparesAnswers = false
    /// Whether the texts of a .txt file are what blank lines separate, not its lines (`--text-chunks`).
    package var readsParagraphs = false

    /// Every part has its own name.
    package init() {
        given = [:]
    }

    /// Reads `prompt=question,completion=answer`.
    ///
    /// - Returns: nil if the text is something else, if a part is named twice, or if two parts would
    ///   be the same key.
    package init?(_ text: String) {
        var given: [Part: String] = [:]
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let border = pair.firstIndex(of: "="),
                let part = Part(rawValue: String(pair[..<border]))
            else { return nil }
            let key = String(pair[pair.index(after: border)...])
            guard !key.isEmpty, given.updateValue(key, forKey: part) == nil,
                given.values.count(where: { $0.isSame(as: key) }) == 1
            else { return nil }
        }
        self.given = given
    }

    /// The key that holds `part`.
    func key(_ part: Part) -> String { given[part] ?? part.rawValue }

    var isEmpty: Bool { given.isEmpty }

    /// Forms of which a part was named; all of them if none was.
    var forms: Set<RowForm> {
        let named = given.keys.reduce(into: Set<RowForm>()) { $0.formUnion($1.forms) }
        return named.isEmpty ? Set(RowForm.allCases) : named
    }

    /// In the order in which they are looked for.
    var orderedForms: [RowForm] {
        let wanted = forms
        let others = RowForm.allCases.filter { $0 != .preference }
        let isFirst = comparesAnswers || given[.chosen] != nil || given[.rejected] != nil
        return (isFirst ? [.preference] + others : others + [.preference]).filter(wanted.contains)
    }

    /// Keys that a row may have. What else it has is not read.
    var keys: Set<String> { Set(Part.allCases.map(key)) }

    /// Those of some of the parts.
    func keys(of isWanted: (Part) -> Bool) -> Set<String> {
        Set(Part.allCases.filter(isWanted).map(key))
    }

    /// What says of some data sets' pairs whether they are good. No part of a row, but looked at.
    static let label = "label"

    /// In a fixed order, for digests and for run.json.
    package var text: String {
        Part.allCases.compactMap { part in given[part].map { "\(part.rawValue)=\($0)" } }
            .joined(separator: ",")
    }

    /// Two accepted texts as one.
    package static func joined(_ first: String, _ second: String) throws(JoinProblem) -> String {
        let text = first + "," + second
        guard let both = RowFields(text) else { throw .repeatedName }
        return both.text
    }
}

/// The ways in which a row may be written. The rows of a file are all written in one.
package enum RowForm: String, CaseIterable, Sendable {
    case preference
    case pair
    case messages
    case text
    case conversations
    case instruction

    /// As the keys have it, for people.
    var name: String {
        switch self {
        case .preference: "prompt, chosen and rejected"
        case .pair: "prompt and completion"
        case .messages: "messages"
        case .text: "text"
        case .conversations: "conversations"
        case .instruction: "instruction and output"
        }
    }
}
