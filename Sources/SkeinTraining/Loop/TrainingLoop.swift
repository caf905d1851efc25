import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels

/// A whole run: the page to read first.
///
/// For each step of the plan, a `StepSource` computes the micro-batches. Their gradients are summed in one
/// fixed tree and divided once (`Stepper.divisor`). When the step is in the ledger, a `Stepper` applies the
/// mean: AdamW, or the outer step of a round. After every epoch, or more often, the adapter is validated on
/// held-out rows; the best one so far is kept. The result is a function of the job alone: it does not
/// depend on who computes, or on how often the run is killed.
package struct TrainingLoop {
    let job: TrainingJob
    let directory: RunDirectory
    let source: any StepSource
    /// Copies of the loop share it.
    let stepper: any Stepper
    let report: (Event) throws -> Void
    /// Asked before the first step and after every one; true ends the run, with a checkpoint after a step.
    let shouldStop: () -> Bool
    let settings: LoopSettings

    var stopping: EarlyStopping
    /// The validation before the first step; nil: there was none, and its loss is not known.
    var start: Improvement.Score?
    /// nil: nothing is said of the losses.
    var warning: EarlyWarning?
    var step = 0
    /// The step of the newest checkpoint that is durable.
    var savedStep: Int?
    let writer: CheckpointWriter
    /// The first step for which workers with other engines were admitted, in this process or an earlier one.
    var otherEnginesFrom: Int?
    /// Who has computed what the loss reads of the base model, until it is in the ledger.
    var references: [GroupEntry]
    /// run.json as a resumed run has found it, and changed it since.
    var recorded: RunFile?

    /// Continues the run from its newest good checkpoint, or begins it.
    ///
    /// If `settings` admit other engines, run.json says so before anything is computed.
    ///
    /// - Throws: `TrainingError.resumeDiffers` and others; `FileError`.
    package init(
        job: TrainingJob, directory: RunDirectory, source: any StepSource,
        references: [GroupEntry] = [], settings: LoopSettings = LoopSettings(),
        report: @escaping (Event) throws -> Void, shouldStop: @escaping () -> Bool
    ) throws {
        self.job = job
        self.directory = directory
        self.source = source
        self.references = references
        self.settings = settings
        self.report = report
        self.shouldStop = shouldStop
        stepper = job.stepper()
        (start, warning) = (job.knownStart, EarlyWarning(job))
        stopping = EarlyStopping(
            patience: job.configuration.earlyStopPatience,
            metric: job.configuration.usedBestMetric)
        writer = CheckpointWriter(
            store: directory.checkpoints, layout: job.shape.layout,
            keeping: job.configuration.keepCheckpoints, beside: settings.beside)
        try takeUp()
    }

    /// Runs to the end of the plan.
    ///
    /// When it returns or throws, no checkpoint is being written any more.
    package mutating func run() throws -> Outcome {
        do {
            let outcome = try runSteps()
            try waitForCheckpoint()
            return outcome
        } catch let stopped as SourceStopped {
            try waitForCheckpoint()
            if case .failed(let error) = stopped.reason { throw error }
            // If the source stopped in a validation, the newest step has no checkpoint: a resumed
            // run would miss what follows from the validation.
            step = savedStep ?? 0
            return outcome(isComplete: false)
        } catch {
            waitQuietly()
            throw traced(error)
        }
    }

    private mutating func runSteps() throws -> Outcome {
        // The metrics first: a ledger that is ahead of them is no finding.
        let metrics = try Metrics(
            path: directory.metrics, keepingThroughStep: step == 0 ? -1 : step,
            in: directory.store)
        let ledger = try openLedger()
        try checkLedger()
        try judgeAtStart(metrics, ledger)
        // There is nothing yet that a checkpoint would keep.
        if step == 0, shouldStop() { throw SourceStopped(reason: .interrupted) }
        let rates = job.configuration.learningRates(stepCount: job.plan.scheduledSteps)
        for planned in job.plan.steps(from: step + 1) {
            if stopping.shouldStop { break }
            let began = settings.now()
            let rate = rates.rate(ofStep: planned.step * stepper.scheduledPerStep)
            var computed = try compute(planned)
            let norm = try update(&computed, planned, learningRate: rate, ledger)
            step = planned.step
            let line = Self.metrics(
                planned, computed.sum, rate: rate, norm: norm,
                seconds: (settings.now() - began) / .seconds(1),
                workers: source.workerCount, figures: source.takeFigures())
            try metrics.append(line)
            try report(.step(line, stepCount: job.plan.stepCount))
            try warning?.note(line).map { try report(.noticed($0)) }
            try reportSaved(writer.poll())

            let isJudged = job.validations.isDue(after: step)
            let formerStep = stopping.keptStep
            if isJudged {
                try judge(metrics, ledger, epoch: planned.epoch)
                try writeSamples(metrics, epoch: planned.epoch)
            }
            let interrupted = shouldStop()
            if stepper.isSaveDue(after: step) || isJudged || interrupted {
                try save(epoch: planned.epoch, formerStep: formerStep)
            }
            if interrupted && step < job.plan.stepCount {
                // Without the logical workers' states nothing was saved.
                guard stepper.saved(after: step) != nil else {
                    throw SourceStopped(reason: .interrupted)
                }
                return outcome(isComplete: false)
            }
        }
        if stopping.bestLoss == nil { try keepAdapter() }
        return outcome(isComplete: true)
    }

    /// What the source has made of a step.
    private struct Computed {
        /// The sum of all micro-batches, in the tree's order.
        var sum: GradientSum
        let entries: [LedgerEntry]
        /// The states of logical workers, by index.
        let states: [Int: NamedState]
    }

    /// All results of a step. If the source stops, the last step that is complete is saved.
    private mutating func compute(_ planned: PlannedStep) throws -> Computed {
        let work = stepper.work(of: planned)
        do {
            return try StepSpoiled.repeating("step \(planned.step)") {
                var tree = ReductionTree(count: work.count)
                var entries: [LedgerEntry] = []
                var states: [Int: NamedState] = [:]
                try source.compute(work) { result in
                    entries.append(LedgerEntry(step: planned.step, result))
                    states[result.index] = result.state
                    tree.add(result.index, result.sum)
                }
                guard let sum = tree.finish() else {
                    preconditionFailure("a source delivers every result of a step")
                }
                return Computed(sum: sum, entries: entries, states: states)
            }
        } catch let stopped as SourceStopped {
            try saveCommitted()
            throw stopped
        }
    }

    /// One step with the mean gradient, made in place from the sum's, which is then released.
    /// The step is in the ledger before anything changes.
    ///
    /// - Returns: the gradient's norm, before it is clipped or coded.
    private mutating func update(
        _ computed: inout Computed, _ planned: PlannedStep, learningRate: Double,
        _ ledger: borrowing Ledger
    ) throws -> Double {
        guard computed.sum.lossSum.isFinite else {
            throw TrainingError.lossNotFinite(
                step: planned.step, lastCheckpoint: lastCheckpoint())
        }
        var mean: [Float] = []
        swap(&mean, &computed.sum.gradient)
        GradientNorm.divide(&mean, by: stepper.divisor(of: computed.sum, planned))
        let norm = GradientNorm.norm(of: mean)
        if let index = norm.isFinite ? nil : GradientNorm.firstNotFinite(in: mean) {
            let entry = job.shape.layout.entries.last { $0.offset <= index }
            throw TrainingError.gradientNotFinite(
                step: planned.step, tensor: entry?.name ?? "", lastCheckpoint: lastCheckpoint())
        }
        try ledger.append(computed.entries)
        stepper.apply(
            &mean, norm: norm, planned, learningRate: learningRate, states: computed.states,
            source: source)
        return norm
    }
}

