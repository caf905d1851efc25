/// How often the rows of each file of a run stand in an epoch (`--data A.jsonl:2,B.jsonl:0.5`).
///
/// With a weight w, each row of the file stands there floor(w) times, and the rest of w is a part
/// of the file's training rows that each epoch draws anew (`EpochDraw`). Which rows are held out
/// for validation is decided before, so that no copy of them is trained on.
package struct DataShares {
    /// A file's weight and its rows, whether they can be trained on or not.
    package struct Share {
        package let file: WeightedFile
        package let rowCount: Int

        package init(file: WeightedFile, rowCount: Int) {
            self.file = file
            self.rowCount = rowCount
        }
    }

    package let shares: [Share]

    package init(shares: [Share]) {
        self.shares = shares
    }

    /// The training rows: file after file, copy after copy, each in file order.
    ///
    /// Copy c of row n of all N rows has the number n + c N: each stands for itself in the order of an
    /// epoch, and has its own random numbers. If an epoch draws only a part of a copy, all of its
    /// rows are here.
    ///
    /// - Parameter rows: sequences of the rows that are trained on, numbered through over all files.
    /// - Returns: `rows` itself if every weight is 1; which of them an epoch has, unless it has all.
    /// - Throws: `RowError.tooManyRows`.
    package func applied(to rows: [TokenizedRow]) throws -> (rows: [TokenizedRow], draw: EpochDraw?)
    {
        guard shares.contains(where: { $0.file.weight != 1 }) else { return (rows, nil) }
        let total = shares.reduce(0) { $0 + $1.rowCount }
        let groups = TokenizedRow.groups(of: rows)
        var result: [TokenizedRow] = []
        var pieces: [EpochDraw.Piece] = []
        var (next, end, count) = (0, 0, 0)
        for (place, share) in shares.enumerated() {
            end += share.rowCount
            let first = next
            while next < groups.count, rows[groups[next].lowerBound].number < end { next += 1 }
            let own = groups[first..<next]
            let copies = share.file.copies
            guard (copies + 1) * total <= RowLimits.rows else {
                throw RowError.tooManyRows(path: share.file.path, limit: RowLimits.rows)
            }
            func append(copy: Int, drawing drawn: (Int, UInt32)? = nil) {
                for group in own {
                    result += rows[group].map { $0.renumbered($0.number + copy * total) }
                }
                pieces.append(EpochDraw.Piece(rows: count..<(count + own.count), drawn: drawn))
                count += own.count
            }
            for copy in 0..<copies { append(copy: copy) }
            let extra = share.file.extraRows(of: own.count)
            if extra > 0 { append(copy: copies, drawing: (extra, UInt32(place))) }
        }
        let isDrawn = pieces.contains { $0.drawn != nil }
        return (result, isDrawn ? EpochDraw(pieces: pieces) : nil)
    }
}
