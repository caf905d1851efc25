/// Tokens of answers that are read together, sorted so that those of one adapter are neighbours.
struct RowBatch {
    struct Row {
        let sequence: CachedSequence
        let token: Int32
        /// The token's place in its sequence.
        let position: Int
        /// Which of the given sequences, and which of its tokens.
        let item: Int
        let index: Int
    }

    /// Rows of one adapter.
    struct Run {
        let projections: GenerationProjections
        let rows: Range<Int>
    }

    let rows: [Row]
    let runs: [Run]
    /// Each sequence once, and how many rows it has.
    let counts: [(sequence: CachedSequence, count: Int)]

    /// Shapes and ranges:
    ///   - tokens: the next tokens of each sequence, which is named once.
    init(_ tokens: [(sequence: CachedSequence, tokens: ArraySlice<Int32>)]) {
        var rows: [Row] = []
        var runs: [Run] = []
        var left = Array(tokens.indices)
        while let first = left.first {
            let adapter = tokens[first].sequence.projections
            let start = rows.count
            for item in left where tokens[item].sequence.projections === adapter {
                let sequence = tokens[item].sequence
                for (index, token) in tokens[item].tokens.enumerated() {
                    rows.append(
                        Row(
                            sequence: sequence, token: token, position: sequence.count + index,
                            item: item, index: index))
                }
            }
            left.removeAll { tokens[$0].sequence.projections === adapter }
            runs.append(Run(projections: adapter, rows: start..<rows.count))
        }
        self.rows = rows
        self.runs = runs
        counts = tokens.map { ($0.sequence, $0.tokens.count) }
    }

    /// Tokens that are in the cache already.
    init(cached sequence: CachedSequence, positions: Range<Int>) {
        rows = positions.map {
            Row(
                sequence: sequence, token: 0, position: $0, item: 0,
                index: $0 - positions.lowerBound)
        }
        runs = [Run(projections: sequence.projections, rows: 0..<positions.count)]
        counts = []
    }
}
