import SkeinBasics
import SkeinText

extension ChatJSON {
    /// The value as JSON, with spaces as Python writes them and models were tuned on.
    var written: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): value.isFinite ? "\(value)" : "null"
        case .text(let text): JSONLine.quote(text)
        case .list(let items): "[" + items.map(\.written).joined(separator: ", ") + "]"
        case .object(let fields):
            "{"
                + fields.map { JSONLine.quote($0.name) + ": " + $0.value.written }
                .joined(separator: ", ") + "}"
        }
    }
}
