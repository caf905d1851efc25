import SkeinBasics

/// A run put together: what its loss reads of the base model, the training loop, and the test rows.
///
/// `TrainingRun` uses it with the threads of its process, `CoordinatorRun` with the workers of a
/// cluster.
package struct RunAssembly {
    private let job: TrainingJob
    private let directory: RunDirectory
    private let source: any StepSource
    private let references: ReferenceCache?
    private let settings: LoopSettings
    private let turns: Turnstile

    /// - Parameters:
    ///   - job: the run.
    ///   - directory: its own.
    ///   - source: computes what the loop asks for.
    ///   - references: where what the loss reads of the base model is looked up and kept.
    ///   - settings: of the loop.
    ///   - turns: all references are computed in one turn: another run with the same rows then finds
    ///     them kept.
    package init(
        job: TrainingJob, directory: RunDirectory, source: any StepSource,
        references: ReferenceCache?, settings: LoopSettings = LoopSettings(),
        turns: Turnstile = Turnstile()
    ) {
        self.job = job
        self.directory = directory
        self.source = source
        self.references = references
        self.settings = settings
        self.turns = turns
    }

    /// Runs to the end of the plan, on the calling thread.
    ///
    /// - Parameters:
    ///   - report: called with each event; what it throws ends the run.
    ///   - shouldStop: as `TrainingLoop` has it; the source's asks the same.
    ///   - measure: says how well the kept adapter knows the rows; `begun` is the step after which this
    ///     process went on.
    /// - Returns: how the run ended, and the loss on the test rows, if there are any.
    /// - Throws: what `TrainingLoop`, the source and `measure` throw; `TrainingError.takenOver` in place of
    ///   any of these if another process has the directory now: it may have removed what was to be read,
    ///   and meets itself what else was wrong.
    package func run(
        report: @escaping (TrainingRun.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool,
        measure: (TrainingLoop, TrainingLoop.Outcome, _ begun: Int) throws -> KeptAccuracy? = {
            _, _, _ in nil
        }
    ) throws -> RunEnding {
        do {
            return try ending(report, shouldStop, measure)
        } catch let error as any Explained {
            throw directory.cause(of: error)
        }
    }

    private func ending(
        _ report: @escaping (TrainingRun.Event) throws -> Void,
        _ shouldStop: @escaping @Sendable () -> Bool,
        _ measure: (TrainingLoop, TrainingLoop.Outcome, _ begun: Int) throws -> KeptAccuracy?
    ) throws -> RunEnding {
        var job = job
        let entries: [GroupEntry]
        do {
            entries = try turns.pass { try attachReferences(to: &job, report) }
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
            return try RunEnding(stoppedBeforeFirstStep: directory)
        }
        var loop = try TrainingLoop(
            job: job, directory: directory, source: source, references: entries,
            settings: settings, report: { try report(.loop($0)) }, shouldStop: shouldStop)
        try report(.ready)
        let begun = loop.step
        let outcome = try loop.run()
        try report(.trained)
        let test = outcome.isComplete ? try test(loop, report) : nil
        var ending = RunEnding(outcome: outcome, directory: directory, test: test)
        ending.kept = try measure(loop, outcome, begun)
        return ending
    }

    private func attachReferences(
        to job: inout TrainingJob, _ report: @escaping (TrainingRun.Event) throws -> Void
    ) throws -> [GroupEntry] {
        try References.attach(
            to: &job, cache: references,
            recorded: RecordedReferences(directory, job.checkResume(in: directory)),
            reports: References.Reports(
                announce: { try report(.references($0)) }, warn: { try report(.warning($0)) }),
            compute: { try source.logProbabilities(of: $0, recorded: $1, deliver: $2) })
    }

    /// The loss on the test rows of a complete run, which is complete without it.
    private func test(
        _ loop: TrainingLoop, _ report: (TrainingRun.Event) throws -> Void
    ) throws -> RowEvaluation? {
        do {
            return try loop.test()
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
            try report(
                .warning("stopped before the test rows were evaluated; the adapter is complete"))
            return nil
        }
    }
}
