import SkeinRows

/// Computes what the training loop asks for.
///
/// In one process that is `InProcessSource`; in a cluster it is whichever worker has the lease.
/// The training loop cannot tell, and the result does not depend on it.
package protocol StepSource: Sendable {
    /// How many workers take part, for the metrics.
    var workerCount: Int { get }

    /// Computes every part of a step and delivers each result once, in any order.
    ///
    /// - Throws: what `deliver` throws, and what keeps the source from computing; `StepSpoiled`
    ///   when the step must be computed again.
    func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws

    /// The loss of rows with parameters.
    func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation

    /// Computes the log-probability of each row's loss tokens under the run's reference.
    ///
    /// - Parameters:
    ///   - groups: of encoded rows.
    ///   - recorded: what the run has recorded of each group, in the same order, which may decide
    ///     whom to believe.
    ///   - deliver: gets each group's place and numbers, in any order.
    /// - Throws: as `compute`.
    func logProbabilities(
        of groups: [[TokenizedRow]], recorded: [GroupEntry?],
        deliver: (Int, ReferencePiece) throws -> Void
    ) throws

    /// Answers the sample prompts with the parameters after a step of an epoch.
    func samples(_ parameters: [Float], step: Int, epoch: Int) throws -> [SampleMetrics]

    /// The next round of a run with local steps starts from `outer`, which follows from the last
    /// one by the packed average.
    func advance(to outer: OuterState, by average: [UInt8])

    /// What the source has spent since the last call; nil if it does not count that.
    func takeFigures() -> StepFigures?
}

/// What a step of the plan computes.
package enum StepWork: Sendable {
    /// The gradient of each micro-batch with the same parameters.
    case gradients([MicroBatch], parameters: [Float])
    /// What each logical worker does in a round. A result has its state where the round wants it, or
    /// where it is here anyway.
    case round(OuterRound)

    /// How many results there are.
    var count: Int {
        switch self {
        case .gradients(let microBatches, _): microBatches.count
        case .round(let round): round.work.count
        }
    }
}

/// The source stopped in the middle of a step, an evaluation or the references. What was committed
/// stays.
package struct SourceStopped: Error {
    package enum Reason: Sendable {
        /// The run was asked to stop, and the step could not be finished.
        case interrupted
        /// No worker can compute any more.
        case failed(any Error)
    }

    package let reason: Reason
    /// Whether workers gave different results of what was delivered, and none was chosen yet.
    package let isDisputed: Bool

    package init(reason: Reason, isDisputed: Bool = false) {
        self.reason = reason
        self.isDisputed = isDisputed
    }
}

/// A result that was delivered has turned out wrong: the whole step must be computed again.
package struct StepSpoiled: Error {
    package init() {}

    /// Calls `body` again each time it throws `StepSpoiled`, up to a limit.
    ///
    /// - Parameters:
    ///   - what: what is computed, for the error: "step 7".
    ///   - body: computes all of it.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `SourceStopped` with `TrainingError.spoiled` at the limit.
    package static func repeating<Value>(
        _ what: String, _ body: () throws -> Value
    ) throws -> Value {
        for _ in 0..<Limits.spoiledAttempts {
            do {
                return try body()
            } catch is StepSpoiled {
                continue
            }
        }
        throw SourceStopped(
            reason: .failed(TrainingError.spoiled(what: what, times: Limits.spoiledAttempts)))
    }
}

extension StepSource {
    package func takeFigures() -> StepFigures? { nil }
}

/// What a step cost the coordinator, besides time.
package struct StepFigures: Sendable, Equatable {
    /// CPU time of the coordinator's threads, without that of workers in the same process.
    package var cpuSeconds: Double
    /// On the wire, frames and heartbeats included.
    package var sentBytes: Int
    /// On the wire, frames and heartbeats included.
    package var receivedBytes: Int
    /// Packed gradients that went into the step.
    package var payloadBytes: Int

    package init(cpuSeconds: Double, sentBytes: Int, receivedBytes: Int, payloadBytes: Int) {
        self.cpuSeconds = cpuSeconds
        self.sentBytes = sentBytes
        self.receivedBytes = receivedBytes
        self.payloadBytes = payloadBytes
    }
}
