import Foundation
import SkeinBasics

/// Whether a run directory still is this process's: decides it for all that it writes there.
///
/// The lock of a directory can be lost without a word: the server of a network file system forgets
/// the locks of a host that was away, and a process that was stopped meanwhile goes on as if nothing
/// had been. A process that takes a directory over raises its term first. So OUT/term is read again
/// before each write, and once it is not this process's, nothing more is written.
///
/// Between reading and writing something may happen all the same. What is left of that window:
/// - A file or a checkpoint gets its name after it was checked. By then its temporary name, which
///   no other has, must have been there before the term was raised, and the process that raises it
///   removes those names after that: the renaming fails.
/// - Lines go to the file that was opened. The process that takes over puts a copy in its place
///   (`LineFile`), so late lines go to a file without a name.
/// - The removal of an old checkpoint that was checked may come late; it is one that the newer run
///   does not need, either.
struct TermFence: Sendable {
    /// OUT, for people.
    let directory: String
    let file: TermFile
    let own: TermFile.Entry
    private let ownBytes: [UInt8]

    init(directory: String, file: TermFile, own: TermFile.Entry) {
        self.directory = directory
        self.file = file
        self.own = own
        ownBytes = Array(TermFile.text(own).utf8)
    }

    /// A server may have forgotten the file that was just replaced; asked again, it knows the new one.
    private static let tries = 3

    /// Reads the term again: it is opened each time, since a network file system looks at its server
    /// only then. It takes some 40 microseconds on a local disk, where a durable line takes thousands.
    ///
    /// - Throws: `TrainingError.takenOver`; `FileError` when it cannot be known.
    func check() throws {
        var found: TermFile.Entry?
        for attempt in 1...Self.tries {
            do {
                let bytes = try file.bytes()
                if bytes == ownBytes { return }
                found = try file.entry(bytes)
                break
            } catch FileError.failed(_, _, ESTALE) where attempt < Self.tries {
                continue
            } catch FileError.failed(_, _, ENOENT) {
                break
            } catch TrainingError.damagedRecord {
                break
            }
        }
        throw TrainingError.takenOver(path: directory, own: own.term, found: found?.term)
    }

    /// Why something failed here: another process has taken the directory over, if OUT/term says so, and
    /// may have removed what was to be read; otherwise the error itself.
    func cause(of error: any Error) -> any Error {
        do {
            try check()
        } catch TrainingError.takenOver(let path, let own, let found?) {
            return TrainingError.takenOver(path: path, own: own, found: found)
        } catch {
            // The term cannot be read, either, or the whole directory is gone: the first error says it.
        }
        return error
    }
}

/// A store that writes only as long as the fence allows it; reading is free. What cannot be read any more
/// may be what the process that took over has removed: `RunAssembly` asks for the cause.
struct FencedStore: Store {
    let base: any Store
    let fence: TermFence

    var calls: any FileCalls { base.calls }

    func makeDirectory(_ path: String) throws {
        try fence.guarding { try base.makeDirectory(path) }
    }

    func names(in path: String) throws -> [String] { try base.names(in: path) }

    func exists(_ path: String) -> Bool { base.exists(path) }

    func kind(of path: String) throws -> FileKind? { try base.kind(of: path) }

    func write(
        to path: String, check: () throws -> Void,
        _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        try fence.guarding {
            try base.write(
                to: path,
                check: {
                    try fence.check()
                    try check()
                }, body)
        }
    }

    func file(
        copying path: String, check: (_ file: MappedFile.Preview) throws -> Void
    ) throws -> MappedFile { try base.file(copying: path, check: check) }

    func digest(
        of path: String, check: (_ count: Int) throws -> Void
    ) throws -> (count: Int, digest: SHA256.Digest) {
        try base.digest(of: path, check: check)
    }

    func rename(_ old: String, to new: String) throws {
        try fence.guarding { try base.rename(old, to: new) }
    }

    func remove(_ path: String) throws {
        try fence.guarding { try base.remove(path) }
    }

    func growingFile(_ path: String) throws -> any GrowingFile {
        try fence.guarding { FencedFile(base: try base.growingFile(path), fence: fence) }
    }

    func lock(_ path: String) throws -> (any Sendable & AnyObject)? { try base.lock(path) }
}

/// A file that grows only as long as the fence allows it.
private final class FencedFile: GrowingFile {
    private let base: any GrowingFile
    private let fence: TermFence

    init(base: any GrowingFile, fence: TermFence) {
        self.base = base
        self.fence = fence
    }

    func cut(to count: Int) throws { try fence.guarding { try base.cut(to: count) } }

    func append(_ bytes: [UInt8]) throws { try fence.guarding { try base.append(bytes) } }
}

extension TermFence {
    /// Checks, and writes.
    fileprivate func guarding<Result>(_ write: () throws -> Result) throws -> Result {
        try check()
        do {
            return try write()
        } catch let error as FileError {
            throw cause(of: error)
        }
    }
}
