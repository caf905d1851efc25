/// How many rows have how many tokens: bars of equal width, and one for the few longest rows.
package struct LengthHistogram: Sendable, Equatable {
    package struct Bar: Sendable, Equatable {
        package let tokens: ClosedRange<Int>
        package let rows: Int
    }

    /// From the shortest rows to the longest, without gaps.
    package let bars: [Bar]

    /// The share of rows that bars of equal width show: a few very long rows would make all others
    /// one bar.
    private static let share = 0.97

    /// - Parameters:
    ///   - lengths: tokens of each row.
    ///   - most: the most bars of equal width.
    ///   - border: a length that ends a bar, so that a bar has either rows that are cut or others.
    package init(_ lengths: [Int], most: Int = 16, border: Int? = nil) {
        guard let longest = lengths.max(), most > 0 else {
            bars = []
            return
        }
        let usual = lengths.sorted()[Int(Double(lengths.count - 1) * Self.share)]
        let width = Self.width(usual, most)
        let regular = max(1, (usual + width - 1) / width) * width
        var bars: [Bar] = []
        let shortest = max(1, lengths.min() ?? 1)
        var start = (shortest - 1) / width * width + 1
        while start <= max(longest, 1) {
            var end = start > regular ? longest : (start + width - 1) / width * width
            if let border, start <= border, border < end { end = border }
            let range = start...max(start, end)
            // Rows without tokens stand in the first bar.
            bars.append(Bar(tokens: range, rows: lengths.count { range.contains(max($0, 1)) }))
            start = range.upperBound + 1
        }
        self.bars = bars
    }

    /// A width that people read at a glance: 1, 2 or 5 times a power of ten.
    private static func width(_ longest: Int, _ most: Int) -> Int {
        var (scale, step) = (1, 0)
        let steps = [1, 2, 5]
        while (longest + scale * steps[step] - 1) / (scale * steps[step]) > most {
            step += 1
            if step == steps.count { (scale, step) = (scale * 10, 0) }
        }
        return scale * steps[step]
    }
}
