import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTraining
import Synchronization

/// The loaded model, the run's configuration, and threads that compute with both.
final class ModelEngine: LeaseEngine {
    let dataDigest: [UInt8]
    let configurationDigest: [UInt8]
    let recipeDigest: [UInt8]
    /// What this machine makes of a fixed piece of work.
    let answerDigest: [UInt8]
    let parameters: ParameterStore
    /// The engine's fingerprint with this model.
    let fingerprint: String
    private let modelDigest: [UInt8]
    /// As this worker has read it.
    private let recipe: WorkRecipe
    private let engine: MicroBatchEngine
    /// Set in a run with local steps.
    private let local: Local?
    /// The bounds of the current offer: a run that is resumed may save states more seldom.
    private let bounds: Mutex<LocalBounds?>
    /// How many numbers the adapter has.
    private let parameterCount: Int
    private let vocabulary: Int
    private let positions: Int
    private let threads: DecoderThreads
    private let log: Log

    /// What computes logical workers.
    private struct Local {
        let workers: LogicalWorkers
        let held: HeldStates
    }

    /// Loads `model` for the run that `offer` describes.
    ///
    /// `progress` is called with bytes of the model's file that have been read; false ends the
    /// loading.
    ///
    /// - Throws: `NodeError.offerUnusable` for options that this version cannot read;
    ///   `FormatError`, `TrainingError`; `CancellationError` when `progress` returned false.
    init(
        offer: Offer, model: ModelDirectory, threads: Int, residence: ResidenceChoice,
        features: FeatureSettings? = nil, log: Log = Log { _, _ in },
        progress: @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        let (configuration, settings) = try Self.options(of: offer)
        guard offer.longestRow <= RecipeOptions.mostTokens else {
            throw NodeError.offerUnusable(
                detail: "a row of \(offer.longestRow) tokens; at most "
                    + "\(RecipeOptions.mostTokens) are possible")
        }
        let lora = try configuration.lora(for: model.configuration)
        try model.configuration.design.check(lora.targets, layers: lora.layers)
        let shape = AdapterShape(lora, model: model.configuration)
        positions = Int(offer.longestRow)
        var made = try MicroBatchEngine(
            model: model, adapter: shape, configuration: configuration,
            residence: residence.residence(of: model, compute: configuration.compute),
            positions: positions, threads: threads, progress: progress)
        if let features {
            made.features = WorkerFeatures.store(
                features, offer: offer, configuration, engine: made, model: model, log: log)
        }
        engine = made
        self.log = log
        modelDigest = offer.modelDigest
        recipe = WorkRecipe(model: offer.modelDigest, configuration)
        dataDigest = offer.dataDigest
        // As it was read here, not as the offer says: the coordinator compares the two.
        configurationDigest = configuration.digest.bytes
        recipeDigest = try ResolvedRecipe.digest(configuration, shape).bytes
        answerDigest = try KnownAnswer.digest(configuration, model).bytes
        fingerprint = Engine.fingerprint(configuration.compute, of: model.configuration)
        vocabulary = model.configuration.vocabularySize
        let count = shape.layout.count
        parameters = ParameterStore(ParameterCoding(settings, count: count))
        local = settings.map { [engine] settings in
            Local(
                workers: LogicalWorkers(settings, engine: engine, configuration: configuration),
                held: HeldStates(workers: settings.shape.workers))
        }
        bounds = Mutex(settings.map { LocalBounds($0, configuration, count: count) })
        parameterCount = count
        self.threads = DecoderThreads(threadCount: threads)
    }

    /// Reads the options of a run.
    ///
    /// - Throws: `NodeError.offerUnusable`.
    private static func options(
        of offer: Offer
    ) throws -> (TrainingConfiguration, LocalSettings?) {
        do {
            let configuration = try TrainingConfiguration(
                json: offer.configuration, path: "the coordinator's offer")
            try configuration.validate()
            try configuration.checkRecipe()
            return (configuration, try LocalSettings(configuration))
        } catch let error as TrainingError {
            throw NodeError.offerUnusable(detail: error.explanation.what)
        }
    }

