import SkeinBasics

/// How one character of a set is written: as UTF-8, or inside of a JSON string with all its escapes.
/// Each set's network is built once and called from then on.
struct ScalarSubnetworks {
    /// What leads from one node to another by a character of a set.
    struct Entry {
        /// Bytes that are whole characters.
        var direct: [ClosedRange<UInt8>]
        /// The rest, if there is any.
        var callee: NetworkBuilder.Subnetwork?
    }

    private struct Key: Hashable {
        var set: ScalarSet
        var escaping: Bool
    }

    private var known: [Key: Entry] = [:]

    /// ASCII as it may stand in a JSON string: no controls, quotation marks and backslashes.
    static let plain = ScalarSet([0x20...0x21, 0x23...0x5B, 0x5D...0x7F])
    static let ascii = ScalarSet([0...0x7F])
    /// Letters behind a backslash, and what they stand for.
    private static let letters: [(letter: Character, scalar: UInt32)] = [
        ("\"", 0x22), ("\\", 0x5C), ("/", 0x2F), ("b", 0x08), ("f", 0x0C), ("n", 0x0A),
        ("r", 0x0D), ("t", 0x09),
    ]

    mutating func entry(
        _ set: ScalarSet, escaping: Bool, in builder: inout NetworkBuilder
    ) -> Entry {
        let key = Key(set: set, escaping: escaping)
        if let entry = known[key] { return entry }
        let bytes = set.intersection(escaping ? Self.plain : Self.ascii).ranges
            .map { UInt8($0.lowerBound)...UInt8($0.upperBound) }
        let isDirect = bytes.count <= GrammarLimits.directRanges
        let isWide = set.ranges.last.map { $0.upperBound > 0x7F } ?? false
        var entry = Entry(direct: isDirect ? bytes : [], callee: nil)
        if isWide || !isDirect || escaping && !set.isEmpty {
            let callee = builder.subnetwork(.character)
            if !isDirect {
                for range in bytes { builder.edge(callee.start, range, callee.end) }
            }
            Self.utf8(set, callee, in: &builder)
            if escaping { Self.escapes(set, callee, in: &builder) }
            entry.callee = callee
        }
        known[key] = entry
        return entry
    }

    /// Characters of more than one byte. A sequence that is longer than necessary is never written,
    /// as each length has the scalars that need it.
    private static func utf8(
        _ set: ScalarSet, _ callee: NetworkBuilder.Subnetwork,
        in builder: inout NetworkBuilder
    ) {
        let lengths: [(scalars: ScalarSet.Bounds, digits: Int, lead: UInt8)] = [
            (0x80...0x7FF, 2, 0xC0), (0x800...0xFFFF, 3, 0xE0), (0x1_0000...0x10_FFFF, 4, 0xF0),
        ]
        var network = DigitNetwork(bits: 6, alphabet: .bytes(from: 0x80))
        for (scalars, digits, lead) in lengths {
            let pieces = set.intersection(ScalarSet([scalars])).ranges
                .map { DigitNetwork.Piece(numbers: $0, to: callee.end) }
            network.write(
                pieces, digits: digits, first: .bytes(from: lead), from: callee.start,
                in: &builder)
        }
    }

    /// `\n` and the like where there is a letter, and for every character its number in UTF-16.
    private static func escapes(
        _ set: ScalarSet, _ callee: NetworkBuilder.Subnetwork,
        in builder: inout NetworkBuilder
    ) {
        let backslash = builder.node()
        builder.edge(callee.start, 0x5C, backslash)
        for (letter, scalar) in letters where set.contains(scalar) {
            builder.text(backslash, letter.utf8, callee.end)
        }
        let number = builder.node()
        builder.edge(backslash, 0x75, number)
        var network = DigitNetwork(bits: 4, alphabet: .hexadecimal)
        var pieces = set.intersection(ScalarSet([0...0xFFFF])).ranges
            .map { DigitNetwork.Piece(numbers: $0, to: callee.end) }
        // High surrogates stand between the two ranges of other scalars.
        let highs = highSurrogates(set, end: callee.end, &network, in: &builder)
        let place = pieces.firstIndex { $0.numbers.lowerBound > 0xD7FF } ?? pieces.count
        pieces.insert(contentsOf: highs, at: place)
        network.write(pieces, digits: 4, first: .hexadecimal, from: number, in: &builder)
    }

    /// High surrogates, each with what has to follow: its low ones. Those with the same ones share
    /// them.
    private static func highSurrogates(
        _ set: ScalarSet, end: NetworkBuilder.Node, _ network: inout DigitNetwork,
        in builder: inout NetworkBuilder
    ) -> [DigitNetwork.Piece] {
        let ranges = set.intersection(ScalarSet([0x1_0000...0x10_FFFF])).ranges
        var highs: [DigitNetwork.Piece] = []
        var followers: [[ScalarSet.Bounds]: NetworkBuilder.Node] = [:]
        var index = 0
        for high in UInt32(0xD800)...0xDBFF {
            let first = 0x1_0000 + (high - 0xD800) << 10
            let last = first + 0x3FF
            var lows: [ScalarSet.Bounds] = []
            while index < ranges.count, ranges[index].lowerBound <= last {
                let range = ranges[index]
                let low = 0xDC00 + max(range.lowerBound, first) - first
                lows.append(low...0xDC00 + min(range.upperBound, last) - first)
                if range.upperBound > last { break }
                index += 1
            }
            if lows.isEmpty { continue }
            let follower: NetworkBuilder.Node
            if let known = followers[lows] {
                follower = known
            } else {
                follower = builder.node()
                followers[lows] = follower
                let backslash = builder.node()
                let number = builder.node()
                builder.edge(follower, 0x5C, backslash)
                builder.edge(backslash, 0x75, number)
                network.write(
                    lows.map { DigitNetwork.Piece(numbers: $0, to: end) }, digits: 4,
                    first: .hexadecimal, from: number, in: &builder)
            }
            if let run = highs.last, run.to == follower, run.numbers.upperBound + 1 == high {
                highs[highs.count - 1].numbers = run.numbers.lowerBound...high
            } else {
                highs.append(DigitNetwork.Piece(numbers: high...high, to: follower))
            }
        }
        return highs
    }
}
