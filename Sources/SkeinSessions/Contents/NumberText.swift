import Foundation

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
    var normal: NormalNumber { NormalNumber(json: text) }

    /// The value if it is a whole number of 64 bits, however it is written.
    var int: Int? { Int(text) ?? normal.int }

    /// The nearest value; infinite if there is none.
    var double: Double { Double(text) ?? .nan }

    /// The nearest value; infinite if there is none.
    var float: Float { Float(text) ?? .nan }

    /// The value, if its digits fit.
    var decimal: Decimal? { normal.decimal }
}

extension NumberText: Comparable {
    static func == (a: NumberText, b: NumberText) -> Bool {
        a.text == b.text || a.normal == b.normal
    }

    static func < (a: NumberText, b: NumberText) -> Bool { a.normal < b.normal }
}

/// A number without rounding: equal numbers are equal values, `1.0`, `1` and `10e-1` are one.
///
/// An exponent beyond 2^59 counts as 2^60, so that `1e999999999` takes neither time nor memory.
struct NormalNumber: Equatable, Comparable, Sendable {
    /// Never set for zero.
    let isNegative: Bool
    /// ASCII digits, the most significant first; neither the first nor the last is 0; none for zero.
    let digits: [UInt8]
    /// The power of ten of the last digit; 0 for zero.
    let exponent: Int

    private init(isNegative: Bool, digits: [UInt8], exponent: Int) {
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// A text that is known to be a JSON number.
    init(json text: String) {
        let zero = UInt8(ascii: "0")
        var digits: [UInt8] = []
        var isNegative = false
        var isFraction = false
        var exponent = 0
        var rest = text.utf8[...]
        scan: while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): break scan
            default:
                digits.append(byte)
                if isFraction { exponent -= 1 }
            }
        }
        if let sign = rest.first {
            let isBelow = sign == UInt8(ascii: "-")
            let size = rest.reduce(0) { size, byte in
                guard byte >= zero, size < 1 << 56 else { return size }
                return size * 10 + Int(byte - zero)
            }
            exponent += isBelow ? -size : size
        }
        while digits.last == zero {
            digits.removeLast()
            exponent += 1
        }
        let kept = Array(digits.drop { $0 == zero })
        self.init(isNegative: isNegative, digits: kept, exponent: exponent)
    }

    /// The power of ten just above the first digit.
    private var top: Int { exponent + digits.count }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    static func < (a: NormalNumber, b: NormalNumber) -> Bool {
        if a.sign != b.sign { return a.sign < b.sign }
        return a.isNegative ? b.isNearerToZero(than: a) : a.isNearerToZero(than: b)
    }

    /// Compares magnitudes. Neither has zeros at the end, so a beginning is less than the whole.
    private func isNearerToZero(than other: NormalNumber) -> Bool {
        if top != other.top { return top < other.top }
        return digits.lexicographicallyPrecedes(other.digits)
    }

    /// The value if it is a whole number of 64 bits.
    var int: Int? {
        guard exponent >= 0, top <= 19 else { return nil }
        if digits.isEmpty { return 0 }
        return Int(signedDigits(zeros: exponent))
    }

    /// The value if its digits fit into Decimal's 128 bits and its exponents reach it.
    var decimal: Decimal? {
        guard !digits.isEmpty else { return Decimal(0) }
        // 1e130 is 1000e127.
        let zeros = max(0, exponent - 127)
        guard exponent >= -128, zeros < 39, digits.count + zeros <= 39,
            let value = Decimal(string: "\(signedDigits(zeros: zeros))e\(exponent - zeros)")
        else { return nil }
        // Decimal rounds what does not fit.
        return NumberText(value)?.normal == self ? value : nil
    }

    /// JSON text that depends on the value alone: without an exponent if it has at most 40 digits
    /// before and after the point, else like `-1.25e300`.
    var text: String {
        let sign = isNegative ? "-" : ""
        let all = String(decoding: digits, as: UTF8.self)
        if digits.isEmpty { return "0" }
        guard top <= 40, exponent >= -40 else {
            let fraction = digits.count > 1 ? "." + all.dropFirst() : ""
            return sign + all.prefix(1) + fraction + "e\(top - 1)"
        }
        if exponent >= 0 { return sign + all + String(repeating: "0", count: exponent) }
        if top <= 0 { return sign + "0." + String(repeating: "0", count: -top) + all }
        return sign + all.prefix(top) + "." + all.dropFirst(top)
    }

    private func signedDigits(zeros: Int) -> String {
        (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
            + String(repeating: "0", count: zeros)
    }

    /// The nearest number of at most `count` significant digits that is not below or not above it.
    func rounded(significantDigits count: Int, isUp: Bool) -> NormalNumber {
        rounded(toExponent: exponent + max(0, digits.count - count), isUp: isUp)
    }

    /// The nearest multiple of 10^`least` that is not below it (`isUp`) or not above it.
    func rounded(toExponent least: Int, isUp: Bool) -> NormalNumber {
        guard exponent < least else { return self }
        var kept = Array(digits.prefix(max(0, top - least)))
        if isUp != isNegative {
            // Away from zero: one more in the last place.
            var index = kept.count - 1
            while index >= 0, kept[index] == UInt8(ascii: "9") {
                kept[index] = UInt8(ascii: "0")
                index -= 1
            }
            if index >= 0 { kept[index] += 1 } else { kept.insert(UInt8(ascii: "1"), at: 0) }
        }
        let text = kept.isEmpty ? "0" : String(decoding: kept, as: UTF8.self)
        return NormalNumber(json: (isNegative ? "-" : "") + "\(text)e\(least)")
    }
}
