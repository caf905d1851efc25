/// A set of characters: sorted, disjoint, non-touching closed ranges of Unicode scalars.
///
/// Surrogates (U+D800 to U+DFFF) are no scalars and never members, so no range crosses them and
/// equal sets have equal ranges. The hash is computed once: a set is the key of many lookups, and
/// one of a Unicode category has hundreds of ranges.
package struct ScalarSet: Sendable {
    package typealias Bounds = ClosedRange<UInt32>

    package static let lastScalar: UInt32 = 0x10_FFFF
    package static let none = ScalarSet(normalized: [])
    package static let all = ScalarSet([0...lastScalar])

    package let ranges: [Bounds]
    private let digest: Int

    /// The scalars of some ranges, which may overlap and stand in any order. What is no scalar is
    /// left out.
    package init(_ ranges: [Bounds]) {
        self.init(normalized: Self.normalize(ranges))
    }

    /// One scalar, or nothing if the number is none.
    package init(_ scalar: UInt32) {
        self.init([scalar...scalar])
    }

    /// Reads "41-5A AA", as the generated tables are written.
    package init(table: String) {
        self.init(
            table.split(whereSeparator: \.isWhitespace).map { item in
                let bounds = item.split(separator: "-", omittingEmptySubsequences: false)
                    .map { UInt32($0, radix: 16) }
                guard let first = bounds[0], let last = bounds[bounds.count - 1],
                    bounds.count <= 2, first <= last, last <= Self.lastScalar
                else { preconditionFailure("A table is generated wrongly: \(item)") }
                return first...last
            })
    }

    private init(normalized ranges: [Bounds]) {
        self.ranges = ranges
        var hasher = Hasher()
        ranges.withUnsafeBytes { hasher.combine(bytes: $0) }
        digest = hasher.finalize()
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// How many scalars are members.
    package var count: Int {
        ranges.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 }
    }

    /// Every scalar that is no member.
    package var inverted: ScalarSet {
        var gaps: [Bounds] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.lastScalar { gaps.append(next...Self.lastScalar) }
        return ScalarSet(gaps)
    }

    /// Found by bisection.
    package func contains(_ scalar: UInt32) -> Bool {
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

    package func union(_ other: ScalarSet) -> ScalarSet {
        var merged: [Bounds] = []
        merged.reserveCapacity(ranges.count + other.ranges.count)
        var theirs = other.ranges[...]
        for range in ranges {
            while let next = theirs.first, next.lowerBound < range.lowerBound {
                Self.append(theirs.removeFirst(), to: &merged)
            }
            Self.append(range, to: &merged)
        }
        for range in theirs { Self.append(range, to: &merged) }
        return ScalarSet(normalized: merged)
    }

    package func intersection(_ other: ScalarSet) -> ScalarSet {
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
        return ScalarSet(normalized: common)
    }

    package func subtracting(_ other: ScalarSet) -> ScalarSet {
        intersection(other.inverted)
    }

    private static func normalize(_ ranges: [Bounds]) -> [Bounds] {
        var pieces: [Bounds] = []
        pieces.reserveCapacity(ranges.count + 1)
        for range in ranges {
            let top = min(range.upperBound, lastScalar)
            if range.lowerBound <= min(top, 0xD7FF) {
                pieces.append(range.lowerBound...min(top, 0xD7FF))
            }
            if max(range.lowerBound, 0xE000) <= top {
                pieces.append(max(range.lowerBound, 0xE000)...top)
            }
        }
        pieces.sort { $0.lowerBound < $1.lowerBound }
        var merged: [Bounds] = []
        merged.reserveCapacity(pieces.count)
        for piece in pieces { append(piece, to: &merged) }
        return merged
    }

    /// Adds a range that begins no earlier than the last.
    private static func append(_ range: Bounds, to merged: inout [Bounds]) {
        if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
            merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else {
            merged.append(range)
        }
    }
}

extension ScalarSet: Hashable {
    package static func == (a: ScalarSet, b: ScalarSet) -> Bool {
        a.digest == b.digest && a.ranges == b.ranges
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}
