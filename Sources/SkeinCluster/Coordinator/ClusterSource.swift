import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinRows
import SkeinTensors
import SkeinTraining
import Synchronization

/// The workers of a cluster as the training loop's source: what it sees of the network.
///
/// Runs on the thread of the training loop. Every step, and every validation, is a round: its work
/// is handed to the shell, which leases it; results come back to this thread, which unpacks, hashes
/// and checks them, so that the network's thread never computes.
final class ClusterSource: StepSource {
    private let shellHandle: ShellHandle
    private let recipe: WorkRecipe
    private let inbox: RunInbox
    private let codec: GradientCodec
    /// The adapter's parameters as the run begins.
    private let initial: [Float]
    private var parameterCount: Int { initial.count }
    private let microBatchTokens: Int
    private let settings: LocalSettings?
    private let preference: PreferenceLoss?
    /// Answers the sample prompts, on this thread; nil: there are none.
    private let samples: (any SampleMaking)?
    private let shouldStop: @Sendable () -> Bool
    private let own: Mutex<Own>

    /// What only the training loop's thread uses; the lock is never contended.
    private struct Own: Sendable {
        var round: UInt64 = 0
        var publisher: ParameterPublisher
        var payloadBytes = 0
        var figures: FigureMark
    }

    init(
        shellHandle: ShellHandle, inbox: RunInbox, recipe: WorkRecipe,
        configuration: TrainingConfiguration, initial: [Float], local: LocalSettings? = nil,
        samples: (any SampleMaking)? = nil, shouldStop: @escaping @Sendable () -> Bool
    ) {
        self.shellHandle = shellHandle
        self.inbox = inbox
        self.recipe = recipe
        codec = configuration.gradientCodec
        self.initial = initial
        self.samples = samples
        microBatchTokens = configuration.microBatchTokens
        settings = local
        preference = configuration.preferenceLoss
        self.shouldStop = shouldStop
        own = Mutex(Own(publisher: ParameterPublisher(), figures: FigureMark(shellHandle)))
    }

    var workerCount: Int { shellHandle.memberCount }

