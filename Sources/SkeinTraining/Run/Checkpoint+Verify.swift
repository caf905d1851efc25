import SkeinBasics

extension Checkpoint {
    /// Checks every file of a checkpoint against its manifest, of whatever run it is.
    ///
    /// - Parameter directory: of the checkpoint.
    /// - Returns: the progress that it holds.
    /// - Throws: `TrainingError.damagedCheckpoint`; `TrainingError.damagedRecord` or `FileError` for
    ///   a state that was not written by Skein; a `FileError` that says nothing of the checkpoint.
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
