import SkeinBasics

extension ExpressionParser {
    /// A backslash and what follows it, outside of a class.
    mutating func escape() throws(ExpressionFlaw) -> ExpressionNode {
        let start = position
        position += 1
        if take("w") { return .set(.bareWord) }
        if take("W") { return .set(ScalarSet.bareWord.inverted) }
        if let set = try escapedSet(from: start) { return .set(set) }
        let anchors: [(String, ExpressionNode.Anchor)] = [
            ("b", .wordBoundary), ("B", .noWordBoundary), ("A", .textStart), ("z", .textEnd),
            ("Z", .lastLineEnd),
        ]
        for (letter, anchor) in anchors where take(letter) { return .anchor(anchor) }
        if take("R") {
            let pair = ExpressionNode.sequence([.set(ScalarSet(0x0D)), .set(ScalarSet(0x0A))])
            let ends = ScalarSet([0x0A...0x0D, 0x85...0x85, 0x2028...0x2029])
            return .atomic(.alternatives([pair, .set(ends)]))
        }
        if take("N") { return .set(ScalarSet(0x0A).inverted) }
        if take("O") { return .set(.all) }
        let value = try escapedCharacter(from: start)
        guard options.ignoresCase else { return .set(ScalarSet(value)) }
        return .set(try folded(ScalarSet(value), from: start))
    }

    /// The set of `\s` and its like, without the backslash; nil if something else comes next.
    func namedSet(_ letter: Unicode.Scalar) -> ScalarSet? {
        switch letter {
        case "s": .whiteSpace
        case "S": ScalarSet.whiteSpace.inverted
        case "d": .digits
        case "D": ScalarSet.digits.inverted
        case "w": .word
        case "W": ScalarSet.word.inverted
        case "h": .hexDigits
        case "H": ScalarSet.hexDigits.inverted
        default: nil
        }
    }

    /// Reads `s`, `p{Lu}` and their like; nil if something else comes next.
    mutating func escapedSet(from start: Int) throws(ExpressionFlaw) -> ScalarSet? {
        guard let letter = next else { throw refused(from: start) }
        if let set = namedSet(letter) {
            position += 1
            return set
        }
        guard letter == "p" || letter == "P" else { return nil }
        position += 1
        guard take("{") else { throw refused(from: start) }
        let isNegative = take("^") != (letter == "P")
        let name = takeName(before: "}") { $0.utf8.count < 40 }
        guard take("}"), let set = ScalarSet(property: name) else { throw refused(from: start) }
        return isNegative ? set.inverted : set
    }

    /// The value of an escaped character, after the backslash.
    mutating func escapedCharacter(from start: Int) throws(ExpressionFlaw) -> UInt32 {
        guard let letter = next else { throw refused(from: start) }
        position += 1
        switch letter {
        case "n": return 0x0A
        case "t": return 0x09
        case "r": return 0x0D
        case "f": return 0x0C
        case "v": return 0x0B
        case "a": return 0x07
        case "e": return 0x1B
        case "u": return try hexadecimal(digits: 4...4, from: start)
        case "x":
            if take("{") {
                let value = try hexadecimal(digits: 1...8, from: start)
                guard take("}") else { throw refused(from: start) }
                return value
            }
            let value = try hexadecimal(digits: 1...2, from: start)
            // Beyond ASCII it is a byte there, not a character.
            guard value < 0x80 else { throw refused(from: start) }
            return value
        default:
            let isPlain =
                letter.isASCII
                ? !letter.properties.isAlphabetic && !("0"..."9").contains(letter) : true
            guard isPlain else { throw refused(from: start) }
            return letter.value
        }
    }

    private mutating func hexadecimal(
        digits: ClosedRange<Int>, from start: Int
    ) throws(ExpressionFlaw) -> UInt32 {
        let (value, count) = takeHexadecimal(atMost: digits.upperBound)
        guard digits.contains(count), Unicode.Scalar(value) != nil else {
            throw refused(from: start)
        }
        return value
    }
}
