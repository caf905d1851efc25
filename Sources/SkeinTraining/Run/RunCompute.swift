import SkeinModels
import SkeinTensors

/// What computes a run in one process; runs of a sweep share it.
package struct RunCompute: Sendable {
    package let weights: DecoderWeights
    package let threads: DecoderThreads
    /// One run computes at a time.
    package let turns = Turnstile()
    let features = FeatureStores()

    /// Loads the base model and starts the threads.
    ///
    /// - Parameters:
    ///   - job: whose model and compute type are used.
    ///   - residence: where the weights are.
    ///   - positions: tokens of the longest row.
    ///   - threads: that compute.
    ///   - shouldStop: asked while weights are loaded.
    /// - Throws: `FormatError`; `CancellationError` when `shouldStop` returned true.
    init(
        _ job: TrainingJob, residence: WeightResidence, positions: Int, threads: Int,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws {
        weights = try DecoderWeights(
            model: job.model, residence: residence, compute: job.configuration.compute,
            positions: positions, threads: threads, progress: { _ in !shouldStop() })
        self.threads = DecoderThreads(threadCount: threads)
    }
}
