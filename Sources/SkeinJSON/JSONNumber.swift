extension JSONValue {
    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// A number that is whole, however it is written; nil for anything else, and for what does not
    /// fit.
    package var integer: Int? {
        guard case .number(let text) = self else { return nil }
        return Int(text) ?? Self.whole(text)
    }

    /// The whole number that a text with a point or an exponent says exactly: a double would take
    /// 9007199254740993.0 for its neighbour.
    private static func whole(_ text: String) -> Int? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let parts = text.utf8.dropFirst(isNegative ? 1 : 0)
            .split(maxSplits: 1, omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E")
            }
        let sides = parts[0].split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let spelled = Array(sides.joined())
        let digits = spelled.drop { $0 == UInt8(ascii: "0") }
        if digits.isEmpty { return spelled.isEmpty ? nil : 0 }
        guard let power = parts.count == 1 ? 0 : Int(String(Substring(parts[1]))),
            abs(Double(power)) < 1e15
        else { return nil }
        var kept = Array(digits)
        while kept.last == UInt8(ascii: "0") { kept.removeLast() }
        let fraction = sides.count == 1 ? 0 : sides[1].count
        let zeros = power - fraction + (digits.count - kept.count)
        // No Int has 20 digits.
        guard zeros >= 0, kept.count + zeros < 20 else { return nil }
        return Int(
            (isNegative ? "-" : "") + String(decoding: kept, as: UTF8.self)
                + String(repeating: "0", count: zeros))
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
