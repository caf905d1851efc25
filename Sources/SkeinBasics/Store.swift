/// Durable files: what a run leaves behind and goes on from.
///
/// `DiskStore` makes system calls (`FileCalls`). In a simulation they are those of a disk in memory, which
/// forgets what was not flushed, fails, and kills its process. Models and data are read by other ways: they
/// are large, and nothing is written there.
package protocol Store: Sendable {
    /// What it stands on, for files that are read and written in other ways.
    var calls: any FileCalls { get }

    /// Makes a directory and those above it that are missing; they stay after power is lost.
    func makeDirectory(_ path: String) throws

    /// Names in a directory, sorted; empty when there is no such directory.
    func names(in path: String) throws -> [String]

    func exists(_ path: String) -> Bool

    /// What is at a path, or where the links at it lead; nil: nothing.
    func kind(of path: String) throws -> FileKind?

    /// Replaces the file at `path` with what `body` appends: it is there whole or not at all, and
    /// stays. `check` is called when all bytes are durable under another name, just before they get
    /// this one; what it throws leaves the old file.
    func write(
        to path: String, check: () throws -> Void,
        _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws

    /// All of a file in memory. `check` is shown it before memory is asked for.
    func file(
        copying path: String, check: (_ file: MappedFile.Preview) throws -> Void
    ) throws -> MappedFile

    /// Size and SHA-256 of a file; `check` is told the size before anything is read.
    func digest(
        of path: String, check: (_ count: Int) throws -> Void
    ) throws -> (count: Int, digest: SHA256.Digest)

    /// Renames, and makes that durable.
    func rename(_ old: String, to new: String) throws

    /// Removes a file or a directory with all that is in it; nothing there is fine.
    func remove(_ path: String) throws

    /// Opens or makes a file that grows; it stays.
    func growingFile(_ path: String) throws -> any GrowingFile

    /// Locks `path`, which is made, until what is returned is let go of or the process ends.
    ///
    /// - Returns: nil while another process holds it.
    func lock(_ path: String) throws -> (any Sendable & AnyObject)?
}

/// A file that is appended to.
package protocol GrowingFile: AnyObject, Sendable {
    /// Cuts the file to `count` bytes, durably.
    func cut(to count: Int) throws

    /// Appends all of `bytes`, durably.
    func append(_ bytes: [UInt8]) throws
}

extension Store {
    /// Replaces the file at `path` with what `body` appends.
    package func write(
        to path: String, _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        try write(to: path, check: {}, body)
    }

    /// Replaces the file at `path` with `bytes`.
    package func write(_ bytes: [UInt8], to path: String) throws {
        try write(to: path) { append in try bytes.withUnsafeBytes { try append($0) } }
    }

    /// Replaces the file at `path` with the UTF-8 bytes of `text`.
    package func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    package func digest(of path: String) throws -> (count: Int, digest: SHA256.Digest) {
        try digest(of: path) { _ in }
    }
}
