import Foundation
import SkeinBasics
import SkeinFormats

/// The output directory of a run, held by one process at a time.
///
/// The lock (flock on `.lock`) lives as long as the object; the system lets go of it when the
/// process ends, however it ends.
package final class RunDirectory: Sendable {
    package let path: String
    /// Whether there is a run to go on with: `--resume` was given and run.json is there.
    package let isResumed: Bool
    private let lock: Int32

    package var runFile: String { Directories.join(path, "run.json") }
    package var metrics: String { Directories.join(path, "metrics.jsonl") }
    package var ledger: String { Directories.join(path, "ledger.jsonl") }
    package var adapter: String { Directories.join(path, "adapter") }
    package var checkpoints: CheckpointStore {
        CheckpointStore(directory: Directories.join(path, "checkpoints"))
    }

    /// Opens the directory for a run, makes it if need be, and clears away what a kill left behind.
    ///
    /// With `resuming`, an empty or missing directory is a fresh start: a run that was killed before
    /// it wrote anything can be started with the same command as any other.
    ///
    /// - Parameters:
    ///   - path: `--output`.
    ///   - resuming: `--resume`.
    /// - Throws: `TrainingError.outputNotEmpty`, `.outputInUse`, `.notARunDirectory`; `FileError`.
    package init(path: String, resuming: Bool) throws {
        try AtomicFile.makeDirectory(path)
        // Before the lock: nothing may be written into a directory that is somebody else's.
        _ = try Self.hasRun(path, resuming: resuming)
        let lock = try Self.lock(path)
        do {
            isResumed = try Self.hasRun(path, resuming: resuming)
            try Self.removeTemporaryFiles(path)
            try Self.removeTemporaryFiles(Directories.join(path, "adapter"))
        } catch {
            close(lock)
            throw error
        }
        self.path = path
        self.lock = lock
        try checkpoints.removeLeftovers()
    }

    deinit { close(lock) }

    /// SHA-256 of the kept adapter's weights: what is the same for every way to compute a run.
    ///
    /// - Throws: `FileError`.
    package func adapterDigest() throws -> SHA256.Digest {
        try RegularFile.digest(of: Directories.join(adapter, AdapterFiles.weightsName)).digest
    }

    /// Raises the term of this directory, durably, and returns it: one for each coordinator that
    /// ever works here, from `first`, which should be random: workers of a run in a directory that
    /// is gone must not take a new one for it.
    ///
    /// - Throws: `TrainingError.damagedRecord`; `FileError`.
    package func nextTerm(first: UInt32) throws -> UInt32 {
        try TermFile(path: Directories.join(path, TermFile.name)).raise(first: first)
    }

    private static let lockName = ".lock"

    /// What may stand there before a run does: the lock, and a cluster's token and term.
    private static let companions: Set = [lockName, "token", TermFile.name]

    /// Whether a run could begin at `path` or, with `resuming`, go on there; makes nothing.
    ///
    /// - Throws: `TrainingError.outputNotEmpty`, `.notARunDirectory`; `FileError`.
    package static func check(_ path: String, resuming: Bool) throws {
        _ = try hasRun(path, resuming: resuming)
    }

    private static func hasRun(_ path: String, resuming: Bool) throws -> Bool {
        let names = try Directories.names(in: path).filter {
            !companions.contains($0) && !isTemporary($0)
        }
        if names.isEmpty { return false }
        guard resuming else { throw TrainingError.outputNotEmpty(path: path) }
        guard names.contains("run.json") else {
            throw TrainingError.notARunDirectory(path: path)
        }
        return true
    }

    private static func lock(_ path: String) throws -> Int32 {
        let file = Directories.join(path, lockName)
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: file, code: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw TrainingError.outputInUse(path: path) }
            throw FileError.failed(operation: "lock", path: file, code: code)
        }
        return descriptor
    }

    /// `name.tmp-123`, which AtomicFile leaves when it is killed.
    private static func isTemporary(_ name: String) -> Bool {
        guard let mark = name.range(of: ".tmp-", options: .backwards) else { return false }
        let process = name[mark.upperBound...]
        return !process.isEmpty && process.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func removeTemporaryFiles(_ directory: String) throws {
        for name in try Directories.names(in: directory) where isTemporary(name) {
            try Directories.remove(Directories.join(directory, name))
        }
    }
}
