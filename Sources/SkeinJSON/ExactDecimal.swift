/// A number as its JSON text says it, without rounding: ± `digits` × 10^`exponent`.
///
/// Equal numbers are equal values: `1.0`, `1` and `10e-1` are one, `-0` is `0`. The exponent is kept
/// as a number, so `1e999999999` takes neither time nor memory. Exponents beyond ±2^59 may
/// count as ±2^60: such numbers are ordered correctly against all others, but not among themselves.
package struct ExactDecimal: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Never set for zero.
    package let isNegative: Bool
    /// Each 0...9, the most significant first; neither the first nor the last is 0; empty for zero.
    package let digits: [UInt8]
    /// The power of ten of the last digit; 0 for zero.
    package let exponent: Int

    /// Normalises what is given.
    ///
    /// - Parameters:
    ///   - isNegative: ignored for zero.
    ///   - digits: each 0...9, the most significant first, with any zeros at either end.
    ///   - exponent: the power of ten of the last of them, at most 2^61 in magnitude.
    package init(isNegative: Bool = false, digits: some Collection<UInt8>, exponent: Int = 0) {
        var kept = Array(digits.drop { $0 == 0 })
        let count = kept.count
        while kept.last == 0 { kept.removeLast() }
        self.isNegative = isNegative && !kept.isEmpty
        self.exponent = kept.isEmpty ? 0 : exponent + (count - kept.count)
        self.digits = kept
    }

    package init(_ value: UInt) {
        self.init(digits: String(value).utf8.map { $0 - UInt8(ascii: "0") })
    }

    /// A JSON number's text, or nil if it is not one. Linear in the length of the text.
    package init?(json text: some StringProtocol) {
        var reader = DigitReader(rest: Array(text.utf8)[...])
        let isNegative = reader.take("-")
        var digits = reader.takeDigits()
        guard let first = digits.first, first != 0 || digits.count == 1 else { return nil }
        var exponent = 0
        if reader.take(".") {
            let fraction = reader.takeDigits()
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
        }
        if reader.take("e") || reader.take("E") {
            let isBelow = reader.take("-")
            if !isBelow { _ = reader.take("+") }
            let power = reader.takeDigits()
            guard !power.isEmpty else { return nil }
            let size = power.reduce(0) { $0 < 1 << 56 ? min($0 * 10 + Int($1), 1 << 60) : 1 << 60 }
            exponent += isBelow ? -size : size
        }
        guard reader.rest.isEmpty else { return nil }
        self.init(isNegative: isNegative, digits: digits, exponent: exponent)
    }

    /// Whether its text has no exponent.
    package var isPlain: Bool {
        wholeCount <= Self.plainDigits && fractionCount <= Self.plainDigits
    }

    /// How many digits before or after the point the text of a number has without an exponent.
    private static let plainDigits = 40

    /// The value if it is a whole number of 64 bits.
    package var int: Int? {
        // No Int has 20 digits.
        guard isInteger, top < 20 else { return nil }
        return Int((isNegative ? "-" : "") + Self.text(wholeDigits))
    }

    package var isInteger: Bool { exponent >= 0 }

    /// How many digits stand before the point; 0 below one.
    package var wholeCount: Int { max(0, top) }

    /// How many digits stand after the point.
    package var fractionCount: Int { max(0, -exponent) }

    /// The digits before the point, `[0]` below one. Only for numbers whose exponent is small.
    package var wholeDigits: [UInt8] {
        guard top > 0 else { return [0] }
        return Array(digits.prefix(top)) + Array(repeating: 0, count: max(0, exponent))
    }

    /// The digits after the point without zeros at the end. Only for numbers whose exponent is small.
    package var fractionDigits: [UInt8] {
        guard exponent < 0 else { return [] }
        return Array(repeating: 0, count: max(0, -top)) + Array(digits.dropFirst(max(0, top)))
    }

    package var negated: ExactDecimal {
        ExactDecimal(isNegative: !isNegative, digits: digits, exponent: exponent)
    }

    package var magnitude: ExactDecimal { isNegative ? negated : self }

    /// The largest integer that is not above it.
    package var floor: ExactDecimal { rounded(toExponent: 0, isUp: false) }

    /// The smallest integer that is not below it.
    package var ceiling: ExactDecimal { rounded(toExponent: 0, isUp: true) }

    /// The nearest multiple of 10^`least` that is not below it (`isUp`) or not above it.
    package func rounded(toExponent least: Int, isUp: Bool) -> ExactDecimal {
        guard exponent < least else { return self }
        var kept = Array(digits.prefix(max(0, top - least)))
        if isUp != isNegative {
            // Away from zero, and something was cut off: one more in the last place.
            var index = kept.count - 1
            while index >= 0, kept[index] == 9 {
                kept[index] = 0
                index -= 1
            }
            if index >= 0 { kept[index] += 1 } else { kept.insert(1, at: 0) }
        }
        return ExactDecimal(isNegative: isNegative, digits: kept, exponent: least)
    }

    /// The nearest number of at most `count` significant digits that is not below or not above it.
    package func rounded(significantDigits count: Int, isUp: Bool) -> ExactDecimal {
        rounded(toExponent: exponent + max(0, digits.count - count), isUp: isUp)
    }

    /// Whether it is an integer and a multiple of another one. Only zero is a multiple of zero.
    package func isMultiple(of divisor: Int) -> Bool {
        guard isInteger else { return false }
        guard divisor != 0 else { return digits.isEmpty }
        // Products of two 64-bit remainders need 128 bits.
        let modulus = UInt128(divisor.magnitude)
        var remainder: UInt128 = 0
        for digit in digits { remainder = (remainder * 10 + UInt128(digit)) % modulus }
        // Times 10^exponent by squaring: 60 steps at most.
        var power: UInt128 = 10 % modulus
        var left = exponent
        while left > 0 {
            if left & 1 == 1 { remainder = remainder * power % modulus }
            power = power * power % modulus
            left >>= 1
        }
        return remainder == 0
    }

    package static func < (a: ExactDecimal, b: ExactDecimal) -> Bool {
        if a.sign != b.sign { return a.sign < b.sign }
        return a.isNegative ? b.isNearerToZero(than: a) : a.isNearerToZero(than: b)
    }

    /// JSON text that depends on the value alone: without an exponent if it has at most 40 digits before
    /// and after the point, else like `-1.25e300`.
    package var description: String {
        let sign = isNegative ? "-" : ""
        guard isPlain else {
            let fraction = digits.count > 1 ? "." + Self.text(digits.dropFirst()) : ""
            return sign + Self.text(digits.prefix(1)) + fraction + "e\(top - 1)"
        }
        let fraction = fractionDigits
        return sign + Self.text(wholeDigits) + (fraction.isEmpty ? "" : "." + Self.text(fraction))
    }

    /// The power of ten just above the first digit: it is at least 10^(top - 1) and below 10^top.
    private var top: Int { exponent + digits.count }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    /// Compares magnitudes. Neither has zeros at the end, so a beginning is less than the whole.
    private func isNearerToZero(than other: ExactDecimal) -> Bool {
        if top != other.top { return top < other.top }
        return digits.lexicographicallyPrecedes(other.digits)
    }

    private static func text(_ digits: some Sequence<UInt8>) -> String {
        String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    }
}

/// Reads bytes from the front.
private struct DigitReader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// The values of the digits that follow.
    mutating func takeDigits() -> [UInt8] {
        let taken = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        rest.removeFirst(taken.count)
        return taken.map { $0 - UInt8(ascii: "0") }
    }
}
