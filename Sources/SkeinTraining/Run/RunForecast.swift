import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors

/// What a run would take on this machine, before it is begun: steps, memory and time.
package struct RunForecast: Sendable {
    package let job: TrainingJob
    /// Threads that compute.
    package let threads: Int
    /// Where the weights would be, and what the run would take with it.
    package let residence: WeightResidence
    package let memory: MemoryEstimate
    /// Bytes that a run may use; nil if the system does not say.
    package let available: Int?

    /// - Parameters:
    ///   - job: the run.
    ///   - threads: that compute.
    /// - Throws: `MemoryError.tooLarge`, which says what would fit.
    package init(_ job: TrainingJob, threads: Int = SystemProcessors.usable) throws {
        self.job = job
        self.threads = threads
        available = SystemMemory.usable
        (residence, memory) = try TrainingJob.fit(
            [job], available: available, threads: threads, bound: SystemMemory.bound)
    }

    /// Tokens of all steps of the run.
    package var tokens: Int {
        let plan = job.plan
        let whole = plan.lengths.reduce(0, +)
        // A last, shorter epoch has its share; with weights of files an epoch has other rows.
        let perRow = Double(whole) / Double(plan.lengths.count)
        return Int(
            perRow * Double(plan.rowsPerEpoch) * Double(plan.stepCount)
                / Double(plan.stepsPerEpoch))
    }

    /// Passes over the validation rows: after steps, and before the first.
    private var validationTokens: Int {
        job.validation.reduce(0) { $0 + $1.ids.count }
            * (job.validations.count + (job.validatesAtStart ? 1 : 0))
    }

    /// A pass without gradient takes about a third of one with.
    private static let validationShare = 1.0 / 3

    /// Computes one step, of the plan's first, and tells how long the whole run would take.
    ///
    /// Other work on the machine counts; loading is not part of it.
    ///
    /// - Parameter shouldStop: asked while the weights are loaded.
    /// - Returns: seconds.
    /// - Throws: `FormatError`; `CancellationError` when `shouldStop` returned true.
    package func seconds(shouldStop: @escaping @Sendable () -> Bool) throws -> Double {
        let compute = try RunCompute(
            job, residence: residence, positions: job.longestRow, threads: threads,
            shouldStop: shouldStop)
        let engine = try MicroBatchEngine(
            weights: compute.weights, of: job.model, adapter: job.shape,
            configuration: job.configuration)
        let step = job.plan.step(1)
        let microBatches = step.microBatches(
            of: job.training, groups: job.trainingGroups, comparesAnswers: job.comparesAnswers)
        func pass() throws -> Double {
            let began = ContinuousClock.now
            try engine.gradients(
                of: microBatches, parameters: job.initial.values, threads: compute.threads
            ) { _ in }
            return (ContinuousClock.now - began) / .seconds(1)
        }
        // The first pass meets memory that is not there yet; a long one is not taken twice.
        let first = try pass()
        if shouldStop() { throw CancellationError() }
        let taken = first > Self.longPass ? first : min(first, try pass())
        let measured = microBatches.reduce(0) { $0 + $1.rows.reduce(0) { $0 + $1.ids.count } }
        let perToken = taken / Double(max(1, measured))
        return perToken * (Double(tokens) + Self.validationShare * Double(validationTokens))
    }

    private static let longPass = 10.0
}
