import Foundation
import SkeinJSON

/// A JSON number as its text says it: whole numbers keep their bits, decimals their digits.
struct NumberText: Sendable {
    let text: String

    init(_ value: Int) {
        text = String(value)
    }

    /// A text that is known to be a JSON number.
    init(checked text: String) {
        self.text = text
    }

    /// The shortest digits that read back as the same value; nil if it is not finite.
    init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = Self.withoutPoint(value.description)
    }

    /// The shortest digits that read back as the same value; nil if it is not finite.
    init?(_ value: Float) {
        guard value.isFinite else { return nil }
        text = Self.withoutPoint(value.description)
    }

    /// All digits; nil for NaN.
    init?(_ value: Decimal) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    private static func withoutPoint(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// ± `digits` × 10^`exponent`.
    var normal: ExactDecimal {
        guard let number = ExactDecimal(json: text) else {
            preconditionFailure("\(text) was to be a JSON number")
        }
        return number
    }

    /// The value if it is a whole number of 64 bits, however it is written.
    var int: Int? { JSONValue.number(text).integer }

    /// The nearest value; infinite if there is none.
    var double: Double { Double(text) ?? .nan }

    /// The nearest value; infinite if there is none.
    var float: Float { Float(text) ?? .nan }

    /// The value, if its digits fit.
    var decimal: Decimal? { ExactDecimal(json: text)?.decimal }
}

extension NumberText: Comparable {
    static func == (a: NumberText, b: NumberText) -> Bool {
        a.text == b.text || a.normal == b.normal
    }

    static func < (a: NumberText, b: NumberText) -> Bool { a.normal < b.normal }
}

extension ExactDecimal {
    /// The value if its digits fit into Decimal's 128 bits and its exponents reach it.
    var decimal: Decimal? {
        guard self != ExactDecimal(0) else { return Decimal(0) }
        // 1e130 is 1000e127.
        let zeros = max(0, exponent - 127)
        guard exponent >= -128, zeros < 39, digits.count + zeros <= 39 else { return nil }
        let shown = digits + Array(repeating: 0, count: zeros)
        let text = shown.reduce(into: isNegative ? "-" : "") { $0 += "\($1)" }
        guard let value = Decimal(string: "\(text)e\(exponent - zeros)") else { return nil }
        // Decimal rounds what does not fit.
        return NumberText(value)?.normal == self ? value : nil
    }
}
