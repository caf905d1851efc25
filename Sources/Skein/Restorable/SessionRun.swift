import Foundation
import SkeinBasics
import SkeinRows
import SkeinTraining
import Synchronization

/// A task's work, on its own thread: a `TrainingRun` whose events become phases, reports and
/// checkpoints.
///
/// The run is that of `skein train`; nothing here decides a number.
final class SessionRun: @unchecked Sendable {
    // Used by one thread, which `TrainingTask` starts once; hence Sendable.

    /// When an update task may pause.
    enum Moment: Sendable {
        case begun
        /// After the iteration `metrics` tells of.
        case iteration(StepMetrics)
        /// After an epoch and its validation; nil without one.
        case epoch(Int, ValidationMetrics?)
    }

    private let session: TrainingSession
    private let feeds: TrainingTask.Feeds
    private let flag: CancelFlag
    private let pause: (@Sendable (Moment) -> Void)?
    private let began = ContinuousClock.now

    /// Metrics of the newest iteration, and of those before it whose checkpoint is being written.
    private var unsaved: [Int: TrainingSession.Checkpoint.Metrics] = [:]
    private var newest = 0
    private var samples = 0

    init(
        _ session: TrainingSession, feeds: TrainingTask.Feeds, flag: CancelFlag,
        pause: (@Sendable (Moment) -> Void)?
    ) {
        self.session = session
        self.feeds = feeds
        self.flag = flag
        self.pause = pause
        feeds.phase.send(session.phase)
    }

    /// - Throws: `CancellationError`; as `TrainingRun`.
    func run() throws -> TrainedAdapter {
        try flag.check()
        enter(.extractingFeatures, at: 0)
        let run = try TrainingRun(session.request(), resuming: true, samples: .generating)
        try session.parameters.startingFrom?.checkUnchanged(run.job)
        try extracted(run.job)
        try flag.check()
        let ending = try run.run(
            report: { [self] in note($0, run.job) }, shouldStop: { [flag] in flag.isSet })
        // Only a cancelled run ends before its last step.
        guard ending.outcome.isComplete else { throw CancellationError() }
        return try TrainedAdapter(session: session, outcome: Outcome(ending))
    }

    private func extracted(_ job: TrainingJob) throws {
        let origin = job.tokenOrigin
        let rows = origin.encodedRows + origin.cachedRows
        let reused = session.state.withLock { state in
            state.features = .init(rows: rows, tokenizedRows: origin.encodedRows)
            state.iteration = rows
            return state.reusedDirectory
        }
        report(.extractingFeatures, rows, of: rows)
        for warning in job.warnings { feeds.warnings.send(warning) }
        guard let reused, origin.encodedRows > 0 else { return }
        // A caller that resumes the session nevertheless has been told.
        session.state.withLock { $0.reusedDirectory = nil }
        throw SkeinError(
            code: .badData,
            what: "\(origin.encodedRows) of \(rows) rows had to be tokenized, though the session "
                + "reuses extracted features",
            place: reused,
            remedy: "reuse those of a session with the same model, data and version of Skein")
    }

    private func note(_ event: TrainingRun.Event, _ job: TrainingJob) {
        switch event {
        case .memory, .features, .loaded, .references, .measuringKept: return
        case .warning(let text): feeds.warnings.send(text)
        case .ready:
            let done = session.checkpoints.last?.iteration ?? 0
            enter(done == 0 && job.validatesAtStart ? .evaluating : .training, at: done)
            pause?(.begun)
        case .loop(let event): note(event, job)
        case .trained:
            if !job.test.isEmpty, !flag.isSet { enter(.evaluating, at: job.validations.count) }
        }
    }

    private func note(_ event: TrainingLoop.Event, _ job: TrainingJob) {
        for case .warning(let text) in TrainingEvent.events(of: event) {
            feeds.warnings.send(text)
        }
        switch event {
        case .resumed(let step, _):
            // Checkpoints that cannot be used are not the session's; they will be replaced.
            session.state.withLock { state in
                state.checkpoints.removeAll { $0.iteration > step }
            }
        case .step(let line, let count): note(line, of: count, job)
        case .validation(let line, _):
            unsaved[line.step, default: [:]].merge(line.progress) { $1 }
            let count = job.validations.count(through: line.step)
            advance(to: count)
            report(.evaluating, count, of: job.validations.count, line.progress)
            if job.validations.endsEpoch(line.step) { pause?(.epoch(line.epoch, line)) }
            if !job.samplePrompts.isEmpty {
                samples = 0
                enter(.inferencing, at: 0)
            } else {
                returnToTraining(from: line.step, job)
            }
        case .sample(let sample):
            samples += 1
            advance(to: samples)
            report(.inferencing, samples, of: job.samplePrompts.count)
            if samples == job.samplePrompts.count { returnToTraining(from: sample.step, job) }
        case .checkpoint(let step, _): saved(step)
        case .stoppedEarly: enter(.evaluating, at: session.iteration)
        case .rowsNotRecorded, .otherEngines, .ledgerDoubted, .adapterRestored, .noticed: return
        }
    }

    private func note(
        _ line: StepMetrics, of count: Int, _ job: TrainingJob
    ) {
        if !isSaved(newest, job) { unsaved[newest] = nil }
        newest = line.step
        unsaved[newest] = line.progress
        advance(to: line.step)
        if line.step % session.sessionParameters.reportInterval == 0 {
            report(.training, line.step, of: count, line.progress)
        }
        pause?(.iteration(line))
        guard job.validations.isDue(after: line.step) else { return }
        if job.wantsValidation {
            enter(.evaluating, at: job.validations.count(through: line.step) - 1)
        } else {
            if job.validations.endsEpoch(line.step) { pause?(.epoch(line.epoch, nil)) }
            if !job.samplePrompts.isEmpty {
                samples = 0
                enter(.inferencing, at: 0)
            }
        }
    }

    private func isSaved(_ step: Int, _ job: TrainingJob) -> Bool {
        step % session.sessionParameters.checkpointInterval == 0
            || job.validations.isDue(after: step)
    }

    private func returnToTraining(from step: Int, _ job: TrainingJob) {
        if step < job.plan.stepCount { enter(.training, at: step) }
    }

    private func saved(_ step: Int) {
        let metrics = unsaved[step] ?? [:]
        unsaved = unsaved.filter { $0.key > step }
        guard
            let checkpoint = TrainingSession.Checkpoint(
                step: step, in: session.directory, metrics: metrics)
        else { return }
        // Saving it has removed older ones.
        let kept = session.checkpoints.filter {
            $0.iteration < step && DiskStore().exists($0.url.path)
        }
        session.state.withLock { $0.checkpoints = kept + [checkpoint] }
        feeds.checkpoints.send(checkpoint)
    }

    // MARK: Telling

    private func enter(_ phase: TrainingSession.Phase, at iteration: Int) {
        let isNew = session.state.withLock { state in
            defer { (state.phase, state.iteration) = (phase, iteration) }
            return state.phase != phase
        }
        if isNew { feeds.phase.send(phase) }
    }

    private func advance(to iteration: Int) {
        session.state.withLock { $0.iteration = iteration }
    }

    private func report(
        _ phase: TrainingSession.Phase, _ count: Int, of total: Int?,
        _ metrics: [TrainingTask.Progress.Metric: Double] = [:]
    ) {
        feeds.progress.send(
            TrainingTask.Progress(
                phase: phase, itemCount: count, totalItemCount: total,
                elapsedTime: ContinuousClock.now - began, metrics: metrics))
    }
}
