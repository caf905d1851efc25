/// A place in a text that is read from its beginning on. The parsers of regular expressions are such
/// cursors: how a place is read is theirs, and what it means is a matter of each grammar.
package protocol ScalarCursor {
    var scalars: [Unicode.Scalar] { get }
    /// The number of scalars that were read.
    var position: Int { get set }
}

extension ScalarCursor {
    /// The next character, or nil at the end.
    package var next: Unicode.Scalar? { peek(0) }

    /// The character behind so many others.
    package func peek(_ distance: Int) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    /// Steps over some characters if they come next.
    package mutating func take(_ word: String) -> Bool {
        var end = position
        for scalar in word.unicodeScalars {
            guard end < scalars.count, scalars[end] == scalar else { return false }
            end += 1
        }
        position = end
        return true
    }

    /// Takes what comes before `end` or the end of the text, as long as `isShort` says of what was
    /// taken that it is no longer than names are.
    package mutating func takeName(
        before end: Unicode.Scalar, while isShort: (String) -> Bool
    ) -> String {
        var name = ""
        while let scalar = next, scalar != end, isShort(name) {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        return name
    }

    /// Takes hexadecimal digits.
    ///
    /// - Parameter limit: how many, at most.
    /// - Returns: their value, 110000 for any that is higher, and how many they are.
    package mutating func takeHexadecimal(atMost limit: Int) -> (value: UInt32, digits: Int) {
        var value: UInt32 = 0
        var digits = 0
        while digits < limit, let digit = next?.hexadecimalDigit {
            value = min(value << 4 | digit, 0x11_0000)
            digits += 1
            position += 1
        }
        return (value, digits)
    }

    /// Takes decimal digits, up to the one with which their number is above `limit`.
    ///
    /// - Returns: nil without a digit.
    package mutating func takeDecimal(limit: Int) -> Int? {
        var value: Int?
        while value ?? 0 <= limit, let digit = next, ("0"..."9").contains(digit) {
            value = (value ?? 0) * 10 + Int(digit.value - 0x30)
            position += 1
        }
        return value
    }
}

extension Unicode.Scalar {
    /// The worth of `0` to `9`, `a` to `f` and `A` to `F`.
    package var hexadecimalDigit: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x57
        case "A"..."F": value - 0x37
        default: nil
        }
    }
}
