import SkeinBasics

extension ExpressionParser {
    /// `[...]`, with ranges, inner classes and intersections.
    mutating func characterClass() throws(ExpressionFlaw) -> ScalarSet {
        try nested { (parser) throws(ExpressionFlaw) in try parser.classBody() }
    }

    private mutating func classBody() throws(ExpressionFlaw) -> ScalarSet {
        let start = position
        position += 1
        let isNegative = take("^")
        guard next != "]" else {
            position += 1
            throw refused(from: start)
        }
        var whole: ScalarSet?
        var part: [ScalarSet.Bounds] = []
        while !take("]") {
            guard next != nil else { throw .unbalanced(at: start) }
            if take("&&") {
                let set = ScalarSet(part)
                whole = whole?.intersection(set) ?? set
                part = []
                continue
            }
            try classItem(into: &part)
        }
        var set = ScalarSet(part)
        if let whole { set = whole.intersection(set) }
        if options.ignoresCase { set = try folded(set, from: start) }
        return isNegative ? set.inverted : set
    }

    /// One character, range, escape or inner class.
    private mutating func classItem(into part: inout [ScalarSet.Bounds]) throws(ExpressionFlaw) {
        let start = position
        if take("[:") {
            part += try posixClass(from: start).ranges
            return
        }
        if next == "[" {
            part += try characterClass().ranges
            return
        }
        guard let low = try classCharacter(into: &part) else { return }
        guard next == "-", let second = peek(1), second != "]",
            !(second == "&" && peek(2) == "&")
        else {
            part.append(low...low)
            return
        }
        position += 1
        guard next != "[", let high = try classCharacter(into: &part), low <= high else {
            throw refused(from: start)
        }
        part.append(low...high)
    }

    /// A character's value; nil: it was an escape for a set, which was added.
    private mutating func classCharacter(
        into part: inout [ScalarSet.Bounds]
    ) throws(ExpressionFlaw) -> UInt32? {
        let start = position
        guard let scalar = next else { throw .unbalanced(at: start) }
        guard scalar == "\\" else {
            position += 1
            return scalar.value
        }
        position += 1
        if let set = try escapedSet(from: start) {
            part += set.ranges
            return nil
        }
        if take("b") { return 0x08 }
        return try escapedCharacter(from: start)
    }

    /// `alpha:]` or `^alpha:]`.
    private mutating func posixClass(from start: Int) throws(ExpressionFlaw) -> ScalarSet {
        let isNegative = take("^")
        let name = takeName(before: ":") { $0.utf8.count < 12 }
        guard take(":]"), let set = ScalarSet(posix: name) else { throw refused(from: start) }
        return isNegative ? set.inverted : set
    }
}
