import SkeinBasics
import SkeinCluster
import SkeinTraining
import SkeinWatch

extension RunExports.Outcome {
    /// - Throws: `FileError` when the adapter cannot be read.
    init(_ ending: RunEnding) throws {
        self =
            ending.outcome.isComplete
            ? .finished(adapter: try ending.directory.adapterDigest().description) : .interrupted
    }

    /// The run ended with an error.
    init(_ error: any Error) {
        if case TrainingError.takenOver = error { self = .takenOver } else { self = .failed }
    }
}
