import SkeinBasics

/// How often the rows of each file of a run stand in an epoch (`--data A.jsonl:2,B.jsonl:0.5`).
///
/// Of a weight w, each row of the file stands there floor(w) times, and the rest of w is the
/// beginning of a permutation of the file's training rows that depends on the seed, the file's place
/// and their count. Which rows are held out for validation is decided before, so that no copy of them is
/// trained on.
struct DataShares {
    /// A file's weight and its rows, whether they can be trained on or not.
    struct Share {
        let file: WeightedFile
        let rowCount: Int
    }

    let shares: [Share]
    let seed: UInt64

    /// The rows of an epoch: file after file, copy after copy, each in file order.
    ///
    /// Copy c of row n of all N rows has the number n + c N: each stands for itself in the order of an
    /// epoch, and has its own random numbers.
    ///
    /// - Parameter rows: sequences of the rows that are trained on, numbered through over all files.
    /// - Returns: `rows` itself if every weight is 1.
    /// - Throws: `TrainingError.tooManyRows`.
    func applied(to rows: [TokenizedRow]) throws -> [TokenizedRow] {
        guard shares.contains(where: { $0.file.weight != 1 }) else { return rows }
        let total = shares.reduce(0) { $0 + $1.rowCount }
        let groups = TokenizedRow.groups(of: rows)
        var result: [TokenizedRow] = []
        var (next, end) = (0, 0)
        for (place, share) in shares.enumerated() {
            end += share.rowCount
            let first = next
            while next < groups.count, rows[groups[next].lowerBound].number < end { next += 1 }
            let own = groups[first..<next]
            let copies = share.file.copies
            guard (copies + 1) * total <= Limits.rows else {
                throw TrainingError.tooManyRows(path: share.file.path, limit: Limits.rows)
            }
            func append(_ group: Range<Int>, copy: Int) {
                result += rows[group].map { $0.renumbered($0.number + copy * total) }
            }
            for copy in 0..<copies {
                for group in own { append(group, copy: copy) }
            }
            let extra = share.file.extraRows(of: own.count)
            let order = AddressedRandom(seed: seed, purpose: .dataShare).permutation(
                count: own.count, UInt32(place))
            for index in order.prefix(extra).sorted() {
                append(own[own.startIndex + index], copy: copies)
            }
        }
        return result
    }
}
