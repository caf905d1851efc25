import SkeinBasics

/// An expression as instructions for `ExpressionMatcher`.
struct ExpressionProgram: Sendable {
    enum Operation: UInt8, Sendable {
        /// Takes one character of `set`.
        case character
        /// Takes `x` to `y` characters of `set`, as many as there are, and gives none back.
        case possessive
        /// Likewise, but gives them back one by one.
        case greedy
        /// Takes `x` characters of `set`, and then one more at a time, up to `y`.
        case lazy
        /// Goes on at `x`, and if that fails at `y`.
        case split
        case jump
        /// Remembers the depth of the stack in slot `x`, and the position.
        case open
        /// Drops what was pushed since slot `x` was opened.
        case commit
        /// Likewise, and goes back to its position.
        case commitBack
        /// Like `open` for a negative look-around: goes on at `y` if the body fails.
        case openNegative
        /// The body of a negative look-around has matched: fails.
        case commitFail
        /// Goes back by `x` characters.
        case back
        /// Checks the anchor `x`.
        case anchor
        /// Remembers the position in slot `x`, until it is taken back.
        case mark
        /// Goes to `y` if nothing was taken since the mark in slot `x`.
        case leaveIfEmpty
        case match
    }

    struct Instruction: Sendable {
        var operation: Operation
        var set: Int32 = 0
        var x: Int32 = 0
        var y: Int32 = 0
    }

    /// What `RememberedStates` needs to know of an instruction.
    struct State: Sendable {
        /// Its number among those that choose; -1: it does not choose, or where it leads to depends on
        /// more than the place.
        var number: Int32 = -1
        /// The end of the look-around that it stands in, or -1. In an atomic group it is -1.
        var lookAroundEnd: Int32 = -1
    }

    var code: [Instruction] = []
    /// As many as instructions.
    var states: [State] = []
    var stateCount = 0
    /// Where the alternatives of the whole expression begin.
    var entries: [Int32] = []
    var slotCount = 0
    var classes = ScalarClasses()
    /// For each class of characters, the alternatives that can begin with one: bit i is
    /// `entries[i]`. Likewise for each ASCII character.
    var first: [UInt64] = []
    var firstOfASCII: [UInt64] = []
    /// What can follow that character.
    var pairs = ExpressionPairs()
    /// The alternatives that can match at the end of a text.
    var firstAtEnd: UInt64 = 0
    /// The set behind `\b`, or -1.
    var wordSet: Int32 = -1

    /// The first place of a text at which a match could begin, its end apart; characters beyond ASCII
    /// are not looked at, and count as such a place.
    func firstPlaceOfMatch(in text: UnsafeBufferPointer<UInt8>) -> Int {
        firstOfASCII.withUnsafeBufferPointer { first in
            var place = 0
            while place < text.count {
                let byte = text[place]
                if byte >= 0x80 { break }
                if first[Int(byte)] != 0,
                    pairs.allow(byte, place + 1 < text.count ? text[place + 1] : nil)
                {
                    break
                }
                place += 1
            }
            return place
        }
    }
}

/// A partition of all code points: two are in one class if no set of an expression tells them apart.
struct ScalarClasses: Sendable {
    /// 4,352 blocks of 256 code points, equal blocks of one class stored once.
    private(set) var blocks: [UInt16] = []
    private(set) var classes: [UInt8] = []
    /// Whether class c is in set s, at s * 256 + c; ASCII character a, at s * 128 + a.
    private(set) var members: [UInt8] = []
    private(set) var asciiMembers: [UInt8] = []
    /// One code point of each class.
    private(set) var samples: [UInt32] = []

    init() {}

    init(_ sets: [ScalarSet]) throws(ExpressionFlaw) {
        guard sets.count <= ExpressionLimits.sets else { throw .tooLarge }
        var cuts: [UInt32] = [0]
        for set in sets {
            for range in set.ranges { cuts += [range.lowerBound, range.upperBound + 1] }
        }
        let starts = Array(Set(cuts)).sorted().filter { $0 <= ScalarSet.lastScalar }
        // Bit s of a stretch between two cuts says whether it is in set s.
        var signatures = [SIMD4<UInt64>](repeating: .zero, count: starts.count)
        for (number, set) in sets.enumerated() {
            var stretch = 0
            for range in set.ranges {
                while starts[stretch] < range.lowerBound { stretch += 1 }
                while stretch < starts.count, starts[stretch] <= range.upperBound {
                    signatures[stretch][number / 64] |= 1 << UInt64(number % 64)
                    stretch += 1
                }
                if stretch == starts.count { break }
            }
        }
        var numbers: [SIMD4<UInt64>: UInt8] = [:]
        var flat = [UInt8](repeating: 0, count: Int(ScalarSet.lastScalar) + 1)
        for (stretch, signature) in signatures.enumerated() {
            let end = stretch + 1 < starts.count ? Int(starts[stretch + 1]) : flat.count
            // No set has surrogates, and no text does: they must not cost a class.
            if starts[stretch] == 0xD800, end == 0xE000 { continue }
            if numbers[signature] == nil {
                guard samples.count < ExpressionLimits.classes else { throw .tooLarge }
                numbers[signature] = UInt8(samples.count)
                samples.append(starts[stretch])
            }
            let number = numbers[signature] ?? 0
            for scalar in Int(starts[stretch])..<end { flat[scalar] = number }
        }
        store(flat)
        for set in sets {
            var row = [UInt8](repeating: 0, count: 256)
            for (number, sample) in samples.enumerated() where set.contains(sample) {
                row[number] = 1
            }
            members += row
            asciiMembers += (0..<128).map { row[Int(flat[$0])] }
        }
    }

    /// The class of each ASCII character.
    var asciiKinds: [UInt8] { (0..<128).map { classes[Int(blocks[0]) << 8 | $0] } }

    private mutating func store(_ flat: [UInt8]) {
        var stored: [ArraySlice<UInt8>: UInt16] = [:]
        for start in stride(from: 0, to: flat.count, by: 256) {
            let block = flat[start..<(start + 256)]
            if let number = stored[block] {
                blocks.append(number)
                continue
            }
            let number = UInt16(classes.count / 256)
            stored[block] = number
            blocks.append(number)
            classes += block
        }
    }
}
