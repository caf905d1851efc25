/// A row of characters as high as numbers. Pure.
package enum Sparkline {
    private static let blocks: [Character] = Array("▁▂▃▄▅▆▇█")
    private static let letters: [Character] = Array("_.-=+*%#")

    /// - Parameters:
    ///   - values: In order; what is not finite is left out.
    ///   - columns: The most characters; more values are averaged in groups.
    ///   - unicode: Whether the terminal shows more than ASCII.
    /// - Returns: One character for each group, or nothing for fewer than two values.
    package static func text(_ values: [Double], columns: Int, unicode: Bool) -> String {
        let values = values.filter(\.isFinite)
        guard columns > 0, values.count > 1 else { return "" }
        let count = min(columns, values.count)
        let groups = (0..<count).map { index in
            let group = values[
                (index * values.count / count)..<((index + 1) * values.count / count)]
            return group.reduce(0) { $0 + $1 / Double(group.count) }
        }
        let (low, high) = (groups.min() ?? 0, groups.max() ?? 0)
        let signs = unicode ? blocks : letters
        return String(
            groups.map { value in
                // Halves, since the difference of two large numbers may not be finite.
                let share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0
                return signs[Int((min(max(share, 0), 1) * Double(signs.count - 1)).rounded())]
            })
    }
}
