import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinTraining

/// A run whose steps a cluster computes: the training loop, and the shell that leases its work.
struct ClusterTraining {
    let job: TrainingJob
    let directory: RunDirectory
    let shellHandle: ShellHandle
    let inbox: RunInbox
    let log: Log
    /// What answers the sample prompts.
    let samples: SampleSource
    /// What people are shown.
    var board = RunBoard()
    var settings = LoopSettings()

    /// Runs to the end of the plan, on the calling thread.
    ///
    /// - Parameters:
    ///   - report: called with each event.
    ///   - shouldStop: asked after every step, and while workers are missing.
    /// - Returns: how the run ended, and the loss on the test rows, if there are any.
    /// - Throws: what `TrainingLoop` throws; `NodeError.workersMissing` when too few workers joined
    ///   in time.
    func run(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        let source = ClusterSource(
            shellHandle: shellHandle, inbox: inbox, recipe: self.job.workRecipe,
            configuration: self.job.configuration, initial: self.job.initial.values,
            local: self.job.local,
            samples: self.job.samplePrompts.isEmpty ? nil : samples.maker(self.job, nil),
            shouldStop: shouldStop)
        board.prepared(self.job, output: directory.path)
        shellHandle.note(board.progress)
        let shellHandle = shellHandle
        board.attach { shellHandle.view() }
        var referenced = self.job
        let references: [GroupEntry]
        // What workers say of the reference is this run's alone.
        let cache = ReferenceCache(
            directory: directory.references,
            check: { [directory] in try directory.checkTerm() })
        do {
            references = try References.attach(
                to: &referenced, cache: cache,
                recorded: RecordedReferences(directory, self.job.checkResume(in: directory)),
                reports: References.Reports(
                    announce: { log.info(References.sentence(rows: $0)) },
                    warn: { log.warning($0) }),
                compute: { try source.logProbabilities(of: $0, recorded: $1, deliver: $2) })
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
            return try RunEnding(stoppedBeforeFirstStep: directory)
        }
        var loop = try TrainingLoop(
            job: referenced, directory: directory, source: source, references: references,
            settings: settings,
            report: { [board, directory] event in
                try board.note(event, in: directory.store)
                shellHandle.note(board.progress)
                try report(event)
            }, shouldStop: shouldStop)
        let outcome = try loop.run()
        guard outcome.isComplete else {
            return RunEnding(outcome: outcome, directory: directory, test: nil)
        }
        do {
            let test = try loop.test()
            return RunEnding(outcome: outcome, directory: directory, test: test)
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
            log.warning("stopped before the test rows were evaluated; the adapter is complete")
            return RunEnding(outcome: outcome, directory: directory, test: nil)
        }
    }
}
