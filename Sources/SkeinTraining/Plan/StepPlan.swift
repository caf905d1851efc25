import SkeinBasics
import SkeinRows

/// One optimizer step: its epoch and its micro-batches.
package struct PlannedStep: Sendable, Equatable {
    /// Counted from 1, through all epochs.
    package let step: Int
    /// Counted from 1.
    package let epoch: Int
    /// Whether this is the last step of its epoch.
    package let endsEpoch: Bool
    /// For each micro-batch, indices of training rows, in the order of computation; of a run with
    /// local steps, for each logical worker (`StepPlan.localSteps`).
    package let microBatches: [[Int]]

    package var rowCount: Int { microBatches.reduce(0) { $0 + $1.count } }
}

/// Which rows are trained in which step, in which micro-batch, in which order: a function of the
/// configuration and of the rows' lengths alone, never of who computes.
///
/// Every epoch visits every training row once (of files with weights, those that it draws), in an order
/// addressed by (seed, epoch); `batchSize` rows make a step, and the last, shorter step of an epoch is
/// trained, too. Any step can be made without those before it, so a resumed run costs nothing extra.
package struct StepPlan: Sendable {
    /// Threads that are expected to compute a step at once, wherever they are.
    package struct Slots: Sendable {
        package let count: Int
        /// The time that a thread needs for each training row, in any unit.
        package let costs: [Int]

        package init(count: Int, costs: [Int]) {
            self.count = count
            self.costs = costs
        }
    }

    /// Tokens of each training row.
    package let lengths: [Int]
    package let batchSize: Int
    package let microBatchTokens: Int
    /// The threads for which each step is cut, and what each row costs; nil: for any number.
    package let slots: Slots?
    /// How a step is dealt out to logical workers; nil: a step is one AdamW step of all its rows.
    package let local: LocalShape?
    /// Which rows an epoch has; nil: all.
    package let draw: EpochDraw?
    package let seed: UInt64
    package let shuffles: Bool
    package let rowsPerEpoch: Int
    package let stepsPerEpoch: Int
    /// Steps of the whole run.
    package let stepCount: Int

    /// - Parameters:
    ///   - lengths: tokens of each training row, in file order; at least one row.
    ///   - batchSize: rows of a step.
    ///   - microBatchTokens: about how many tokens a micro-batch has.
    ///   - slots: threads for which each step is cut; nil: for any number.
    ///   - local: how each step is dealt out to logical workers; `batchSize` is then that of a
    ///     local step.
    ///   - draw: which rows an epoch has; nil: all.
    ///   - seed: of the run.
    ///   - shuffles: false trains in file order in every epoch.
    ///   - epochs: passes over the rows; not used when `iterations` is given.
    ///   - iterations: steps of the run, however many epochs that takes.
    package init(
        lengths: [Int], batchSize: Int, microBatchTokens: Int, slots: Slots? = nil,
        local: LocalShape? = nil, draw: EpochDraw? = nil, seed: UInt64, shuffles: Bool, epochs: Int,
        iterations: Int?
    ) {
        precondition(!lengths.isEmpty && batchSize > 0, "a plan needs rows and a batch size")
        self.lengths = lengths
        self.batchSize = batchSize
        self.microBatchTokens = microBatchTokens
        self.slots = slots
        self.local = local
        self.draw = draw
        self.seed = seed
        self.shuffles = shuffles
        rowsPerEpoch = draw?.rowCount ?? lengths.count
        stepsPerEpoch = (rowsPerEpoch - 1) / (batchSize * (local?.batchesPerStep ?? 1)) + 1
        let (all, overflow) = stepsPerEpoch.multipliedReportingOverflow(by: epochs)
        stepCount = min(iterations ?? (overflow ? Limits.steps : all), Limits.steps)
    }

    /// A bound on the micro-batches of a step: what a step of the longest rows would have.
    package var mostMicroBatches: Int {
        if let local { return min(local.workers, lengths.count) }
        let longest = lengths.sorted(by: >).prefix(batchSize)
        let tokens = longest.reduce(0, +)
        guard let slots else {
            return MicroBatchGrouping.count(
                rows: longest.count, tokens: tokens, target: microBatchTokens)
        }
        return MicroBatchGrouping.count(
            rows: longest.count, tokens: tokens, target: microBatchTokens, slots: slots.count)
    }

    /// Rows of a step, but for an epoch's last.
    var rowsPerStep: Int { batchSize * (local?.batchesPerStep ?? 1) }

    /// Epochs that the run begins.
    package var epochCount: Int { stepCount == 0 ? 0 : epoch(ofStep: stepCount) }

    /// The epoch, counted from 1, of a step, counted from 1.
    package func epoch(ofStep step: Int) -> Int { (step - 1) / stepsPerEpoch + 1 }

    /// The order in which an epoch visits the training rows.
    package func order(ofEpoch epoch: Int) -> [Int] {
        let rows = draw?.rows(ofEpoch: epoch, seed: seed)
        guard shuffles else { return rows ?? Array(lengths.indices) }
        let order = AddressedRandom(seed: seed, purpose: .epochOrder)
            .permutation(count: rowsPerEpoch, UInt32(truncatingIfNeeded: epoch))
        guard let rows else { return order }
        return order.map { rows[$0] }
    }

    /// The steps from `first` to the end of the run. Iterating makes each epoch's order once.
    package func steps(from first: Int = 1) -> Steps {
        Steps(plan: self, next: first)
    }

    /// One step. Makes the whole epoch's order; use `steps(from:)` for many.
    package func step(_ step: Int) -> PlannedStep {
        plannedStep(step, order: order(ofEpoch: epoch(ofStep: step)))
    }

    private func plannedStep(_ step: Int, order: [Int]) -> PlannedStep {
        let place = (step - 1) % stepsPerEpoch
        let start = place * rowsPerStep
        let rows = order[start..<min(start + rowsPerStep, order.count)]
        if let local {
            return PlannedStep(
                step: step, epoch: epoch(ofStep: step), endsEpoch: place == stepsPerEpoch - 1,
                microBatches: local.dealt(Array(rows)))
        }
        let tokens = rows.map { lengths[$0] }
        let groups =
            slots.map { slots in
                MicroBatchGrouping.groups(
                    lengths: tokens, costs: rows.map { slots.costs[$0] }, target: microBatchTokens,
                    slots: slots.count)
            } ?? MicroBatchGrouping.groups(lengths: tokens, target: microBatchTokens)
        return PlannedStep(
            step: step, epoch: epoch(ofStep: step), endsEpoch: place == stepsPerEpoch - 1,
            microBatches: groups.map { $0.map { rows[rows.startIndex + $0] } })
    }

    /// The steps of a plan in order.
    package struct Steps: Sequence, IteratorProtocol, Sendable {
        let plan: StepPlan
        private var upcoming: Int
        private var epoch = 0
        private var order: [Int] = []

        init(plan: StepPlan, next: Int) {
            self.plan = plan
            upcoming = next
        }

        package mutating func next() -> PlannedStep? {
            guard upcoming <= plan.stepCount else { return nil }
            defer { upcoming += 1 }
            if plan.epoch(ofStep: upcoming) != epoch {
                epoch = plan.epoch(ofStep: upcoming)
                order = plan.order(ofEpoch: epoch)
            }
            return plan.plannedStep(upcoming, order: order)
        }
    }
}
