import SkeinBasics

/// A data file, mapped and hashed before a line of it is read.
struct DataFile: Sendable {
    let path: String
    let mapped: MappedFile
    /// Of the file's bytes.
    let digest: SHA256.Digest

    /// - Throws: `FileError`; `TrainingError.dataFileTooLarge`.
    init(path: String) throws {
        let file = try MappedFile(path: path)
        guard file.count <= Limits.dataFileBytes else {
            throw TrainingError.dataFileTooLarge(
                path: path, bytes: file.count, limit: Limits.dataFileBytes)
        }
        self.path = path
        mapped = file
        digest = file.withBytes { SHA256.digest(of: $0) }
    }
}
