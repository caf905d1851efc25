import SkeinBasics
import SkeinFormats
import SkeinModels

/// Where a run with local steps is.
struct LocalProgress {
    let settings: LocalSettings
    /// Rounds between checkpoints.
    let interval: Int
    /// There is a checkpoint after each of these.
    let validations: ValidationPlan
    /// What the next round starts from.
    var outer: OuterState
    /// What coding the averages has lost so far.
    var error: [Float]
    /// After the last round, of each logical worker; nil before its first.
    var states: [NamedState?]
    var history: LocalHistory
    /// What the open round has made, by logical worker.
    var made: [Int: NamedState] = [:]

    /// The beginning of a run; nil for one without local steps.
    init?(_ job: TrainingJob) {
        guard let settings = job.local else { return nil }
        self.settings = settings
        interval = job.configuration.saveStateEvery ?? LocalSettings.usualSaveInterval
        validations = job.validations
        let start = OuterState(parameters: job.initial.values)
        outer = start
        error = [Float](repeating: 0, count: start.count)
        states = Array(repeating: nil, count: settings.shape.workers)
        nothing = LocalState(count: start.count)
        history = Self.history(round: 0, outer, [], job)
    }

    /// The state before a logical worker's first round.
    private let nothing: LocalState

    /// The state of every logical worker; nil while one of them is elsewhere.
    var savedStates: [LocalState]? {
        let here = states.compactMap { $0 == nil ? nothing : $0?.state }
        return here.count == states.count ? here : nil
    }

    /// Whether a checkpoint follows a round.
    func isSaving(after planned: PlannedStep) -> Bool {
        validations.isDue(after: planned.step) || planned.step - history.round >= interval
    }

    /// For each piece of work of a round, whether its state goes into a checkpoint: into the one that
    /// follows, or into the next round's, if the logical worker sits that round out. Only an epoch's
    /// last round is so short. After the run's last round no states are needed.
    func wantsState(in planned: PlannedStep, of plan: StepPlan) -> [Bool] {
        guard planned.step < plan.stepCount else {
            return planned.microBatches.map { _ in false }
        }
        let isSaving = isSaving(after: planned)
        let next = planned.step + 1
        let isNextShort = next < plan.stepCount && next % plan.stepsPerEpoch == 0
        return planned.microBatches.indices.map { worker in
            isSaving || isNextShort && worker >= plan.workersInShortRound
        }
    }

    private static func history(
        round: Int, _ outer: OuterState, _ states: [LocalState], _ job: TrainingJob
    ) -> LocalHistory {
        LocalHistory(round: round, outer: outer, states: states) { round, worker in
            job.localWork(worker, in: job.plan.step(round))
        }
    }

    /// Continues from a checkpoint.
    ///
    /// - Throws: `TrainingError.damagedCheckpoint` when the run is not complete and states are
    ///   missing.
    mutating func take(_ checkpoint: Checkpoint, of job: TrainingJob, path: String) throws {
        let step = checkpoint.state.step
        outer = OuterState(parameters: checkpoint.parameters, momentum: checkpoint.averages)
        error = checkpoint.squareAverages
        let saved = checkpoint.local ?? []
        guard saved.count == settings.shape.workers else {
            guard step == job.plan.stepCount else {
                throw TrainingError.damagedCheckpoint(
                    path: path,
                    problem: .unfit(
                        file: Checkpoint.stateFile,
                        detail: "it has \(saved.count) states of logical workers, and the run has "
                            + "\(settings.shape.workers)"))
            }
            return
        }
        // Before its first round a logical worker has a state without a name.
        states = saved.map { $0 == nothing ? nil : NamedState(digest: $0.digest, state: $0) }
        history = Self.history(round: step, outer, saved, job)
    }

    /// Notes what a round has made.
    mutating func advance(
        _ planned: PlannedStep, to outer: OuterState, by average: [UInt8], error: [Float],
        isSaving: Bool, _ job: TrainingJob
    ) {
        self.outer = outer
        self.error = error
        for (worker, state) in made { states[worker] = state }
        made = [:]
        if isSaving, let savedStates {
            history = Self.history(round: planned.step, outer, savedStates, job)
        } else {
            history.averages.append(average)
        }
    }
}

// A step of a run with local steps: a round of the logical workers, and the outer step.
extension TrainingLoop {
    /// The changes of all logical workers, summed in the tree's order.
    mutating func changes(
        of planned: PlannedStep
    ) throws -> (sum: GradientSum, entries: [LedgerEntry]) {
        guard let local else { preconditionFailure("a round of a run without local steps") }
        let round = OuterRound(
            number: planned.step,
            work: planned.microBatches.indices.compactMap { job.localWork($0, in: planned) },
            outer: local.outer, starts: local.states.map { $0?.digest },
            wantsState: local.wantsState(in: planned, of: job.plan),
            history: local.history)
        var made: [Int: NamedState] = [:]
        let (sum, entries) = try StepSpoiled.repeating("step \(planned.step)") {
            var tree = ReductionTree(count: round.work.count)
            var entries: [LedgerEntry] = []
            made = [:]
            try source.compute(.round(round)) { result in
                entries.append(LedgerEntry(step: planned.step, result))
                made[result.index] = result.state
                tree.add(result.index, result.sum)
            }
            guard let sum = tree.finish() else {
                preconditionFailure("a source delivers the result of every logical worker")
            }
            return (sum, entries)
        }
        self.local?.made = made
        return (sum, entries)
    }

    /// The outer step with the mean change, made in place from `sum`'s, which is then released. Each
    /// logical worker that took part counts the same. The round is in the ledger before anything
    /// changes.
    ///
    /// - Returns: the norm of the mean change, before it was coded.
    mutating func follow(
        _ sum: inout GradientSum, _ planned: PlannedStep, record: () throws -> Void
    ) throws -> Double {
        guard var local else {
            preconditionFailure("the outer step of a run without local steps")
        }
        guard sum.lossSum.isFinite else {
            throw TrainingError.lossNotFinite(
                step: planned.step, lastCheckpoint: lastCheckpoint())
        }
        var change: [Float] = []
        swap(&change, &sum.gradient)
        GradientNorm.divide(&change, by: planned.microBatches.count)
        let norm = GradientNorm.norm(of: change)
        if let index = norm.isFinite ? nil : GradientNorm.firstNotFinite(in: change) {
            let entry = job.shape.layout.entries.last { $0.offset <= index }
            throw TrainingError.gradientNotFinite(
                step: planned.step, tensor: entry?.name ?? "", lastCheckpoint: lastCheckpoint())
        }
        let settings = local.settings
        let (payload, error) = CodedChange.pack(
            &change, error: local.error, settings.codec,
            DeltaCodec.Address(
                seed: job.configuration.addressedSeed, round: planned.step,
                sender: settings.shape.workers))
        try record()
        var outer = local.outer
        settings.outer.apply(change, to: &outer)
        local.advance(
            planned, to: outer, by: payload, error: error,
            isSaving: local.isSaving(after: planned), job)
        self.local = local
        parameters = outer.parameters
        source.advance(to: outer, by: payload)
        return norm
    }
}
