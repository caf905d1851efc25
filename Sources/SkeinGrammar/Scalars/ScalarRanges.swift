/// A set of characters: sorted, disjoint, non-touching closed ranges of Unicode scalars.
///
/// Surrogates (U+D800 to U+DFFF) are no scalars and never members, so no range crosses them and
/// equal sets have equal ranges. The hash is computed once: a set is the key of many lookups, and
/// one of a Unicode category has hundreds of ranges.
struct ScalarRanges: Sendable {
    typealias Bounds = ClosedRange<UInt32>

    static let none = ScalarRanges(normalized: [])
    static let all = ScalarRanges(normalized: [0...0xD7FF, 0xE000...0x10_FFFF])

    let ranges: [Bounds]
    private let digest: Int

    /// The scalars of some ranges, which may overlap and stand in any order. What is no scalar is
    /// left out.
    init(_ ranges: some Sequence<Bounds>) {
        self.init(normalized: Self.normalize(ranges))
    }

    /// One scalar, or nothing if the number is none.
    init(_ scalar: UInt32) {
        self.init(CollectionOfOne(scalar...scalar))
    }

    private init(normalized ranges: [Bounds]) {
        self.ranges = ranges
        var hasher = Hasher()
        hasher.combine(ranges)
        digest = hasher.finalize()
    }

    var isEmpty: Bool { ranges.isEmpty }

    /// How many scalars are members.
    var count: Int {
        ranges.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 }
    }

    /// Every scalar that is no member.
    var inverted: ScalarRanges {
        var gaps: [Bounds] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10_FFFF { gaps.append(next...0x10_FFFF) }
        return ScalarRanges(gaps)
    }

    /// Found by bisection.
    func contains(_ scalar: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < ranges.count && ranges[low].contains(scalar)
    }

    func union(_ other: ScalarRanges) -> ScalarRanges {
        ScalarRanges([ranges, other.ranges].joined())
    }

    func intersection(_ other: ScalarRanges) -> ScalarRanges {
        var common: [Bounds] = []
        var mine = 0
        var theirs = 0
        while mine < ranges.count && theirs < other.ranges.count {
            let a = ranges[mine]
            let b = other.ranges[theirs]
            let lower = max(a.lowerBound, b.lowerBound)
            let upper = min(a.upperBound, b.upperBound)
            if lower <= upper { common.append(lower...upper) }
            if a.upperBound < b.upperBound {
                mine += 1
            } else {
                theirs += 1
            }
        }
        return ScalarRanges(normalized: common)
    }

    func subtracting(_ other: ScalarRanges) -> ScalarRanges {
        intersection(other.inverted)
    }

    private static func normalize(_ ranges: some Sequence<Bounds>) -> [Bounds] {
        var pieces: [Bounds] = []
        for range in ranges {
            let top = min(range.upperBound, 0x10_FFFF)
            if range.lowerBound <= min(top, 0xD7FF) {
                pieces.append(range.lowerBound...min(top, 0xD7FF))
            }
            if max(range.lowerBound, 0xE000) <= top {
                pieces.append(max(range.lowerBound, 0xE000)...top)
            }
        }
        pieces.sort { $0.lowerBound < $1.lowerBound }
        var merged: [Bounds] = []
        for piece in pieces {
            if let last = merged.last, piece.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] =
                    last.lowerBound...max(last.upperBound, piece.upperBound)
            } else {
                merged.append(piece)
            }
        }
        return merged
    }
}

extension ScalarRanges: Hashable {
    static func == (a: ScalarRanges, b: ScalarRanges) -> Bool {
        a.digest == b.digest && a.ranges == b.ranges
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}