/// How a loop runs, besides what shapes its result.
package struct LoopSettings: Sendable {
    /// The time, used in the metrics alone.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Where checkpoints are written.
    package var beside = BesideRun.onThread
    /// Whether workers with other engines may compute.
    package var admitsOtherEngines = false

    package init() {}
}

extension TrainingLoop {
    /// What a loop reports as it goes.
    package enum Event: Sendable {
        /// run.json is of a version that did not record the digest of its rows, so they cannot be
        /// compared. If texts begin with `beginToken` now, the rows differ.
        case rowsNotRecorded(path: String, beginToken: String?)
        /// From this step on workers with other engines compute, or did in an earlier process of this
        /// run (`isAdmitting` is then false): the bits depend on who computed what.
        case otherEngines(fromStep: Int, isAdmitting: Bool)
        /// The step that the run continues from, and newer checkpoints that cannot be used.
        case resumed(step: Int, rejected: [TrainingError])
        /// Why ledger and metrics do not prove the steps so far.
        case ledgerDoubted(TrainingError)
        /// The kept adapter was missing and was written again from the checkpoint of its step.
        case adapterRestored(step: Int)
        case step(StepMetrics, stepCount: Int)
        case validation(ValidationMetrics, isBest: Bool)
        case sample(SampleMetrics)
        case checkpoint(step: Int, path: String)
        case stoppedEarly(step: Int, best: Int)
        /// What the losses so far usually mean.
        case noticed(EarlyWarning.Finding)
    }

    /// How a run ended.
    package struct Outcome: Sendable, Equatable {
        package var step: Int
        /// false: interrupted; the checkpoint of `step` holds everything.
        package var isComplete: Bool
        /// The validation loss of the adapter that was kept.
        package var bestValidationLoss: Double?
        /// The step whose adapter was kept: the best one, or the last without validation.
        package var keptStep: Int
        /// How it does beside what the run began with; nil: that was not measured.
        package var improvement: Improvement?
    }
}
