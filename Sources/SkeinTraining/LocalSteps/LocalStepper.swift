import SkeinBasics
import SkeinModels

/// A step is a round of the logical workers, and the outer step with the mean of their changes, in which
/// each that took part counts the same.
final class LocalStepper: Stepper {
    private let job: TrainingJob
    private let settings: LocalSettings
    /// Rounds between checkpoints.
    private let interval: Int
    /// The state before a logical worker's first round.
    private let nothing: LocalState
    private(set) var parameters: [Float]
    /// What the next round starts from.
    private(set) var outer: OuterState
    /// What coding the averages has lost so far.
    private var error: [Float]
    /// After the last round, of each logical worker; nil before its first.
    private var states: [NamedState?]
    private(set) var history: LocalHistory

    init(_ job: TrainingJob, _ settings: LocalSettings) {
        self.job = job
        self.settings = settings
        interval = job.configuration.saveStateEvery ?? LocalSettings.usualSaveInterval
        parameters = job.initial.values
        outer = OuterState(parameters: parameters)
        error = [Float](repeating: 0, count: parameters.count)
        states = Array(repeating: nil, count: settings.shape.workers)
        nothing = LocalState(count: parameters.count)
        history = Self.history(round: 0, outer, [], job)
    }

    var published: [Float] { outer.values }

    func published(of parameters: [Float]) -> [Float] { OuterState(parameters: parameters).values }

    var scheduledPerStep: Int { settings.shape.steps }

    func work(of planned: PlannedStep) -> StepWork {
        .round(
            OuterRound(
                number: planned.step,
                work: planned.microBatches.indices.compactMap { job.localWork($0, in: planned) },
                outer: outer, starts: states.map { $0?.digest },
                wantsState: wantsState(in: planned), history: history))
    }

    func divisor(of sum: GradientSum, _ planned: PlannedStep) -> Int {
        planned.microBatches.count
    }

    /// The outer step with the mean change as it is coded.
    func apply(
        _ mean: inout [Float], norm: Double, _ planned: PlannedStep, learningRate: Double,
        states made: [Int: NamedState], source: any StepSource
    ) {
        let average: [UInt8]
        (average, error) = CodedChange.pack(
            &mean, error: error, settings.codec,
            DeltaCodec.Address(
                seed: job.configuration.addressedSeed, round: planned.step,
                sender: settings.shape.workers))
        settings.outer.apply(mean, to: &outer)
        parameters = outer.parameters
        for (worker, state) in made { states[worker] = state }
        if isSaving(after: planned), let savedStates {
            history = Self.history(round: planned.step, outer, savedStates, job)
        } else {
            history.averages.append(average)
        }
        source.advance(to: outer, by: average)
    }

    func isSaveDue(after step: Int) -> Bool { history.round == step }

    /// The states of logical workers may be elsewhere; a complete run needs none.
    func saved(after step: Int) -> SavedState? {
        let states = savedStates
        guard states != nil || step == job.plan.stepCount else { return nil }
        return SavedState(averages: outer.momentum, squareAverages: error, local: states ?? [])
    }

    /// Without states only a complete run continues.
    func takeUp(_ checkpoint: Checkpoint, path: String) throws {
        let step = checkpoint.state.step
        parameters = checkpoint.parameters
        outer = OuterState(parameters: parameters, momentum: checkpoint.averages)
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

    /// The state of every logical worker; nil while one of them is elsewhere.
    private var savedStates: [LocalState]? {
        let here = states.compactMap { $0 == nil ? nothing : $0?.state }
        return here.count == states.count ? here : nil
    }

    /// Whether a checkpoint follows a round.
    private func isSaving(after planned: PlannedStep) -> Bool {
        job.validations.isDue(after: planned.step) || planned.step - history.round >= interval
    }

    /// For each piece of work of a round, whether its state goes into a checkpoint: into the one that
    /// follows, or into the next round's, if the logical worker sits that round out. Only an epoch's
    /// last round is so short. After the run's last round no states are needed.
    private func wantsState(in planned: PlannedStep) -> [Bool] {
        let plan = job.plan
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
}
