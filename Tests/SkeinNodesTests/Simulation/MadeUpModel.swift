import Foundation
import SkeinBasics
import SkeinCoordination

@testable import SkeinModels
@testable import SkeinNodes
@testable import SkeinSockets
@testable import SkeinTraining

/// A model that is nothing but arithmetic: numbers that depend on rows, step and parameters, in no
/// time. Codec, packing and hash are the real ones.
struct MadeUpModel: Sendable {
    let count: Int
    let codec: GradientCodec
    let seed: UInt64
    let configuration: TrainingConfiguration
    /// A step whose first piece has a loss that is not a number, whoever computes it.
    var poisonedStep: Int?
    /// The same of the validation after a step.
    var poisonedValidation: Int?
    let recipe: WorkRecipe

    private static func mix(_ a: Int, _ b: Int, _ c: Int = 0) -> UInt64 {
        var random = SplitMix(
            state: UInt64(truncatingIfNeeded: a) << 40 ^ UInt64(truncatingIfNeeded: b) << 16
                ^ UInt64(truncatingIfNeeded: c))
        return random.next()
    }

    /// Loss of rows: of all of them and all the parameters.
    private func loss(_ rows: [TokenizedRow], _ parameters: [Float], step: Int) -> Double {
        var size = 0.0
        for value in parameters { size += Double(value) * Double(value) }
        return rows.reduce(0) { sum, row in
            let noise = Double(Self.mix(row.number, step) >> 40) * 0x1p-24
            return sum + Double(row.lossTokenCount) * (2 + noise + size)
        }
    }

    /// Loss and gradient, before the codec.
    private func compute(
        _ microBatch: MicroBatch, _ parameters: [Float]
    ) -> (lossSum: Double, gradient: [Float]) {
        var gradient = [Float](repeating: 0, count: count)
        for row in microBatch.rows {
            var random = SplitMix(state: Self.mix(row.number, microBatch.step, 1))
            let weight = Float(row.lossTokenCount)
            for place in 0..<count {
                let noise = Float(Int32(truncatingIfNeeded: random.next())) * 0x1p-31
                gradient[place] += weight * (noise + 0.5 * parameters[place])
            }
        }
        let isPoisoned = microBatch.step == poisonedStep && microBatch.index == 0
        return (
            isPoisoned ? .nan : loss(microBatch.rows, parameters, step: microBatch.step), gradient
        )
    }

    /// Computes logical workers; nil for a run without local steps.
    var logical: LogicalWorkers? {
        guard let settings = try? LocalSettings(configuration) else { return nil }
        return LogicalWorkers(settings, configuration: configuration) {
            [self] batch, parameters, _, _, _ in
            let (lossSum, gradient) = compute(batch, parameters)
            return GradientSum(
                tokens: batch.tokenCount, lossTokens: batch.lossTokenCount, lossSum: lossSum,
                gradient: gradient)
        }
    }

