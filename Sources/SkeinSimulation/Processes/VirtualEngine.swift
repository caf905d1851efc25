import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinRows
import SkeinTraining

/// What a simulated worker computes with: a lease takes virtual time, in layers that see that
/// they are not wanted any more.
final class VirtualEngine: LeaseEngine, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    let dataDigest: [UInt8]
    let configurationDigest: [UInt8]
    let recipeDigest: [UInt8]
    let answerDigest: [UInt8]
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
        answerDigest = offer.answerDigest
        // What another version computes with has another name.
        fingerprint =
            worker.isForeign ? offer.fingerprint + " of another version" : offer.fingerprint
        local = worker.model.logical
        bounds = local.map {
            LocalBounds($0.settings, worker.model.configuration, count: worker.model.count)
        }
        states = LocalStates(workers: local?.settings.shape.workers ?? 1)
        parameters = ParameterStore(ParameterCoding(local?.settings, count: model.count))
    }

    private let bounds: LocalBounds?

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
        if case .logProbabilities = job.lease.work, !model.recipe.referencesReadParameters {
            worker.world.count("reference")
            return begin(job, [], ended)
        }
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
            begin(job, values, ended)
        }
    }

    private func begin(
        _ job: LeaseJob, _ values: [Float],
        _ ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        job.progress.begin(layers: Self.layers)
        let rounds = 1 + (replays[job.lease.key]?.rounds.count ?? 0)
        let tokens = rounds * job.lease.rows.reduce(0) { $0 + $1.ids.count }
        goOn(job, values, each: worker.pace * Double(tokens) / Double(Self.layers), ended)
    }

    /// Whether the state from which a lease starts is here, or what rebuilds it; else asks for that.
    private func hasState(
        of job: LeaseJob, _ needState: (WorkKey) -> Void
    ) -> Bool {
        if askedStart != job.start { (askedStart, asked, replays) = (job.start, [:], [:]) }
        guard case .local(let local) = job.lease.work, local.state != LocalLease.noState,
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
                // A state that cannot be rebuilt has another name, which is told below.
            } else if let replay = replays[lease.key],
                let known = try? replay.replay(
                    count: model.count, check: { $0.map { TokenizedRow($0) } }),
                // Likewise.
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
            guard let features = worker.features else { return finish(job, values, ended) }
            features.use(job.lease.rows.map(\.ids)) { [self] in finish(job, values, ended) }
        }
    }

    private func finish(
        _ job: LeaseJob, _ values: [Float],
        _ ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        let result =
            if case .local(let steps) = job.lease.work {
                localResult(of: job.lease, steps, values)
            } else {
                model.result(of: job.lease, parameters: Array(values.prefix(model.count)))
            }
        let found = worker.spoiled(result)
        if !found.lossSum.isFinite {
            let what = Computed(start: job.start, name: worker.name, key: found.key)
            worker.world.doubtful[what, default: 0] += 1
        }
        ended(.success(found))
    }
}
