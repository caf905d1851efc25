import SkeinBasics
import SkeinExports
import SkeinNodes
import SkeinTraining

extension RunExports.Outcome {
    /// - Throws: `FileError` when the adapter cannot be read.
    init(_ ending: RunEnding) throws {
        self =
            ending.outcome.isComplete
            ? .finished(adapter: try ending.directory.adapterDigest().description) : .interrupted
    }
}