    /// As `train` computes it.
    func result(of microBatch: MicroBatch, parameters: [Float]) -> MicroBatchResult {
        var (lossSum, gradient) = compute(microBatch, parameters)
        codec.round(&gradient, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        var result = MicroBatchResult(
            index: microBatch.index,
            sum: GradientSum(
                tokens: microBatch.tokenCount, lossTokens: microBatch.lossTokenCount,
                lossSum: lossSum, gradient: gradient),
            digest: GradientCodec.digest(of: gradient), worker: "local", attempt: 1)
        result.inputs = WorkInputs(
            recipe, parameters: GradientCodec.digest(of: parameters), gradientOf: microBatch)
        return result
    }

    /// Rows that are judged.
    func loss(
        of rows: [TokenizedRow], parameters: [Float], afterStep step: Int, isFirst: Bool
    ) -> BatchLoss {
        let tokens = rows.reduce(0) { $0 + $1.lossTokenCount }
        let isPoisoned = isFirst && step == poisonedValidation
        return BatchLoss(
            lossSum: isPoisoned ? .nan : loss(rows, parameters, step: -1), lossTokens: tokens,
            correct: rows.reduce(0) {
                $0 + Int(Self.mix($1.number, step, 2) % UInt64($1.lossTokenCount + 1))
            })
    }

    /// As a worker computes a lease.
    func result(of lease: LeaseGrant, parameters: [Float]) -> WorkResult {
        let rows = lease.rows.map {
            TokenizedRow(number: Int($0.number), ids: $0.ids, targets: $0.targets)
        }
        let tokens = UInt32(rows.reduce(0) { $0 + $1.ids.count })
        guard lease.kind == .gradient else {
            let loss = loss(
                of: rows, parameters: parameters, afterStep: Int(lease.step),
                isFirst: lease.key.index == 0)
            return WorkResult(
                key: lease.key, attempt: lease.attempt, kind: .evaluation, tokens: tokens,
                lossTokens: UInt32(loss.lossTokens), correct: UInt32(loss.correct),
                lossSum: loss.lossSum, digest: [UInt8](repeating: 0, count: 32),
                inputs: inputs(lease, rows), payload: [])
        }
        let batch = MicroBatch(step: Int(lease.step), index: Int(lease.key.index), rows: rows)
        var (lossSum, gradient) = compute(batch, parameters)
        let payload = codec.pack(
            &gradient, seed: seed, step: batch.step, microBatch: batch.index)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient, tokens: tokens,
            lossTokens: UInt32(batch.lossTokenCount), correct: 0, lossSum: lossSum,
            digest: GradientCodec.digest(of: gradient).bytes, inputs: inputs(lease, rows),
            payload: payload)
    }

    func inputs(_ lease: LeaseGrant, _ rows: [TokenizedRow]) -> [UInt8] {
        WorkInputs(recipe, lease, rows: rows).digest.bytes
    }
}

/// One process without any faults.
struct StraightSource: GradientSource {
    let model: MadeUpModel

    var workerCount: Int { 1 }

    var local: (any LocalSource)? {
        model.logical.map { StraightRounds(workers: $0, recipe: model.recipe) }
    }

    func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (MicroBatchResult) throws -> Void
    ) throws {
        for microBatch in microBatches {
            try deliver(model.result(of: microBatch, parameters: parameters))
        }
    }

    func evaluate(
        _ rows: [TokenizedRow], afterStep step: Int, parameters: [Float], microBatchTokens: Int
    ) -> RowEvaluation {
        let groups = RowEvaluation.groups(of: rows, microBatchTokens: microBatchTokens)
        let losses = groups.enumerated().map { index, group in
            model.loss(of: group, parameters: parameters, afterStep: step, isFirst: index == 0)
        }
        return RowEvaluation(losses: losses, rows: rows.count)
    }
}

/// The rounds of a run with local steps in one process: every state is rebuilt from the last one that
/// was saved, and none is kept.
struct StraightRounds: LocalSource {
    let workers: LogicalWorkers
    let recipe: WorkRecipe

    func compute(_ round: LocalRound, deliver: (MicroBatchResult) throws -> Void) throws {
        for work in round.work {
            let replay = round.history.replay(of: work.worker)
            guard
                let start = try workers.rebuild(replay, workspace: DecoderWorkspace()),
                let outcome = workers.perform(
                    work, parameters: round.outer.parameters, state: start,
                    workspace: DecoderWorkspace())
            else { return }
            var result = MicroBatchResult(
                index: work.worker, sum: outcome.sum, digest: outcome.digest, worker: "local",
                attempt: 1,
                state: NamedState(digest: outcome.state.digest, state: outcome.state))
            result.inputs = WorkInputs(
                recipe, parameters: GradientCodec.digest(of: round.outer.values), work: work,
                state: round.starts[work.worker])
            try deliver(result)
        }
    }

    func advance(to outer: OuterState, by average: [UInt8]) {}
}