    func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
        switch work {
        case .gradients(let microBatches, let parameters):
            guard let step = microBatches.first?.step else { return }
            let publication = own.withLock { $0.publisher.publish(parameters) }
            try run(
                .step(step), .gradient(pairs(microBatches[0].tokenShare)), step: step,
                rows: microBatches.map(\.rows), publication: publication, accept: deliver)
        case .round(let round):
            let publication = own.withLock { $0.publisher.publish(round.outer.values, by: nil) }
            try run(
                .step(round.number), .local(round), step: round.number,
                rows: round.work.map(\.rows), publication: publication, accept: deliver)
        }
    }

    func advance(to outer: OuterState, by average: [UInt8]) {
        own.withLock { _ = $0.publisher.publish(outer.values, by: average) }
    }

    /// Loss over rows, computed by the workers and summed as `RowEvaluation.run` sums it.
    func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation {
        let comparesAnswers = preference != nil
        let rows = request.rows
        let groups = RowEvaluation.groups(
            of: rows, microBatchTokens: microBatchTokens, comparesAnswers: comparesAnswers)
        guard !groups.isEmpty else { return RecordedEvaluation(RowEvaluation()) }
        let share = comparesAnswers ? TokenizedRow.tokenShare(of: rows) : 0
        let label = RoundLabel.validation(afterStep: request.step)
        let publication = publish(request.state)
        return try StepSpoiled.repeating("the \(label)") {
            var results: [MicroBatchResult] = []
            try run(
                label, .evaluation(pairs(share)), step: request.step, rows: groups,
                publication: publication
            ) { results.append($0) }
            return RecordedEvaluation(
                groups: results.sorted { $0.index < $1.index }, rows: rows.count,
                comparesAnswers: comparesAnswers)
        }
    }

    /// Publishes parameters for an evaluation: of a run with local steps, with outer momentum. Those
    /// of the next round may be here already.
    private func publish(_ state: [Float]) -> ParameterPublication {
        own.withLock { own in
            settings == nil
                ? own.publisher.publish(state) : own.publisher.publish(state, by: nil)
        }
    }

    private func pairs(_ tokenShare: Double) -> RoundWork.Pairs? {
        preference.map {
            RoundWork.Pairs(tokenShare: tokenShare, hasReferences: $0.kind == .dpo)
        }
    }

    /// Makes the groups a round. A worker that says otherwise than what is recorded is believed if
    /// another one says the same. The adapter as it begins is published, but read only if the reference
    /// has an adapter.
    func logProbabilities(
        of groups: [[TokenizedRow]], recorded: [GroupEntry?],
        deliver: (Int, ReferencePiece) throws -> Void
    ) throws {
        if shouldStop() { throw SourceStopped(reason: .interrupted) }
        let publication = publish(
            settings == nil ? initial : OuterState(parameters: initial).values)
        try run(
            .references, .logProbabilities(recorded: recorded), step: 0, rows: groups,
            publication: publication
        ) { result in
            try deliver(
                result.index,
                ReferencePiece(
                    values: result.logProbabilities, worker: result.worker,
                    attempt: result.attempt))
        }
    }

    func samples(_ parameters: [Float], step: Int, epoch: Int) throws -> [SampleMetrics] {
        guard let samples else { return [] }
        shellHandle.enter("answers the sample prompts")
        return try samples.samples(parameters, step: step, epoch: epoch)
    }

    /// CPU, bytes and payload since the last call: what a step cost its coordinator.
    func takeFigures() -> StepFigures? {
        own.withLock { own in
            let mark = FigureMark(shellHandle)
            defer {
                own.figures = mark
                own.payloadBytes = 0
            }
            return StepFigures(
                cpuSeconds: mark.cpuSeconds - own.figures.cpuSeconds,
                sentBytes: mark.traffic.sent - own.figures.traffic.sent,
                receivedBytes: mark.traffic.received - own.figures.traffic.received,
                payloadBytes: own.payloadBytes)
        }
    }

    /// The verdict on a result, and on the next one if it is already here.
    private func verdicts(
        _ check: ResultCheck, _ received: ReceivedResult
    ) -> [(ReceivedResult, ResultCheck.Verdict)] {
        // For a large adapter, a second unpacked gradient takes more memory than its time is worth.
        let other =
            4 * parameterCount <= Limits.pairedBytes
            ? inbox.takeCheck(round: check.round.number) : nil
        guard let other else { return [(received, check(received))] }
        return Array(zip([received, other], check(received, other)))
    }

    /// One round from its opening to its last result.
    private func run(
        _ label: RoundLabel, _ work: RoundWork.Work, step: Int, rows: [[TokenizedRow]],
        publication: ParameterPublication, accept: (MicroBatchResult) throws -> Void
    ) throws {
        let number = own.withLock { own in
            own.round += 1
            return own.round
        }
        let round = RoundWork(
            number: number, label: label, work: work, step: step, rows: rows,
            publication: publication)
        shellHandle.open(round)
        defer { shellHandle.close(number) }
        let check = ResultCheck(
            round: round, recipe: recipe, codec: codec, parameterCount: parameterCount,
            local: settings)
        var missing = rows.count
        var disputes = 0
        var isSettled = false
        while true {
            let isWaiting = missing > 0 || disputes > 0
            if !isWaiting, !isSettled {
                // Another result of the last piece may have arrived, and may differ.
                shellHandle.settle()
                isSettled = true
            }
            guard let item = isWaiting ? try inbox.take() : inbox.takeNow() else { return }
            switch item {
            case .check(let received) where received.result.key.round == number:
                for (received, verdict) in verdicts(check, received) {
                    if case .accepted(let checked, _) = verdict {
                        try accept(checked)
                        missing -= 1
                        own.withLock { $0.payloadBytes += received.result.payload.count }
                    }
                    shellHandle.checked(received, verdict.outcome)
                }
            case .deliver(let received) where received.result.key.round == number:
                // The same doubtful numbers came twice: the run decides what follows.
                guard let checked = check(received).result else { continue }
                try accept(checked)
                missing -= 1
            case .disputed(let round) where round == number: disputes += 1
            case .settled(let round) where round == number: disputes -= 1
            case .spoiled(let round) where round == number: throw StepSpoiled()
            case .snapshotWanted(let version):
                if version == publication.version,
                    let values = own.withLock({ $0.publisher.last?.values })
                {
                    shellHandle.offer(
                        ParameterPublisher.snapshot(values, of: publication), version: version)
                }
            case .stateWanted(let peer, let key) where key.round == number:
                guard case .local(let outer) = work,
                    outer.work.indices.contains(Int(key.index))
                else { continue }
                let replay = StateReplay(
                    key, outer.history, scheduledSteps: outer.work[0].scheduledSteps)
                shellHandle.bring(EncodedMessage(.stateReplay(replay)), to: peer, for: key)
            case .failed(let error):
                if isWaiting {
                    throw SourceStopped(reason: .failed(error), isDisputed: disputes > 0)
                }
                // This round is complete: leave the error to the next one.
                inbox.put(item)
                return
            case .pulse:
                // A step is soon done; all references of a run are not.
                if isWaiting, shouldStop(), shellHandle.missingCount > 0 || label == .references {
                    throw SourceStopped(reason: .interrupted, isDisputed: disputes > 0)
                }
            case .check, .deliver, .disputed, .settled, .spoiled, .stateWanted:
                // These belong to a closed round; the state answers its results as stale.
                continue
            }
        }
    }
}

/// What a coordinator's two threads, and threads lent to them, had used and sent at one moment.
private struct FigureMark: Sendable {
    let cpuSeconds: Double
    let traffic: Traffic

    /// Call this on the training loop's thread.
    init(_ shellHandle: ShellHandle) {
        let network = shellHandle.figures()
        cpuSeconds =
            (ProcessFigures.threadProcessorSeconds ?? 0) + SideBySide.lentSeconds + network.seconds
        traffic = network.traffic
    }
}
