/// A set of code points: closed ranges in order, none of which touches the next.
struct ScalarSet: Sendable, Equatable {
    typealias Bounds = ClosedRange<UInt32>

    private(set) var ranges: [Bounds]

    static let lastScalar: UInt32 = 0x10FFFF
    static let all = ScalarSet([0...lastScalar])
    static let none = ScalarSet([])

    /// - Parameter ranges: in any order, overlapping or not.
    init(_ ranges: [Bounds]) {
        var merged: [Bounds] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] =
                    last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.ranges = merged
    }

    init(_ scalar: UInt32) {
        ranges = [scalar...scalar]
    }

    /// Reads "41-5A AA", as the generated tables are written.
    init(table: String) {
        self.init(
            table.split { $0 == " " || $0 == "\n" }.compactMap { item in
                let bounds = item.split(separator: "-").compactMap { UInt32($0, radix: 16) }
                guard let first = bounds.first, let last = bounds.last, first <= last else {
                    return nil
                }
                return first...last
            })
    }

    var isEmpty: Bool { ranges.isEmpty }

    var inverted: ScalarSet {
        var gaps: [Bounds] = []
        var next: UInt32 = 0
        for range in ranges {
            if next < range.lowerBound { gaps.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= Self.lastScalar { gaps.append(next...Self.lastScalar) }
        return ScalarSet(gaps)
    }

    func union(_ other: ScalarSet) -> ScalarSet {
        ScalarSet(ranges + other.ranges)
    }

    func intersection(_ other: ScalarSet) -> ScalarSet {
        var common: [Bounds] = []
        var i = 0
        var j = 0
        while i < ranges.count, j < other.ranges.count {
            let low = max(ranges[i].lowerBound, other.ranges[j].lowerBound)
            let high = min(ranges[i].upperBound, other.ranges[j].upperBound)
            if low <= high { common.append(low...high) }
            if ranges[i].upperBound < other.ranges[j].upperBound { i += 1 } else { j += 1 }
        }
        return ScalarSet(common)
    }

    func contains(_ scalar: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= scalar
    }
}
