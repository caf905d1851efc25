import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels

/// A whole run: the page to read first.
///
/// For each step of the plan, a `StepSource` computes the micro-batches. Their gradients are
/// summed in one fixed tree, divided once by the step's loss tokens, clipped, and applied by AdamW,
/// after the step is in the ledger. After every epoch, or more often, the adapter is validated on
/// held-out rows; the best one so far is kept. The result is a function of the job alone: it does not depend on
/// who computes, or on how often the run is killed.
package struct TrainingLoop {
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
        /// Of the adapter that was kept.
        package var bestValidationLoss: Double?
        /// The step whose adapter was kept: the best one, or the last without validation.
        package var keptStep: Int
        /// How it does beside what the run began with; nil: that was not measured.
        package var improvement: Improvement?
    }

    let job: TrainingJob
    let directory: RunDirectory
    let source: any StepSource
    let report: (Event) throws -> Void
    /// Asked before the first step and after every one; true ends the run, with a checkpoint after a step.
    let shouldStop: () -> Bool
    /// The time, used in the metrics alone.
    private let now: () -> ContinuousClock.Instant

    var parameters: [Float]
    var optimizer: AdamW
    private let otherRate: RateFactor?
    var stopping: EarlyStopping
    /// The validation before the first step; nil: there was none, and its loss is not known.
    var start: Improvement.Score?
    /// nil: nothing is said of the losses.
    var warning: EarlyWarning?
    /// Of a run with local steps; `optimizer` is not used then.
    var local: LocalProgress?
    var step = 0
    /// The step of the newest checkpoint that is durable.
    var savedStep: Int?
    let writer: CheckpointWriter
    /// Whether workers with other engines may compute.
    let admitsOtherEngines: Bool
    /// The first step for which that was so, in this process or an earlier one.
    var otherEnginesFrom: Int?
    /// Who has computed what the loss reads of the base model, until it is in the ledger.
    var references: [GroupEntry]
    /// run.json as a resumed run has found it, and changed it since.
    var recorded: RunFile?

    /// Continues the run from its newest good checkpoint, or begins it.
    ///
    /// With `admitsOtherEngines`, run.json says so before anything is computed.
    ///
    /// - Throws: `TrainingError.resumeDiffers` and others; `FileError`.
    package init(
        job: TrainingJob, directory: RunDirectory, source: any StepSource,
        report: @escaping (Event) throws -> Void, shouldStop: @escaping () -> Bool,
        now: @escaping () -> ContinuousClock.Instant = { .now }, beside: BesideRun = .onThread,
        admitsOtherEngines: Bool = false, references: [GroupEntry] = []
    ) throws {
        (self.references, self.admitsOtherEngines) = (references, admitsOtherEngines)
        self.job = job
        self.directory = directory
        self.source = source
        self.report = report
        self.shouldStop = shouldStop
        self.now = now
        parameters = job.initial.values
        (start, warning) = (job.knownStart, EarlyWarning(job))
        local = LocalProgress(job)
        otherRate = job.configuration.rateFactor(job.shape.layout)
        optimizer = AdamW(
            settings: job.configuration.adamW, count: local == nil ? parameters.count : 0)
        stopping = EarlyStopping(
            patience: job.configuration.earlyStopPatience,
            metric: job.configuration.usedBestMetric)
        writer = CheckpointWriter(
            store: directory.checkpoints, layout: job.shape.layout,
            keeping: job.configuration.keepCheckpoints, beside: beside)
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
            let began = now()
            let rate = rates.rate(ofStep: planned.step * (job.plan.local?.steps ?? 1))
            var sum: GradientSum
            let entries: [LedgerEntry]
            do {
                (sum, entries) =
                    try local == nil ? gradient(of: planned) : changes(of: planned)
            } catch let stopped as SourceStopped {
                try saveCommitted()
                throw stopped
            }
            let norm =
                try local == nil
                ? update(&sum, learningRate: rate) { try ledger.append(entries) }
                : follow(&sum, planned) { try ledger.append(entries) }
            step = planned.step
            let line = Self.metrics(
                planned, sum, rate: rate, norm: norm,
                seconds: (now() - began) / .seconds(1),
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
            let isDue =
                local.map { $0.history.round == step }
                ?? Self.isDue(step, every: job.configuration.checkpointEvery)
            if isDue || isJudged || interrupted {
                try save(epoch: planned.epoch, formerStep: formerStep)
            }
            if interrupted && step < job.plan.stepCount {
                // Without the logical workers' states nothing was saved.
                guard canSave else { throw SourceStopped(reason: .interrupted) }
                return outcome(isComplete: false)
            }
        }
        if stopping.bestLoss == nil { try keepAdapter() }
        return outcome(isComplete: true)
    }

    /// All micro-batches of a step, summed in the tree's order.
    private func gradient(
        of planned: PlannedStep
    ) throws -> (sum: GradientSum, entries: [LedgerEntry]) {
        let microBatches = planned.microBatches(
            of: job.training, groups: job.trainingGroups,
            comparesAnswers: job.comparesAnswers)
        return try StepSpoiled.repeating("step \(planned.step)") {
            var tree = ReductionTree(count: microBatches.count)
            var entries: [LedgerEntry] = []
            try source.compute(.gradients(microBatches, parameters: parameters)) { result in
                entries.append(LedgerEntry(step: planned.step, result))
                tree.add(result.index, result.sum)
            }
            guard let sum = tree.finish() else {
                preconditionFailure("a source delivers every micro-batch of a step")
            }
            return (sum, entries)
        }
    }

    /// One AdamW step with the mean gradient, made in place from `sum`'s, which is then released.
    /// The step is in the ledger before anything changes.
    ///
    /// - Returns: the gradient's norm before clipping.
    private mutating func update(
        _ sum: inout GradientSum, learningRate: Double, record: () throws -> Void
    ) throws -> Double {
        let failing = optimizer.step + 1
        guard sum.lossSum.isFinite else {
            throw TrainingError.lossNotFinite(step: failing, lastCheckpoint: lastCheckpoint())
        }
        var gradient: [Float] = []
        swap(&gradient, &sum.gradient)
        GradientNorm.divide(&gradient, by: sum.lossTokens)
        let norm = GradientNorm.norm(of: gradient)
        if let index = norm.isFinite ? nil : GradientNorm.firstNotFinite(in: gradient) {
            let entry = job.shape.layout.entries.last { $0.offset <= index }
            throw TrainingError.gradientNotFinite(
                step: failing, tensor: entry?.name ?? "", lastCheckpoint: lastCheckpoint())
        }
        GradientNorm.clip(&gradient, norm: norm, maximum: job.configuration.maxGradNorm)
        try record()
        optimizer.update(
            &parameters, gradient: gradient, learningRate: learningRate, other: otherRate)
        return norm
    }

    private static func isDue(_ step: Int, every count: Int) -> Bool {
        count > 0 && step % count == 0
    }
}