/// What a simulated worker computes with: a lease takes virtual time, in layers that see that nobody
/// wants them any more.
final class VirtualEngine: LeaseEngine, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    let dataDigest: [UInt8]
    let configurationDigest: [UInt8]
    let recipeDigest: [UInt8]
    let fingerprint: String
    let parameters: ParameterStore
    private let local: LogicalWorkers?
    private let states: LocalStates
    private var replays: [WorkKey: StateReplay] = [:]
    /// The coordinator of these; a key means something else to another one.
    private var askedStart: [UInt8] = []
    /// Jobs whose state was asked for.
    private var asked: [ObjectIdentifier: WorkKey] = [:]
    private let offer: Offer
    private let model: MadeUpModel
    private unowned let worker: SimulatedWorker
    private let loop: VirtualLoop

    private static let layers = 4

    init(_ offer: Offer, _ worker: SimulatedWorker, _ loop: VirtualLoop) {
        self.offer = offer
        self.worker = worker
        self.loop = loop
        model = worker.model
        dataDigest = offer.dataDigest
        configurationDigest = offer.configurationDigest
        recipeDigest = offer.recipeDigest
        fingerprint = offer.fingerprint
        local = worker.model.logical
        states = LocalStates(workers: local?.settings.shape.workers ?? 1)
        parameters = ParameterStore(ParameterCoding(local?.settings, count: model.count))
    }

    private var bounds: LocalBounds? {
        local.map { LocalBounds($0.settings, model.configuration, count: model.count) }
    }

    var mostGradientBytes: Int {
        bounds?.resultBytes ?? model.codec.mostPackedBytes(count: model.count)
    }

    var mostReplayBytes: Int { bounds?.replayBytes ?? 0 }

    func receive(_ replay: StateReplay) { replays[replay.key] = replay }

    func wantsState(_ key: WorkKey) -> Bool { asked.values.contains(key) && replays[key] == nil }

    func wake() { parameters.wake() }

    func adopt(_ offer: Offer) {}

    func serves(_ other: Offer) -> Bool {
        offer.modelDigest == other.modelDigest && offer.dataDigest == other.dataDigest
            && offer.configurationDigest == other.configurationDigest
    }

    func close(whenClosed: @escaping @Sendable () -> Void) {
        parameters.close()
        loop.later(.zero) { whenClosed() }
    }

    func start(
        _ job: LeaseJob, needParameters: @escaping @Sendable (UInt64) -> Void,
        needState: @escaping @Sendable (WorkKey) -> Void,
        ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        if worker.hangs { return }
        let again = { @Sendable [self] in
            start(job, needParameters: needParameters, needState: needState, ended: ended)
        }
        let answer = parameters.parametersNow(
            of: job, isAbandoned: { job.progress.isAbandoned })
        switch answer {
        case .abandoned:
            asked[ObjectIdentifier(job.progress)] = nil
            loop.later(.zero) { ended(.success(nil)) }
        case .unusable(let version):
            // Bytes are never damaged here: it was sent, or taken, in place of another one.
            worker.world.violate("\(worker.name) cannot use version \(version)")
            needParameters(version)
            loop.later(.milliseconds(5), again)
        case nil: loop.later(.milliseconds(5), again)
        case .parameters(let values):
            if !hasState(of: job, needState) { return loop.later(.milliseconds(5), again) }
            asked[ObjectIdentifier(job.progress)] = nil
            job.progress.begin(layers: Self.layers)
            let rounds = 1 + (replays[job.lease.key]?.rounds.count ?? 0)
            let tokens = rounds * job.lease.rows.reduce(0) { $0 + $1.ids.count }
            goOn(job, values, each: worker.pace * Double(tokens) / Double(Self.layers), ended)
        }
    }

    /// Whether the state from which a lease starts is here, or what rebuilds it; else asks for that.
    private func hasState(
        of job: LeaseJob, _ needState: (WorkKey) -> Void
    ) -> Bool {
        if askedStart != job.start { (askedStart, asked, replays) = (job.start, [:], [:]) }
        guard let local = job.lease.local, local.state != LocalLease.noState,
            let name = SHA256.Digest(local.state), states.state(name) == nil,
            replays[job.lease.key] == nil
        else { return true }
        if asked.updateValue(job.lease.key, forKey: ObjectIdentifier(job.progress)) == nil {
            needState(job.lease.key)
        }
        return false
    }

    /// What a logical worker does in a round.
    private func localResult(of lease: LeaseGrant, _ steps: LocalLease, _ values: [Float])
        -> WorkResult
    {
        guard let local else { fatalErrorInTest("local steps of another run") }
        states.dropUnused(in: Int(lease.step))
        var state = LocalState(count: model.count)
        if steps.state != LocalLease.noState, let name = SHA256.Digest(steps.state) {
            if let known = states.state(name) {
                state = known
            } else if let replay = replays[lease.key],
                let known = try? replay.replay(
                    count: model.count, check: { $0.map { TokenizedRow($0) } }),
                let rebuilt = try? local.rebuild(known, workspace: DecoderWorkspace())
            {
                worker.world.count("state rebuilt")
                state = rebuilt
            }
            if state.digest != name { worker.world.violate("\(worker.name) has another state") }
        }
        replays[lease.key] = nil
        let work = LocalWork(
            round: Int(lease.step), worker: Int(lease.key.index), stepsDone: state.steps,
            scheduledSteps: Int(steps.scheduledSteps), rows: lease.rows.map { TokenizedRow($0) },
            sizes: steps.steps)
        guard
            let outcome = local.perform(
                work, parameters: Array(values[..<model.count]), state: state,
                workspace: DecoderWorkspace())
        else { fatalErrorInTest("abandoned") }
        let name = outcome.state.digest
        states.keep(outcome.state, name, of: work.worker, afterRound: work.round)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .local,
            tokens: UInt32(outcome.sum.tokens), lossTokens: UInt32(outcome.sum.lossTokens),
            correct: 0, lossSum: outcome.sum.lossSum, digest: outcome.digest.bytes,
            inputs: model.inputs(lease, lease.rows.map { TokenizedRow($0) }),
            payload: LocalPayload(
                name: name.bytes, change: outcome.payload,
                state: steps.wantsState ? outcome.state.packed : []
            ).bytes)
    }

    private func fatalErrorInTest(_ what: String) -> Never { preconditionFailure(what) }

    private func goOn(
        _ job: LeaseJob, _ values: [Float], each seconds: Double,
        _ ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        loop.later(.seconds(seconds)) { [self] in
            if worker.hangs { return }
            if job.progress.isAbandoned { return ended(.success(nil)) }
            job.progress.finishLayer()
            guard job.progress.layersDone == Self.layers else {
                return goOn(job, values, each: seconds, ended)
            }
            let result =
                job.lease.local.map { localResult(of: job.lease, $0, values) }
                ?? model.result(
                    of: job.lease, parameters: Array(values[..<model.count]))
            ended(.success(worker.spoiled(result)))
        }
    }
}

/// Loads nothing, in up to 0.3 s.
final class VirtualLoading: EngineLoading, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    let progress = PreparationProgress()
    private let offer: Offer
    private unowned let worker: SimulatedWorker
    private let loop: VirtualLoop

    init(_ offer: Offer, _ worker: SimulatedWorker, _ loop: VirtualLoop) {
        self.offer = offer
        self.worker = worker
        self.loop = loop
    }

    func serves(_ other: Offer) -> Bool {
        var other = other
        (other.term, other.start, other.proof) = (offer.term, offer.start, offer.proof)
        return other == offer
    }

    func receive(_ piece: ModelChunk) -> Bool { false }
    func cancel() {}
    func abandon() { progress.stop() }

    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void
    ) {
        loop.later(worker.world.duration(0...0.3)) { [self] in
            _ = progress.add(1 << 20)
            completion(
                .success(
                    LoadedEngine(
                        modelDigest: offer.modelDigest,
                        engine: VirtualEngine(offer, worker, loop))))
        }
    }
}
