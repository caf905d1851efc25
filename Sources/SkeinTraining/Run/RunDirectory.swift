import Foundation
import SkeinBasics
import SkeinFormats
import Synchronization

/// The output directory of a run, used by one process at a time.
///
/// The lock (flock on `.lock`) lives as long as the object; the system releases it when the process
/// ends, however it ends. No process removes or replaces its file. A lock can be lost, so each process that
/// writes raises the term, too (`takeOver`); from then on, a process that had the directory before is kept
/// out by its `TermFence`.
package final class RunDirectory: Sendable {
    package let path: String
    /// Whether there is a run to continue: `--resume` was given and run.json is there.
    package let isResumed: Bool
    private let base: any Store
    private let fence = Mutex<TermFence?>(nil)
    /// The term when this process got the lock. It may be stopped, and lose the lock, before it raises
    /// the term.
    private let found: TermFile.Entry?
    private let lock: any Sendable & AnyObject

    /// Where the directory is. Once this process has a term, it writes only as long as that is the
    /// newest one.
    package var store: any Store {
        fence.withLock { $0 }.map { FencedStore(base: base, fence: $0) } ?? base
    }

    static let runFileName = "run.json"
    package var runFile: String { FilePath.join(path, Self.runFileName) }
    package var metrics: String { FilePath.join(path, "metrics.jsonl") }
    package var ledger: String { FilePath.join(path, "ledger.jsonl") }
    package var adapter: String { FilePath.join(path, "adapter") }
    /// What workers have said of the base model.
    package var references: String { FilePath.join(path, "references") }
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
        // Before the lock: nothing may be written into a directory that is not the run's.
        _ = try Self.hasRun(path, resuming: resuming, in: store)
        guard let lock = try store.lock(FilePath.join(path, Self.lockName)) else {
            throw TrainingError.outputInUse(path: path)
        }
        found = try Self.termFile(path, store).readIfSound()
        isResumed = try Self.hasRun(path, resuming: resuming, in: store)
        self.path = path
        base = store
        self.lock = lock
        try removeLeftovers()
    }

    private func removeLeftovers() throws {
        for folder in [path, adapter, references] {
            try Self.removeTemporaryFiles(folder, in: store)
        }
        try checkpoints.removeLeftovers()
    }

    /// SHA-256 of the kept adapter's weights: the same however the run was computed.
    ///
    /// - Throws: `FileError`; `TrainingError.takenOver`, if another process may have removed it.
    package func adapterDigest() throws -> SHA256.Digest {
        do {
            return try store.digest(of: FilePath.join(adapter, AdapterFiles.weightsName)).digest
        } catch let error as FileError {
            throw cause(of: error)
        }
    }

    /// Raises the term of this directory durably and returns it: a new one for each process that
    /// runs here, from `first` on. That should be random: workers of a run whose directory was
    /// removed must not take a new run for it.
    ///
    /// `mark` is another number for each process: a term that was restored is told by it.
    ///
    /// From here on a process that had the directory before writes nothing more into it, and this
    /// one only until the next one raises the term.
    ///
    /// - Throws: `TrainingError.damagedRecord`, `.takenOver`; `FileError`.
    package func nextTerm(
        first: UInt32, mark: UInt64 = .random(in: .min ... .max)
    ) throws -> UInt32 {
        let file = Self.termFile(path, base)
        let own = try file.raise(
            first: first, mark: mark,
            expecting: fence.withLock { $0?.own } ?? found, of: path)
        fence.withLock { $0 = TermFence(directory: path, file: file, own: own) }
        // Once more, after the term: what the one before had not yet renamed gets no name now.
        try removeLeftovers()
        return own.term
    }

    private static func termFile(_ path: String, _ store: any Store) -> TermFile {
        TermFile(path: FilePath.join(path, TermFile.name), store: store)
    }

    /// The same for a run without workers, which need not know the number.
    package func takeOver() throws {
        _ = try nextTerm(first: .random(in: 1...1 << 31))
    }

    /// Makes sure that no other process has taken this directory over, for a writer that does not
    /// use `store`.
    ///
    /// - Throws: `TrainingError.takenOver`; `FileError`.
    package func checkTerm() throws {
        try fence.withLock { $0 }?.check()
    }

    /// Why something failed in this directory: `TrainingError.takenOver`, if another process has it now,
    /// or else the error itself.
    func cause(of error: any Error) -> any Error {
        fence.withLock { $0 }?.cause(of: error) ?? error
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

    /// Whether a process has the run at `path`, here or on another host that has the folder; makes
    /// nothing.
    ///
    /// - Throws: `FileError`.
    package static func isInUse(_ path: String) throws -> Bool {
        try DiskStore.isLocked(FilePath.join(path, lockName))
    }

    /// Checks that a path is a directory, or nothing yet.
    ///
    /// - Throws: `TrainingError.outputIsFile`; `FileError` if it may not be looked at.
    package static func checkKind(
        of path: String, in store: any Store = DiskStore()
    ) throws {
        guard let kind = try store.kind(of: path), kind != .directory else { return }
        throw TrainingError.outputIsFile(path: path)
    }

    private static func hasRun(
        _ path: String, resuming: Bool, in store: any Store
    ) throws -> Bool {
        try checkKind(of: path, in: store)
        let names = try store.names(in: path).filter {
            !companions.contains($0) && !Unfinished.isName($0)
        }
        if names.isEmpty { return false }
        guard resuming else { throw TrainingError.outputNotEmpty(path: path) }
        guard names.contains("run.json") else {
            throw TrainingError.notARunDirectory(path: path)
        }
        return true
    }

    private static func removeTemporaryFiles(
        _ directory: String, in store: any Store
    ) throws {
        for name in try store.names(in: directory) where Unfinished.isName(name) {
            try store.remove(FilePath.join(directory, name))
        }
    }
}
