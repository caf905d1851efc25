import SkeinCoordination
import SkeinRows
import SkeinTraining

// What is sent, from what is computed, and back.

extension LeaseGrant.Row {
    init(_ row: TokenizedRow) {
        self.init(
            number: UInt32(truncatingIfNeeded: row.number), ids: row.ids, targets: row.targets)
    }
}

extension TokenizedRow {
    package init(_ row: LeaseGrant.Row) {
        self.init(number: Int(row.number), ids: row.ids, targets: row.targets)
    }
}

extension LocalWork {
    /// How many rows each micro-batch of each step has.
    var sizes: [[Int]] { steps.map { $0.map(\.count) } }

    /// Work whose rows have come in order: as many as `sizes` say.
    package init(
        round: Int, worker: Int, stepsDone: Int, scheduledSteps: Int, rows: [TokenizedRow],
        sizes: [[Int]]
    ) {
        var next = 0
        self.init(
            round: round, worker: worker, stepsDone: stepsDone, scheduledSteps: scheduledSteps,
            steps: sizes.map { step in
                step.map { size in
                    defer { next += size }
                    return Array(rows[next..<(next + size)])
                }
            })
    }
}

extension StateReplay {
    /// What rebuilds the state of `key`'s logical worker at the start of the round after `history`.
    init(_ key: WorkKey, _ history: LocalHistory, scheduledSteps: Int) {
        let replay = history.replay(of: Int(key.index))
        self.init(
            key: key, round: UInt32(history.round),
            stepsDone: UInt64(replay.state?.steps ?? 0), scheduledSteps: UInt64(scheduledSteps),
            state: replay.state?.packed ?? [], outer: ParameterCodec.snapshot(replay.outer.values),
            rounds: replay.rounds.map { round in
                Round(
                    rows: round.work?.rows.map { LeaseGrant.Row($0) } ?? [],
                    steps: round.work?.sizes ?? [], average: round.average)
            })
    }

    /// The same for the engine.
    ///
    /// - Parameters:
    ///   - count: parameters of the adapter.
    ///   - check: refuses rows that the model cannot compute.
    /// - Returns: what the engine computes again.
    /// - Throws: `CodecError`; what `check` throws.
    package func replay(count: Int, check: ([Row]) throws -> [TokenizedRow]) throws -> LocalReplay {
        // More than any run has, and far from where counting on would overflow.
        guard stepsDone <= 1 << 48, scheduledSteps <= 1 << 48 else {
            throw CodecError.wrongCount(
                expected: 1 << 48, found: Int(clamping: max(stepsDone, scheduledSteps)))
        }
        let start = Int(stepsDone)
        return LocalReplay(
            state: state.isEmpty
                ? nil : try LocalState(packed: state, count: count, steps: start),
            outer: OuterState(
                values: try ParameterCodec.parameters(of: outer, count: 2 * count)),
            rounds: try rounds.enumerated().map { place, round in
                let rows = try check(round.rows)
                return LocalReplay.Round(
                    work: rows.isEmpty
                        ? nil
                        : LocalWork(
                            round: Int(self.round) + 1 + place, worker: Int(key.index),
                            stepsDone: 0, scheduledSteps: Int(clamping: scheduledSteps),
                            rows: rows, sizes: round.steps),
                    average: round.average)
            })
    }

    package typealias Row = LeaseGrant.Row
}
