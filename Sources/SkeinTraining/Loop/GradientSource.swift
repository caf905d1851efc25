import SkeinModels
import SkeinTensors

/// Computes micro-batches for the training loop.
///
/// In one process that is `LocalGradientSource`; in a cluster it is whichever worker has the lease.
/// The training loop cannot tell, and the result does not depend on it.
package protocol GradientSource: Sendable {
    /// How many workers take part, for the metrics.
    var workerCount: Int { get }

    /// Computes every micro-batch of a step with the given parameters and delivers each result once,
    /// in any order.
    ///
    /// - Throws: what `deliver` throws, and what keeps the source from computing; `StepSpoiled`
    ///   when the step must be computed again.
    func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (MicroBatchResult) throws -> Void
    ) throws

    /// Computes the rounds of a run with local steps; nil: this source cannot.
    var local: (any LocalSource)? { get }

    /// What the source has spent since the last call; nil if it does not count that.
    func takeFigures() -> StepFigures?
}

/// The source stopped in the middle of a step or a validation. What was committed stays.
package struct SourceStopped: Error {
    package enum Reason: Sendable {
        /// The run was asked to stop, and the step could not be finished.
        case interrupted
        /// Nobody can compute any more.
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

extension GradientSource {
    package func takeFigures() -> StepFigures? { nil }

    package var local: (any LocalSource)? { nil }
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

/// Computes micro-batches on threads of this process.
package struct LocalGradientSource: GradientSource {
    package let engine: MicroBatchEngine
    package let threads: DecoderThreads
    package let local: (any LocalSource)?
    private let recipe: WorkRecipe?

    /// - Parameters:
    ///   - engine: that computes.
    ///   - threads: of this process.
    ///   - logical: computes the rounds of a run with local steps.
    ///   - recipe: of the run, for what results say that they were computed from; nil: they do not.
    package init(
        engine: MicroBatchEngine, threads: DecoderThreads, logical: LogicalWorkers? = nil,
        recipe: WorkRecipe? = nil
    ) {
        self.engine = engine
        self.threads = threads
        self.recipe = recipe
        local = logical.map { InProcessRounds(workers: $0, threads: threads, recipe: recipe) }
    }

    package var workerCount: Int { 1 }

    package func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (MicroBatchResult) throws -> Void
    ) throws {
        let digest = recipe.map { _ in GradientCodec.digest(of: parameters) }
        try threads.forEach(microBatches.count) { [engine, recipe] index, workspace, place in
            let microBatch = microBatches[index]
            var result = engine.gradient(
                of: microBatch, parameters: parameters, workspace: workspace, place: place)
            if let recipe, let digest {
                result.inputs = WorkInputs(recipe, parameters: digest, gradientOf: microBatch)
            }
            return result
        } receive: { _, result in
            try deliver(result)
        }
    }
}
