import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors

/// Computes a run on threads of this process, in turns with others that have the same threads.
struct InProcessSource: StepSource {
    private let engine: MicroBatchEngine
    private let threads: DecoderThreads
    private let turns: Turnstile
    /// For what results say that they were computed from.
    private let recipe: WorkRecipe
    private let microBatchTokens: Int
    /// Parameters of the adapter that is the reference; nil: the base model alone.
    private let reference: [Float]?
    /// The logical workers of a run with local steps.
    private let logical: LogicalWorkers?
    private let states: LocalStates
    private let samples: (any SampleMaking)?
    private let shouldStop: @Sendable () -> Bool

    /// - Parameters:
    ///   - job: the run.
    ///   - engine: that computes.
    ///   - threads: of this process.
    ///   - turns: one run computes at a time.
    ///   - samples: answers the sample prompts; nil: there are none.
    ///   - shouldStop: asked before the first step, while references and losses are computed.
    init(
        _ job: TrainingJob, engine: MicroBatchEngine, threads: DecoderThreads,
        turns: Turnstile = Turnstile(), samples: (any SampleMaking)? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        self.engine = engine
        self.threads = threads
        self.turns = turns
        self.samples = samples
        self.shouldStop = shouldStop
        recipe = job.workRecipe
        microBatchTokens = job.configuration.microBatchTokens
        reference = job.referenceParameters
        logical = job.logicalWorkers(engine)
        states = LocalStates(workers: job.local?.shape.workers ?? 0)
    }

    var workerCount: Int { 1 }

    /// Logical workers here read the outer state of the round that they are given.
    func advance(to outer: OuterState, by average: [UInt8]) {}

    func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
        try turns.pass {
            switch work {
            case .gradients(let microBatches, let parameters):
                try engine.gradients(
                    of: microBatches, parameters: parameters, threads: threads, recipe: recipe,
                    deliver: deliver)
            case .round(let round): try compute(round, deliver: deliver)
            }
        }
    }

    /// Computes the logical workers, each on one thread.
    private func compute(
        _ round: OuterRound, deliver: (MicroBatchResult) throws -> Void
    ) throws {
        guard let logical else { preconditionFailure("a round of a run without local steps") }
        let digest = GradientCodec.digest(of: round.outer.values)
        try threads.forEach(round.work.count) { [states, recipe] index, workspace, place in
            Result {
                let work = round.work[index]
                let start: LocalState
                if let name = round.starts[work.worker], let state = states.state(name) {
                    start = state
                } else {
                    // A run that has just begun or was resumed: this takes the saved state.
                    let replay = round.history.replay(of: work.worker)
                    guard
                        let state = try logical.rebuild(replay, workspace: workspace, place: place)
                    else { preconditionFailure("work without a progress cannot be abandoned") }
                    start = state
                }
                guard
                    let outcome = logical.perform(
                        work, parameters: round.outer.parameters, state: start,
                        workspace: workspace, place: place)
                else { preconditionFailure("work without a progress cannot be abandoned") }
                let name = outcome.state.digest
                states.keep(outcome.state, name, of: work.worker, afterRound: round.number)
                var result = MicroBatchResult(
                    index: work.worker, sum: outcome.sum, digest: outcome.digest,
                    worker: WorkerName.own, attempt: 1,
                    state: NamedState(digest: name, state: outcome.state))
                result.inputs = WorkInputs(
                    recipe, parameters: digest, work: work, state: round.starts[work.worker])
                return result
            }
        } receive: { _, result in
            try deliver(result.get())
        }
        states.dropUnused(in: round.number + 1)
    }

    func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation {
        try turns.pass {
            try RecordedEvaluation.run(
                request, recipe: recipe, engine: engine, microBatchTokens: microBatchTokens,
                threads: threads
            ) {
                // Later ones belong to a step, which is kept with what they say of it.
                if request.step == 0 { try checkStop() }
            }
        }
    }

    /// Takes no turn: all references of a run are computed in one.
    func logProbabilities(
        of groups: [[TokenizedRow]], recorded: [GroupEntry?],
        deliver: (Int, ReferencePiece) throws -> Void
    ) throws {
        try checkStop()
        try RowEvaluation.logProbabilities(
            of: groups, parameters: reference, engine: engine, threads: threads
        ) { index, piece in
            try deliver(index, piece)
            try checkStop()
        }
    }

    func samples(_ parameters: [Float], step: Int, epoch: Int) throws -> [SampleMetrics] {
        guard let samples else { return [] }
        return try turns.pass { try samples.samples(parameters, step: step, epoch: epoch) }
    }

    private func checkStop() throws {
        if shouldStop() { throw SourceStopped(reason: .interrupted) }
    }
}