    /// Whether this is the run of `offer`, perhaps of a later term.
    func serves(_ offer: Offer) -> Bool {
        modelDigest == offer.modelDigest && dataDigest == offer.dataDigest
            && configurationDigest == offer.configurationDigest
            && positions == Int(offer.longestRow)
    }

    var mostGradientBytes: Int {
        bounds.withLock { $0?.resultBytes }
            ?? RunIdentity.resultBytes(
                engine.codec, count: parameterCount, comparesAnswers: engine.preference != nil)
    }

    var mostReplayBytes: Int { bounds.withLock { $0?.replayBytes } ?? 0 }

    func adopt(_ offer: Offer) throws {
        let (configuration, settings) = try Self.options(of: offer)
        guard let settings else { return }
        bounds.withLock { $0 = LocalBounds(settings, configuration, count: parameterCount) }
    }

    func receive(_ replay: StateReplay) { local?.held.receive(replay) }

    func wantsState(_ key: WorkKey) -> Bool { local?.held.wants(key) ?? false }

    func wake() {
        parameters.wake()
        local?.held.wake()
    }

    func start(
        _ job: LeaseJob, needParameters: @escaping @Sendable (UInt64) -> Void,
        needState: @escaping @Sendable (WorkKey) -> Void,
        ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        threads.start { [self] workspace, place in
            let outcome = Result {
                try perform(
                    job, workspace: workspace, place: place, needParameters: needParameters,
                    needState: needState)
            }
            for warning in engine.features?.takeWarnings() ?? [] { log.warning(warning.text) }
            return { ended(outcome) }
        }
    }

    func close(whenClosed: @escaping @Sendable () -> Void) {
        parameters.close()
        local?.held.close()
        threads.close(whenEnded: whenClosed)
    }

    /// Computes one lease on the calling thread.
    ///
    /// `needParameters` asks the coordinator for a version in full, `needState` for what rebuilds the
    /// state of a lease.
    ///
    /// - Returns: nil when the work was abandoned.
    /// - Throws: `NodeError.leaseUnusable` for rows that this model cannot compute with.
    func perform(
        _ job: LeaseJob, workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        needParameters: (UInt64) -> Void, needState: (WorkKey) -> Void = { _ in }
    ) throws -> WorkResult? {
        let lease = job.lease
        let rows = try checked(lease)
        if case .logProbabilities = lease.work, !recipe.referencesReadParameters {
            return logProbabilities(job, rows, nil, workspace, place)
        }
        while true {
            let answer = parameters.parameters(
                of: job, isAbandoned: { job.progress.isAbandoned })
            switch answer {
            case .abandoned: return nil
            // Ask for it in full; the next time the store waits until it is there.
            case .unusable(let version): needParameters(version)
            case .parameters(let values):
                switch lease.work {
                case .gradient(let pairs):
                    guard local == nil else { throw otherKind(lease) }
                    return gradient(job, pairs, rows, values, workspace, place)
                case .evaluation(let pairs):
                    return loss(
                        job, pairs, rows, Array(values[..<parameterCount]), workspace, place)
                case .local(let steps):
                    return try localSteps(
                        job, steps, rows, values, workspace, place, needState: needState)
                case .logProbabilities:
                    return logProbabilities(
                        job, rows, Array(values[..<parameterCount]), workspace, place)
                }
            }
        }
    }

