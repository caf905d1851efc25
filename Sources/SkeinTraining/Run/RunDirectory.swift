import Foundation
import SkeinBasics
import SkeinFormats

/// The output directory of a run, used by one process at a time.
///
/// The lock (flock on `.lock`) lives as long as the object; the system releases it when the process
/// ends, however it ends.
package final class RunDirectory: Sendable {
    package let path: String
    /// Whether there is a run to continue: `--resume` was given and run.json is there.
    package let isResumed: Bool
    /// Where the directory is.
    package let store: any Store
    private let lock: any Sendable & AnyObject

    package var runFile: String { FilePath.join(path, "run.json") }
    package var metrics: String { FilePath.join(path, "metrics.jsonl") }
    package var ledger: String { FilePath.join(path, "ledger.jsonl") }
    package var adapter: String { FilePath.join(path, "adapter") }
    package var checkpoints: CheckpointStore {
        CheckpointStore(directory: FilePath.join(path, "checkpoints"), in: store)
    }

    /// Opens the directory for a run, makes it if need be, and removes what a kill left behind.
    ///
    /// With `resuming`, an empty or missing directory is a fresh start: one command continues any
    /// run, even one that was killed before it wrote anything.
    ///
    /// - Parameters:
    ///   - path: `--output`.
    ///   - resuming: `--resume`.
    ///   - store: where the directory is or will be.
    /// - Throws: `TrainingError.outputNotEmpty`, `.outputInUse`, `.notARunDirectory`; `FileError`.
    package init(path: String, resuming: Bool, in store: any Store = DiskStore()) throws {
        try store.makeDirectory(path)
        // Before the lock: nothing may be written into somebody else's directory.
        _ = try Self.hasRun(path, resuming: resuming, in: store)
        guard let lock = try store.lock(FilePath.join(path, Self.lockName)) else {
            throw TrainingError.outputInUse(path: path)
        }
        isResumed = try Self.hasRun(path, resuming: resuming, in: store)
        try Self.removeTemporaryFiles(path, in: store)
        try Self.removeTemporaryFiles(FilePath.join(path, "adapter"), in: store)
        self.path = path
        self.store = store
        self.lock = lock
        try checkpoints.removeLeftovers()
    }

    /// SHA-256 of the kept adapter's weights: the same however the run was computed.
    ///
    /// - Throws: `FileError`.
    package func adapterDigest() throws -> SHA256.Digest {
        try store.digest(of: FilePath.join(adapter, AdapterFiles.weightsName)).digest
    }

    /// Raises the term of this directory durably and returns it: a new one for each coordinator
    /// that starts here, from `first` on. That should be random: workers of a run whose directory
    /// was removed must not take a new run for it.
    ///
    /// - Throws: `TrainingError.damagedRecord`; `FileError`.
    package func nextTerm(first: UInt32) throws -> UInt32 {
        try TermFile(path: FilePath.join(path, TermFile.name), store: store).raise(first: first)
    }

    private static let lockName = ".lock"

    /// The folder in which the tasks of a job find each other.
    package static let rendezvousName = "join"

    /// The folder in which a training session of a program keeps what is its own.
    package static let sessionName = "session"

    /// Held by the process that runs a sweep whose runs are folders in this one.
    static let sweepLockName = ".sweep.lock"

    /// What may be there before the run: the lock, a cluster's token and term, where its tasks meet,
    /// a program's session, a sweep's lock, and what a loss has read of the base model.
    private static let companions: Set = [
        lockName, "token", TermFile.name, rendezvousName, sessionName, "references",
        sweepLockName,
    ]

    /// Checks that a run could begin at `path` or, with `resuming`, continue there; makes nothing.
    ///
    /// - Throws: `TrainingError.outputNotEmpty`, `.notARunDirectory`; `FileError`.
    package static func check(_ path: String, resuming: Bool) throws {
        _ = try hasRun(path, resuming: resuming, in: DiskStore())
    }

    private static func hasRun(
        _ path: String, resuming: Bool, in store: any Store
    ) throws -> Bool {
        let names = try store.names(in: path).filter {
            !companions.contains($0) && !isTemporary($0)
        }
        if names.isEmpty { return false }
        guard resuming else { throw TrainingError.outputNotEmpty(path: path) }
        guard names.contains("run.json") else {
            throw TrainingError.notARunDirectory(path: path)
        }
        return true
    }

    /// `name.tmp-123`, which AtomicFile leaves when it is killed.
    private static func isTemporary(_ name: String) -> Bool {
        guard let mark = name.range(of: ".tmp-", options: .backwards) else { return false }
        let process = name[mark.upperBound...]
        return !process.isEmpty && process.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func removeTemporaryFiles(
        _ directory: String, in store: any Store
    ) throws {
        for name in try store.names(in: directory) where isTemporary(name) {
            try store.remove(FilePath.join(directory, name))
        }
    }
}
