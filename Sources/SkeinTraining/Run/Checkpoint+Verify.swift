import SkeinBasics

extension Checkpoint {
    /// Checks every file of a checkpoint of any run against its manifest.
    ///
    /// - Parameter directory: of the checkpoint.
    /// - Returns: the progress of its run.
    /// - Throws: `TrainingError.damagedCheckpoint`; `.damagedRecord` or `FileError` for a state
    ///   that Skein did not write; a `FileError` that says nothing about the checkpoint.
    package static func verify(directory: String) throws -> TrainingState {
        let store = DiskStore()
        do {
            try Manifest(directory: directory, requiring: files, in: store)
                .verify(directory: directory, in: store)
        } catch let problem as CheckpointProblem {
            throw TrainingError.damagedCheckpoint(path: directory, problem: problem)
        }
        let path = FilePath.join(directory, stateFile)
        return try RecordFile.decode(
            TrainingState.self, from: RecordFile.bytes(of: path, in: store), path: path)
    }
}
