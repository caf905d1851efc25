/// How the rows of a step become micro-batches.
///
/// The number of micro-batches is ceil(tokens / target), raised to the next of 2, 4, 8, 16, 24, 32,
/// ... and never more than there are rows. A step whose micro-batches are equally large and whose
/// number is a multiple of the workers' (1, 2, 4 or 8 threads) ends on all of them nearly together;
/// three micro-batches on two threads would leave one of them without its own for a quarter of the
/// step, and it could help with products alone (`WorkSharing`). Products lose little by small
/// micro-batches: 100 rows reach some 95 % of the rate of 330 (docs/decisions/0008).
///
/// Rows are placed longest first, each into the micro-batch that has the fewest tokens so far
/// (Graham 1969, "longest processing time": at most 4/3 of the best possible maximum). Ties go to
/// the earlier row and to the lower index, so the result is a function of the lengths alone.
enum MicroBatchGrouping {
    /// Groups the rows of a step.
    ///
    /// Micro-batches are ordered by their tokens, most first (what starts early must not be what
    /// takes long to end), ties by their first row.
    ///
    /// - Parameters:
    ///   - lengths: tokens of each row of the step.
    ///   - target: about how many tokens a micro-batch has.
    /// - Returns: for each micro-batch the places of its rows, ascending.
    static func groups(lengths: [Int], target: Int) -> [[Int]] {
        let count = self.count(rows: lengths.count, tokens: lengths.reduce(0, +), target: target)
        guard count > 0 else { return [] }
        var groups = [(rows: [Int], tokens: Int)](repeating: ([], 0), count: count)
        let longestFirst = lengths.indices.sorted { (-lengths[$0], $0) < (-lengths[$1], $1) }
        for row in longestFirst {
            var lightest = 0
            for index in 1..<max(count, 1) where groups[index].tokens < groups[lightest].tokens {
                lightest = index
            }
            groups[lightest].rows.append(row)
            groups[lightest].tokens += lengths[row]
        }
        for index in groups.indices { groups[index].rows.sort() }
        return groups.sorted { (-$0.tokens, $0.rows[0]) < (-$1.tokens, $1.rows[0]) }.map(\.rows)
    }

    /// Number of micro-batches.
    static func count(rows: Int, tokens: Int, target: Int) -> Int {
        let needed = max(2, (tokens - 1) / max(target, 1) + 1)
        var unit = 2
        while unit < min(needed, 8) { unit *= 2 }
        let rounded = (needed + unit - 1) / unit * unit
        return min(rows, rounded)
    }
}
