import SkeinBasics
import SkeinJSON

/// What `inspect` tells about a path: the same facts in the same order, as JSON and as lines.
struct Facts: Sendable {
    private(set) var fields: [(String, JSONValue)] = []
    private var lines: [(label: String, text: String)] = []

    /// Adds a fact.
    ///
    /// - Parameters:
    ///   - name: The JSON field; its underscores become blanks for people.
    ///   - value: The JSON value.
    ///   - text: What people see, in one or more lines; nil: the value.
    mutating func add(_ name: String, _ value: JSONValue, shown text: String? = nil) {
        fields.append((name, value))
        let label = String(name.map { $0 == "_" ? " " : $0 })
        lines.append((label, text ?? Self.text(of: value)))
    }

    mutating func add(_ name: String, _ text: String) { add(name, .text(text)) }

    mutating func add(_ name: String, _ number: Int) { add(name, .integer(number)) }

    /// A number that does not count anything: its digits are not grouped.
    mutating func add(_ name: String, _ number: Double) {
        let value = JSONValue.decimal(number)
        add(name, value, shown: value.written)
    }

    mutating func add(_ name: String, _ flag: Bool) { add(name, .bool(flag)) }

    /// A line for each fact, with the texts aligned.
    var text: String {
        let column = lines.reduce(0) { max($0, $1.label.count) } + 2
        return lines.map { label, text in
            let indent = "\n" + String(repeating: " ", count: column)
            return label + String(repeating: " ", count: column - label.count)
                + text.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: indent) + "\n"
        }.joined()
    }

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .text(let text): text
        case .number(let text): Int(text).map { Figures.grouped($0) } ?? text
        case .bool(let flag): flag ? "yes" : "no"
        case .null: "none"
        case .list(let items): items.map(text).joined(separator: ", ")
        case .object(let fields):
            fields.map { $0.name + " " + text(of: $0.value) }.joined(separator: ", ")
        }
    }
}