    private func gradient(
        _ job: LeaseJob, _ pairs: PairLease?, _ rows: [TokenizedRow], _ values: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?
    ) -> WorkResult? {
        let lease = job.lease
        let packed = engine.packedGradient(
            of: MicroBatch(
                step: Int(lease.step), index: Int(lease.key.index), rows: rows,
                tokenShare: pairs?.tokenShare ?? 0),
            parameters: values, workspace: workspace, place: place, progress: job.progress)
        guard let packed else { return nil }
        let (result, sum) = (packed.result, packed.result.sum)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient,
            tokens: UInt32(clamping: sum.tokens),
            lossTokens: UInt32(clamping: sum.lossTokens), correct: 0, lossSum: sum.lossSum,
            digest: result.digest.bytes, inputs: inputs(lease, rows), payload: packed.payload)
    }

    /// Computes what a logical worker does in a round.
    private func localSteps(
        _ job: LeaseJob, _ steps: LocalLease, _ rows: [TokenizedRow], _ values: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?,
        needState: (WorkKey) -> Void
    ) throws -> WorkResult? {
        let lease = job.lease
        guard let local else { throw otherKind(lease) }
        local.held.states.dropUnused(in: Int(lease.step))
        guard
            let (state, isRebuilt) = try state(
                of: job, steps, local, workspace, place, needState: needState)
        else { return nil }
        let work = LocalWork(
            round: Int(lease.step), worker: Int(lease.key.index), stepsDone: state.steps,
            scheduledSteps: Int(clamping: steps.scheduledSteps), rows: rows, sizes: steps.steps)
        // A replay has counted these parts, too: what was told must not go back.
        if !isRebuilt { job.progress.expect(parts: work.parts) }
        let outcome = local.workers.perform(
            work, parameters: Array(values[..<parameterCount]), state: state,
            workspace: workspace, place: place, progress: job.progress)
        guard let outcome else { return nil }
        let name = outcome.state.digest
        local.held.states.keep(
            outcome.state, name, of: work.worker, afterRound: work.round)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .local,
            tokens: UInt32(clamping: outcome.sum.tokens),
            lossTokens: UInt32(clamping: outcome.sum.lossTokens), correct: 0,
            lossSum: outcome.sum.lossSum, digest: outcome.digest.bytes,
            inputs: inputs(lease, rows),
            payload: LocalPayload(
                name: name.bytes, change: outcome.payload,
                state: steps.wantsState ? outcome.state.packed : []
            ).bytes)
    }

    /// The state from which a lease starts: kept here, or rebuilt from what the coordinator sends.
    ///
    /// - Returns: the state, and whether it was rebuilt; nil when the work was abandoned.
    private func state(
        of job: LeaseJob, _ steps: LocalLease, _ local: Local, _ workspace: DecoderWorkspace,
        _ place: WorkSharing.Place?, needState: (WorkKey) -> Void
    ) throws -> (LocalState, isRebuilt: Bool)? {
        if steps.state == LocalLease.noState {
            return (LocalState(count: parameterCount), isRebuilt: false)
        }
        guard let name = SHA256.Digest(steps.state) else {
            throw unusable("the name of its state is no SHA-256", job.lease)
        }
        let parts = steps.steps.reduce(0) { $0 + $1.count }
        var isRebuilt = false
        while true {
            if let state = local.held.states.state(name) { return (state, isRebuilt) }
            // The second time everything begins anew; the coordinator knows from the request.
            if isRebuilt { job.progress.expect(parts: parts) }
            let replay = local.held.replay(for: job.lease.key, asking: needState) {
                job.progress.isAbandoned
            }
            guard let replay else { return nil }
            let rebuilt: LocalState?
            do {
                let known = try replay.replay(count: parameterCount) {
                    try checked($0, of: job.lease, allowingNone: true)
                }
                job.progress.expect(parts: known.parts + parts)
                isRebuilt = true
                rebuilt = try local.workers.rebuild(
                    known, workspace: workspace, place: place, progress: job.progress)
            } catch is CodecError {
                // The coordinator answers a few times, then hangs up.
                continue
            }
            guard let rebuilt else { return nil }
            // Another state is not used; asking again ends as above.
            if rebuilt.digest == name {
                local.held.states.keep(
                    rebuilt, name, of: Int(job.lease.key.index),
                    afterRound: Int(job.lease.step) - 1)
            }
        }
    }

    private func loss(
        _ job: LeaseJob, _ pairs: PairLease?, _ rows: [TokenizedRow], _ values: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?
    ) -> WorkResult? {
        let lease = job.lease
        let loss = engine.loss(
            of: rows, tokenShare: pairs?.tokenShare ?? 0, parameters: values,
            workspace: workspace, place: place, progress: job.progress)
        guard let loss else { return nil }
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .evaluation,
            tokens: UInt32(clamping: rows.reduce(0) { $0 + $1.ids.count }),
            lossTokens: UInt32(clamping: loss.lossTokens),
            correct: UInt32(clamping: loss.correct), lossSum: loss.lossSum,
            digest: [UInt8](repeating: 0, count: 32), inputs: inputs(lease, rows), payload: [])
    }

    /// What rows give with the adapter as the run began, or, nil, without it.
    private func logProbabilities(
        _ job: LeaseJob, _ rows: [TokenizedRow], _ values: [Float]?,
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?
    ) -> WorkResult? {
        let found = engine.logProbabilities(
            of: rows, parameters: values, workspace: workspace, place: place,
            progress: job.progress)
        guard let found else { return nil }
        let payload = LogProbabilityPayload.bytes(of: found)
        return WorkResult(
            key: job.lease.key, attempt: job.lease.attempt, kind: .logProbabilities,
            tokens: UInt32(clamping: rows.reduce(0) { $0 + $1.ids.count }),
            lossTokens: UInt32(clamping: rows.reduce(0) { $0 + $1.lossTokenCount }), correct: 0,
            lossSum: -found.reduce(0, +), digest: SHA256.digest(of: payload).bytes,
            inputs: inputs(job.lease, rows), payload: payload)
    }

    /// Names what a result was computed from: these rows, and the parameters that the store has found to
    /// be those of the lease.
    private func inputs(_ lease: LeaseGrant, _ rows: [TokenizedRow]) -> [UInt8] {
        WorkInputs(recipe, lease, rows: rows).digest.bytes
    }

    /// The rows of a lease, with their references, checked so that the decoder can compute each of them.
    private func checked(_ lease: LeaseGrant) throws -> [TokenizedRow] {
        var rows = try checked(lease.rows, of: lease)
        let pairs: PairLease?
        switch lease.work {
        case .gradient(let found), .evaluation(let found): pairs = found
        case .local, .logProbabilities: return rows
        }
        guard let preference = engine.preference else {
            guard pairs == nil else {
                throw unusable("it has pairs of answers, and the run's loss compares none", lease)
            }
            return rows
        }
        guard let pairs else {
            throw unusable("it does not say how its answers are compared", lease)
        }
        guard pairs.references.isEmpty == (preference.kind != .dpo) else {
            throw unusable("its rows have no log-probabilities under the reference model", lease)
        }
        for (index, value) in pairs.references.enumerated() { rows[index].reference = value }
        return rows
    }

    private func otherKind(_ lease: LeaseGrant) -> NodeError {
        unusable("it is not of the kind that this run has", lease)
    }

    private func unusable(_ detail: String, _ lease: LeaseGrant) -> NodeError {
        .leaseUnusable(round: lease.key.round, index: Int(lease.key.index), detail: detail)
    }

    /// Rows for a lease, checked so that the decoder can compute each of them.
    private func checked(
        _ rows: [LeaseGrant.Row], of lease: LeaseGrant, allowingNone: Bool = false
    ) throws -> [TokenizedRow] {
        guard allowingNone || !rows.isEmpty else { throw unusable("it has no rows", lease) }
        return try rows.map { row in
            let row = TokenizedRow(row)
            guard row.fits(vocabularySize: vocabulary, positions: positions) else {
                throw unusable(
                    "a row has no loss, more than \(positions) tokens, or a token outside the "
                        + "vocabulary of \(vocabulary)", lease)
            }
            return row
        }
    }
}
