/// How the rows of a step become micro-batches.
///
/// The number of micro-batches is ceil(tokens / target), raised to the next of 2, 4, 8, 16, 24, 32,
/// ... but at most the number of rows. If micro-batches are equally large and their number is a
/// multiple of the number of threads (1, 2, 4 or 8), all threads end a step nearly together. Three
/// on two threads would leave a quarter of the threads' time for nothing but helping with products
/// (`WorkSharing`). Small micro-batches cost products little: 100 rows reach some 95 % of the rate
/// of 330 (docs/decisions/0008).
///
/// `slots` is how many threads are expected to compute a step at once (`--slots`). The rows are
/// first divided among them by cost, which counts loss, too. Then rows are moved or exchanged
/// between the largest share and others as long as that makes it smaller. Each share is cut into
/// equally many micro-batches, the number nearest to the target. Workers in different processes
/// cannot help each other with products, so nothing else evens out a step between them.
///
/// Rows are placed longest first, each into the micro-batch that has the fewest tokens so far
/// (Graham 1969, "longest processing time": at most 4/3 of the best possible maximum). Ties go to
/// the earlier row and to the lower index, so the result is a function of the lengths alone, with
/// `slots` also of costs and slots.
enum MicroBatchGrouping {
    /// More rows are even enough once placed (32 rows: to 0.1 %); trying all pairs takes long.
    private static let mostEvenedRows = 64

    /// Groups the rows of a step.
    ///
    /// Micro-batches are ordered by their tokens, most first (the longest must not start last),
    /// those of equal size by their first row.
    ///
    /// - Parameters:
    ///   - lengths: tokens of each row of the step.
    ///   - target: about how many tokens a micro-batch has.
    /// - Returns: for each micro-batch the indices of its rows, ascending.
    static func groups(lengths: [Int], target: Int) -> [[Int]] {
        let count = count(rows: lengths.count, tokens: lengths.reduce(0, +), target: target)
        return placed(lengths, count: count).map(\.rows)
    }

    /// Groups the rows of a step so that `slots` threads that compute it at once end together.
    ///
    /// - Parameters:
    ///   - lengths: tokens of each row of the step.
    ///   - costs: what each row takes, in any unit; they decide instead of tokens.
    ///   - target: about how many tokens a micro-batch has.
    ///   - slots: threads, at least 1.
    /// - Returns: for each micro-batch the indices of its rows, ascending.
    static func groups(lengths: [Int], costs: [Int], target: Int, slots: Int) -> [[Int]] {
        let turns = turns(tokens: lengths.reduce(0, +), target: target, slots: slots)
        var shares = placed(costs, count: min(costs.count, slots))
        if shares.count > 1, costs.count <= mostEvenedRows {
            while even(&shares, costs) {}
        }
        let groups = shares.flatMap { share in
            placed(share.rows.map { costs[$0] }, count: min(share.rows.count, turns)).map { group in
                (rows: group.rows.map { share.rows[$0] }, cost: group.cost)
            }
        }
        return sorted(groups).map(\.rows)
    }

    private static func placed(_ costs: [Int], count: Int) -> [Group] {
        guard count > 0 else { return [] }
        var groups = [Group](repeating: ([], 0), count: count)
        let longestFirst = costs.indices.sorted { (-costs[$0], $0) < (-costs[$1], $1) }
        for row in longestFirst {
            var lightest = 0
            for index in 1..<groups.count where groups[index].cost < groups[lightest].cost {
                lightest = index
            }
            groups[lightest].rows.append(row)
            groups[lightest].cost += costs[row]
        }
        return sorted(groups)
    }

    private static func sorted(_ groups: [Group]) -> [Group] {
        groups.map { (rows: $0.rows.sorted(), cost: $0.cost) }
            .sorted { (-$0.cost, $0.rows[0]) < (-$1.cost, $1.rows[0]) }
    }

    private typealias Group = (rows: [Int], cost: Int)

    /// Moves a row of the largest group to another group, or exchanges it for a smaller one there:
    /// whichever leaves the larger of the two groups smallest; of equals, the first.
    ///
    /// - Returns: false if nothing makes the largest group smaller. Each change makes the groups
    ///   less unequal, so repeating it ends.
    private static func even(_ groups: inout [Group], _ costs: [Int]) -> Bool {
        var heaviest = 0
        for index in groups.indices where groups[index].cost > groups[heaviest].cost {
            heaviest = index
        }
        let most = groups[heaviest].cost
        var best: (cost: Int, group: Int, row: Int, other: Int?)?
        func consider(_ row: Int, _ group: Int, _ other: Int?) {
            let moved = costs[row] - (other.map { costs[$0] } ?? 0)
            let cost = max(most - moved, groups[group].cost + moved)
            guard moved > 0, cost < best?.cost ?? most else { return }
            best = (cost, group, row, other)
        }
        for index in groups.indices where index != heaviest {
            for row in groups[heaviest].rows {
                if groups[heaviest].rows.count > 1 { consider(row, index, nil) }
                for other in groups[index].rows { consider(row, index, other) }
            }
        }
        guard let best else { return false }
        let moved = costs[best.row] - (best.other.map { costs[$0] } ?? 0)
        groups[heaviest].rows.removeAll { $0 == best.row }
        groups[best.group].rows.removeAll { $0 == best.other }
        groups[best.group].rows.append(best.row)
        if let other = best.other { groups[heaviest].rows.append(other) }
        groups[heaviest].cost -= moved
        groups[best.group].cost += moved
        return true
    }

    /// Micro-batches of each slot: the number nearest to the target.
    static func turns(tokens: Int, target: Int, slots: Int) -> Int {
        let turn = max(target, 1) * slots
        return max(1, (tokens + turn / 2) / turn)
    }

    /// The most micro-batches that a step of these rows can have.
    static func count(rows: Int, tokens: Int, target: Int, slots: Int) -> Int {
        min(rows, turns(tokens: tokens, target: target, slots: slots) * slots)
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
