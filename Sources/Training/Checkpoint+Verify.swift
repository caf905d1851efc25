extension Checkpoint {
    /// Checks every file of a checkpoint against its manifest, of whatever run it is.
    ///
    /// - Parameter directory: of the checkpoint.
    /// - Returns: the progress that it holds.
    /// - Throws: `TrainingError.damagedCheckpoint`; `TrainingError.damagedRecord` or `FileError` for
    ///   a state that was not written by Skein.
    public static func verify(directory: String) throws -> TrainingState {
        do throws(CheckpointProblem) {
            try Manifest(directory: directory, requiring: files).verify(directory: directory)
        } catch {
            throw TrainingError.damagedCheckpoint(path: directory, problem: error)
        }
        let path = Directories.join(directory, stateFile)
        return try RecordFile.decode(
            TrainingState.self, from: RecordFile.bytes(of: path), path: path)
    }
}
