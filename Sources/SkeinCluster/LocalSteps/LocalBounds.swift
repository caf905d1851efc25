import SkeinCoordination
import SkeinModels
import SkeinTraining

/// The longest messages of a run with local steps; both sides derive them from the configuration.
package struct LocalBounds: Sendable {
    /// The payload of a result: a change and a state.
    package let resultBytes: Int
    /// The payload of parameters.
    let parameterBytes: Int
    /// A message that rebuilds a state.
    package let replayBytes: Int
    /// All averages since the last round that was saved.
    let averageBytes: Int
    /// The most of a message that rebuilds a state, besides rows.
    let replayBytesWithoutRows: Int

    /// Those of a job; nil if it has no local steps.
    package init?(_ job: TrainingJob) {
        guard let settings = job.local else { return nil }
        self.init(settings, job.configuration, count: job.shape.layout.count)
    }

    /// - Parameters:
    ///   - settings: of the run.
    ///   - configuration: of the run.
    ///   - count: parameters of the adapter.
    package init(_ settings: LocalSettings, _ configuration: TrainingConfiguration, count: Int) {
        let change = settings.codec.mostPackedBytes(count: count)
        let state = LocalState.mostPackedBytes(count: count)
        let coding = ParameterCoding(settings, count: count)
        resultBytes = LocalPayload.headByteCount + change + state
        parameterBytes = coding.mostPackedBytes
        let rounds = configuration.saveStateEvery ?? LocalSettings.usualSaveInterval
        averageBytes = rounds * change
        replayBytesWithoutRows =
            StateReplay.headByteCount + state + parameterBytes + averageBytes
        replayBytes = replayBytesWithoutRows + rounds * StateReplay.roundBytes
    }
}
