import SkeinBasics

/// Classes: `[a-z_]` and `[^"\\]`.
extension PatternParser {
    /// The members of a class; the parser stands at its opening bracket.
    mutating func characterClass() throws(PatternFlaw) -> ScalarSet {
        let start = position
        position += 1
        let isNegated = take("^")
        if next == "]" { throw flaw(.emptyClass, at: start) }
        var ranges: [ScalarSet.Bounds] = []
        while !take("]") {
            if next == nil { throw flaw(.unterminatedClass, at: start) }
            let place = position
            let isClass = isClassEscape
            let first = try member(from: start)
            if next == "-", let second = peek(1), second != "]" {
                position += 1
                if isClass || isClassEscape { throw flaw(.classInRange, at: place) }
                let last = try member(from: start)
                guard let low = first.certain.ranges.first?.lowerBound,
                    let high = last.certain.ranges.first?.lowerBound
                else { throw flaw(.notACharacter, at: place) }
                guard low <= high else { throw flaw(.descendingRange, at: place) }
                ranges.append(low...high)
                try spend(ranges: 1, at: start)
            } else {
                let set = isNegated != isWide ? first.possible : first.certain
                try spend(ranges: set.ranges.count, at: start)
                ranges += set.ranges
            }
        }
        let set = ScalarSet(ranges)
        return isNegated ? set.inverted : set
    }

    /// One character of a class, or an escape that stands for several.
    private mutating func member(from start: Int) throws(PatternFlaw) -> ScalarClass {
        guard let character = next else { throw flaw(.unterminatedClass, at: start) }
        if character == "\\" { return try escape(inClass: true) }
        if character == "[", isPosixClass { throw flaw(.posixClass) }
        position += 1
        return ScalarClass(ScalarSet(character.value))
    }

    /// Whether `[:name:]` comes next.
    private var isPosixClass: Bool {
        guard peek(1) == ":" else { return false }
        var distance = 2
        if peek(distance) == "^" { distance += 1 }
        while let letter = peek(distance), ("a"..."z").contains(letter), distance < 16 {
            distance += 1
        }
        return peek(distance) == ":" && peek(distance + 1) == "]"
    }
    /// Whether an escape that stands for several characters comes next.
    private var isClassEscape: Bool {
        guard next == "\\", let letter = peek(1) else { return false }
        return "dDwWsSpP".unicodeScalars.contains(letter)
    }
}
