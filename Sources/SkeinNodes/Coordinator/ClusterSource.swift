import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinTraining
import Synchronization

/// The workers of a cluster as a source of gradients: what the training loop sees of the network.
///
/// Runs on the thread of the training loop. Every step, and every validation, is a round: its work
/// is handed to the shell, which leases it; results come back to this thread, which unpacks, hashes
/// and checks them, so that the network's thread never computes.
final class ClusterSource: GradientSource {
    private let desk: CoordinatorDesk
    private let inbox: Inbox
    private let codec: GradientCodec
    private let parameterCount: Int
    private let microBatchTokens: Int
    private let shouldStop: @Sendable () -> Bool
    private let own: Mutex<Own>

    /// What belongs to the training loop's thread alone; the lock is never contended.
    private struct Own: Sendable {
        var round: UInt64 = 0
        var publisher: ParameterPublisher
        var payloadBytes = 0
        var figures: FigureMark
    }

    init(
        desk: CoordinatorDesk, inbox: Inbox, configuration: TrainingConfiguration,
        parameterCount: Int, shouldStop: @escaping @Sendable () -> Bool
    ) {
        self.desk = desk
        self.inbox = inbox
        codec = configuration.gradientCodec
        self.parameterCount = parameterCount
        microBatchTokens = configuration.microBatchTokens
        self.shouldStop = shouldStop
        own = Mutex(Own(publisher: ParameterPublisher(), figures: FigureMark(desk)))
    }

    var workerCount: Int { desk.memberCount }

    func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (MicroBatchResult) throws -> Void
    ) throws {
        guard let step = microBatches.first?.step else { return }
        try run(
            RoundLabel.step(step), kind: .gradient, step: step, rows: microBatches.map(\.rows),
            parameters: parameters
        ) { try deliver($0) }
    }

    /// Loss over `rows`, computed by the workers and summed as `RowEvaluation.run` sums it.
    func evaluate(
        _ rows: [TokenizedRow], afterStep step: Int, parameters: [Float]
    ) throws -> RowEvaluation {
        let groups = RowEvaluation.groups(of: rows, microBatchTokens: microBatchTokens)
        guard !groups.isEmpty else { return RowEvaluation(losses: [], rows: 0) }
        let label = RoundLabel.validation(afterStep: step)
        return try StepSpoiled.repeating("the \(label)") {
            var losses = [BatchLoss](repeating: BatchLoss(), count: groups.count)
            try run(
                label, kind: .evaluation, step: step, rows: groups, parameters: parameters
            ) { losses[$0.index] = $0.loss }
            return RowEvaluation(losses: losses, rows: rows.count)
        }
    }

    /// CPU, bytes and payload since the last time: what a step cost its coordinator.
    func takeFigures() -> StepFigures? {
        own.withLock { own in
            let mark = FigureMark(desk)
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

    /// What is to be said of a result, and of the next one when it is there as well.
    private func verdicts(
        _ check: ResultCheck, _ candidate: Candidate
    ) -> [(Candidate, ResultCheck.Verdict)] {
        // Of a large adapter two unpacked ones are more memory than their time is worth.
        let other =
            4 * parameterCount <= Limits.pairedBytes
            ? inbox.takeCheck(round: check.round.number) : nil
        guard let other else { return [(candidate, check(candidate))] }
        return Array(zip([candidate, other], check(candidate, other)))
    }

    /// One round from its opening to its last result.
    private func run(
        _ label: RoundLabel, kind: WorkKind, step: Int, rows: [[TokenizedRow]],
        parameters: [Float], accept: (MicroBatchResult) throws -> Void
    ) throws {
        let (number, publication) = own.withLock { own in
            own.round += 1
            return (own.round, own.publisher.publish(parameters))
        }
        let round = LeasedRound(
            number: number, label: label, kind: kind, step: step, rows: rows,
            publication: publication)
        desk.open(round)
        defer { desk.close(number) }
        let check = ResultCheck(
            round: round, codec: codec, parameterCount: parameterCount)
        var missing = rows.count
        var disputes = 0
        var isSettled = false
        while true {
            let isWaiting = missing > 0 || disputes > 0
            if !isWaiting, !isSettled {
                // Another result of the last piece may lie there, and may differ.
                desk.settle()
                isSettled = true
            }
            guard let item = isWaiting ? try inbox.take() : inbox.takeNow() else { return }
            switch item {
            case .check(let candidate) where candidate.result.key.round == number:
                for (candidate, verdict) in verdicts(check, candidate) {
                    if case .accepted(let checked) = verdict {
                        try accept(checked)
                        missing -= 1
                        own.withLock { $0.payloadBytes += candidate.result.payload.count }
                    }
                    desk.checked(candidate, verdict.outcome)
                }
            case .deliver(let candidate) where candidate.result.key.round == number:
                // Two computed the same numbers that are not finite: it is the run itself.
                guard let checked = check(candidate).result else { continue }
                try accept(checked)
                missing -= 1
            case .disputed(let round) where round == number: disputes += 1
            case .settled(let round) where round == number: disputes -= 1
            case .spoiled(let round) where round == number: throw StepSpoiled()
            case .snapshotWanted(let version):
                if version == publication.version {
                    desk.offer(
                        ParameterPublisher.snapshot(parameters, of: publication),
                        version: version)
                }
            case .failed(let error):
                if isWaiting { throw SourceStopped(reason: .failed(error)) }
                // All of this round is here: the next one is to end by it.
                inbox.put(item)
                return
            case .pulse:
                if isWaiting, shouldStop(), desk.missingCount > 0 {
                    throw SourceStopped(reason: .interrupted)
                }
            case .check, .deliver, .disputed, .settled, .spoiled:
                // Of a round that is closed: answered as stale when it arrived there.
                continue
            }
        }
    }
}

/// What a coordinator's two threads, and those that were lent to them, had used and sent at one moment.
private struct FigureMark: Sendable {
    let cpuSeconds: Double
    let traffic: Traffic

    /// On the training loop's thread.
    init(_ desk: CoordinatorDesk) {
        let network = desk.figures()
        cpuSeconds =
            (ProcessFigures.threadProcessorSeconds ?? 0) + SideBySide.lentSeconds + network.seconds
        traffic = network.traffic
    }
}
