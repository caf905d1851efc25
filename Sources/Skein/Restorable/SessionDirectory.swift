import Foundation
import SkeinBasics
import SkeinTraining

/// A run directory with what a session keeps beside the run: `session/session.json`, the pairs that
/// were given in memory, and the tokens of its rows.
///
/// The object of a temporary directory removes it when its last reference is gone.
final class SessionDirectory: Sendable {
    let path: String
    private let isTemporary: Bool

    /// - Parameter url: nil for a temporary directory.
    init(_ url: URL?) {
        isTemporary = url == nil
        path =
            url.map { FilePath.trimmed($0.path) }
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-session-\(UUID().uuidString)").path
    }

    deinit {
        // What cannot be removed lies in the system's folder for temporary files.
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }

    var own: String { FilePath.join(path, RunDirectory.sessionName) }
    var record: String { FilePath.join(own, "session.json") }
    var pairs: String { FilePath.join(own, "pairs.jsonl") }
    var tokens: String { FilePath.join(own, "tokens") }
    /// What frozen blocks made of rows, if the machine keeps that and no other place is given.
    var features: String { FilePath.join(own, "features") }
    var run: String { FilePath.join(path, "run.json") }
    var metrics: String { FilePath.join(path, "metrics.jsonl") }
    var checkpoints: CheckpointStore {
        CheckpointStore(directory: FilePath.join(path, "checkpoints"))
    }

    /// Makes the directory for a new session and writes its record, last of all.
    ///
    /// - Parameters:
    ///   - pairs: the rows; those in memory are written.
    ///   - make: makes the session from its data.
    /// - Returns: the session.
    /// - Throws: `SkeinError` if the directory already holds a session or anything else, or if
    ///   another task makes or trains one there now; what `make` throws.
    func begin(
        _ pairs: TrainingPairs, make: (Dataset) throws -> TrainingSession
    ) throws -> TrainingSession {
        try pairs.check()
        try checkIsNew()
        // Holds the lock, so that of several threads and programs one makes the session.
        let locked = try RunDirectory(path: path, resuming: false)
        return try withExtendedLifetime(locked) {
            try checkIsNew()
            try AtomicFile.makeDirectory(own, access: .own)
            let session: TrainingSession
            switch pairs {
            case .dataset(let dataset): session = try make(dataset)
            case .pairs(let rows):
                try TrainingPairs.write(rows, to: self.pairs)
                session = try make(Dataset(at: self.pairs))
            }
            try session.record().write(to: record)
            return session
        }
    }

    private func checkIsNew() throws {
        for found in [record, run] where DiskStore().exists(found) {
            throw SkeinError(
                code: .usage, what: "the directory already holds a session", place: found,
                remedy: "continue it with restoreTrainingSession, or use another directory")
        }
    }
}
