import SkeinBasics

/// Escapes, in classes and outside of them.
extension PatternParser {
    /// What an escape stands for; the parser stands at its backslash.
    ///
    /// Letters and digits without a meaning in both dialects are refused; everything else stands for
    /// itself.
    mutating func escape(inClass: Bool) throws(PatternFlaw) -> ScalarClass {
        let start = position
        position += 1
        guard let letter = next else { throw flaw(.incompleteEscape, at: start) }
        position += 1
        switch letter {
        case "d": return .digit
        case "D": return .notDigit
        case "w": return .word
        case "W": return .notWord
        case "s": return .space
        case "S": return .notSpace
        case "p", "P": return try property(from: start, isNegated: letter == "P")
        case "b" where inClass: return .scalar(0x08)
        case "b", "B": throw flaw(.wordBoundary, at: start)
        case "1"..."9", "k": throw flaw(.backReference, at: start)
        case "0":
            // Another digit would make it an octal number to Python.
            if let digit = next, ("0"..."9").contains(digit) {
                throw flaw(.unknownEscape, at: start)
            }
            return .scalar(0)
        case "t": return .scalar(0x09)
        case "n": return .scalar(0x0A)
        case "v": return .scalar(0x0B)
        case "f": return .scalar(0x0C)
        case "r": return .scalar(0x0D)
        case "c":
            guard let control = next, Self.isLetter(control) else {
                throw flaw(.incompleteEscape, at: start)
            }
            position += 1
            return .scalar(control.value % 32)
        case "x": return .scalar(try hexadecimal(digits: 2, from: start))
        case "u": return .scalar(try unicode(from: start))
        default:
            if Self.isLetter(letter) { throw flaw(.unknownEscape, at: start) }
            return .scalar(letter.value)
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// Exactly so many hexadecimal digits.
    private mutating func hexadecimal(digits: Int, from start: Int) throws(PatternFlaw) -> UInt32 {
        let (value, count) = takeHexadecimal(atMost: digits)
        guard count == digits else { throw flaw(.incompleteEscape, at: start) }
        return value
    }

    /// After `\u`: four digits, twice for a pair of surrogates, or any number in braces.
    private mutating func unicode(from start: Int) throws(PatternFlaw) -> UInt32 {
        var value: UInt32 = 0
        if take("{") {
            let count: Int
            (value, count) = takeHexadecimal(atMost: .max)
            guard count > 0, take("}") else { throw flaw(.incompleteEscape, at: start) }
        } else {
            value = try hexadecimal(digits: 4, from: start)
            if (0xD800...0xDBFF).contains(value), take("\\u") {
                let low = try hexadecimal(digits: 4, from: start)
                guard (0xDC00...0xDFFF).contains(low) else {
                    throw flaw(.notACharacter, at: start)
                }
                value = 0x1_0000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
        }
        guard Unicode.Scalar(value) != nil else { throw flaw(.notACharacter, at: start) }
        return value
    }

    /// After `\p`: the name of a general category in braces, alone or after its property's name.
    private mutating func property(
        from start: Int, isNegated: Bool
    ) throws(PatternFlaw) -> ScalarClass {
        guard take("{") else { throw flaw(.incompleteEscape, at: start) }
        _ = take("General_Category=") || take("gc=")
        let name = takeName(before: "}") { $0.unicodeScalars.count <= 40 }
        guard let type = ScalarClass.category(named: name, isNegated: isNegated) else {
            throw flaw(next == nil ? .incompleteEscape : .unknownProperty, at: start)
        }
        guard take("}") else { throw flaw(.incompleteEscape, at: start) }
        return type
    }
}

extension ScalarClass {
    fileprivate static func scalar(_ value: UInt32) -> ScalarClass {
        ScalarClass(ScalarSet(value))
    }
}
