extension JSONValue {
    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// The shortest digits that read back as the same value, without a point if it is whole; NaN and
    /// infinity become null, as JSON has no numbers for them.
    package static func decimal(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .null }
        let text = value.description
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    /// A number that is whole, however it is written, exactly; nil for anything else, and for what does
    /// not fit.
    package var integer: Int? {
        guard case .number(let text) = self else { return nil }
        return Int(text) ?? ExactDecimal(json: text)?.int
    }

    /// A finite number.
    package var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else {
            return nil
        }
        return value
    }

    /// Whether a number is spelled as an integer: digits, and perhaps a minus before them.
    package static func isInteger(_ spelled: String) -> Bool {
        let digits =
            spelled.utf8.first == UInt8(ascii: "-") ? spelled.utf8.dropFirst() : spelled.utf8[...]
        return !digits.isEmpty
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
