import SkeinBasics

/// How the rows of a round are dealt out: a function of the plan's order alone.
package struct LocalShape: Sendable, Equatable {
    /// H: AdamW steps that a logical worker takes in a round.
    package let steps: Int
    /// K: logical workers.
    package let workers: Int

    package init(steps: Int, workers: Int) {
        precondition(steps > 0 && workers > 0, "a round has steps and workers")
        self.steps = steps
        self.workers = workers
    }

    /// Batches of a round, over all workers.
    var batchesPerStep: Int { steps * workers }

    /// Deals rows out like cards: row i goes to worker i mod K. So every row is trained once, and in
    /// an epoch's last, short round the workers differ by one row at most. With fewer rows than
    /// workers the last ones get none and sit the round out.
    func dealt(_ rows: [Int]) -> [[Int]] {
        (0..<min(workers, rows.count)).map { worker in
            stride(from: worker, to: rows.count, by: workers).map { rows[$0] }
        }
    }
}

extension StepPlan {
    /// The local steps of a logical worker in a round, whose rows `PlannedStep.microBatches` has; for
    /// each step its micro-batches, and for each of these the indices of training rows.
    package func localSteps(of rows: [Int]) -> [[[Int]]] {
        stride(from: 0, to: rows.count, by: batchSize).map { start in
            let batch = rows[start..<min(start + batchSize, rows.count)]
            return MicroBatchGrouping.groups(
                lengths: batch.map { lengths[$0] }, target: microBatchTokens
            ).map { $0.map { batch[batch.startIndex + $0] } }
        }
    }

    /// Logical workers that take part in an epoch's last round, which has the rows that are left.
    package var workersInShortRound: Int {
        min(local?.workers ?? 0, rowsPerEpoch - (stepsPerEpoch - 1) * rowsPerStep)
    }

    /// AdamW steps that a logical worker has done before a round: its optimizer's own count.
    package func localStepsDone(by worker: Int, beforeRound round: Int) -> Int {
        guard let local else { return 0 }
        /// In a round of so many rows.
        func steps(ofRows count: Int) -> Int {
            let own = count / local.workers + (worker < count % local.workers ? 1 : 0)
            return (own + batchSize - 1) / batchSize
        }
        let last = rowsPerEpoch - (stepsPerEpoch - 1) * rowsPerStep
        let perEpoch = (stepsPerEpoch - 1) * local.steps + steps(ofRows: last)
        let (epochs, rounds) = (round - 1).quotientAndRemainder(dividingBy: stepsPerEpoch)
        return epochs * perEpoch + rounds * local.steps
    }

    /// Local steps that the learning rate's schedule counts: H for each round, short ones too.
    package var scheduledSteps: Int { stepCount * (local?.steps ?? 1) }

    /// The lists of rows that one pass computes, in a step.
    func rowsComputedTogether(in step: PlannedStep) -> [[Int]] {
        guard local != nil else { return step.microBatches }
        return step.microBatches.flatMap { localSteps(of: $0).joined() }
    }
}
