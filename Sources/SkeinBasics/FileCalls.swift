import Foundation

/// The system calls by which Skein keeps files: what `DiskStore` and `AtomicFile` stand on.
///
/// `SystemCalls` are the system's. A simulation has its own, of a disk that is in memory: they lose
/// what was not flushed, fail, and kill the process that makes them. None of them makes an attempt
/// again; `FileCalls+Loops.swift` does what EINTR and short writes ask for.
///
/// What a call returns is a value or an `errno`. It throws only where the process that made it has
/// died, which only a simulated one survives: that is no failure of a disk, and nothing but the start
/// of the next process may catch it.
package protocol FileCalls: Sendable {
    /// Digits that no other process has, for names of temporary files.
    var mark: String { get }
    /// The user whose rights count.
    var user: uid_t { get }

    func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> CallResult<Int32>
    /// Another descriptor of the same open file.
    func duplicate(_ descriptor: Int32) throws -> CallResult<Int32>
    /// Frees a descriptor. What is written or locked stays as it is, so a process need not die here.
    func close(_ descriptor: Int32)

    func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws -> CallResult<Int>
    func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws -> CallResult<Int>
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws -> CallResult<Int>
    func write(
        _ descriptor: Int32, at offset: Int, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Int>
    func cut(_ descriptor: Int32, to count: Int) throws -> CallResult<Void>
    /// Waits until what was written, or the names of a directory, would survive a loss of power.
    func flush(_ descriptor: Int32) throws -> CallResult<Void>

    /// Takes a lock of a kind that flock(2) knows.
    func lock(_ descriptor: Int32, _ kind: Int32) throws -> CallResult<Void>
    func unlock(_ descriptor: Int32)

    func status(_ descriptor: Int32) throws -> CallResult<FileStatus>
    func status(of path: String) throws -> CallResult<FileStatus>
    /// The same of a link itself.
    func linkStatus(of path: String) throws -> CallResult<FileStatus>
    /// Whether something is at a path, or where the links at it lead; false also where that cannot be
    /// known.
    func isThere(_ path: String) -> Bool
    /// Where a link leads.
    func target(ofLink path: String) throws -> CallResult<String>
    /// Names in a directory, in any order.
    func names(in path: String) throws -> CallResult<[String]>

    func rename(_ old: String, to new: String) throws -> CallResult<Void>
    func unlink(_ path: String) throws -> CallResult<Void>
    func makeDirectory(_ path: String, mode: mode_t) throws -> CallResult<Void>
    func removeDirectory(_ path: String) throws -> CallResult<Void>

    func setMode(_ descriptor: Int32, _ mode: mode_t) throws -> CallResult<Void>
    func setMode(of path: String, _ mode: mode_t) throws -> CallResult<Void>
    /// Sets the times of use and of change to now, if the system does that.
    func touch(_ descriptor: Int32)
    func touch(_ path: String)
    /// Bytes that a user may still write; nil if they are no number of bytes.
    func freeBytes(_ descriptor: Int32) throws -> CallResult<Int?>

    /// Waits before another attempt.
    func pause(microseconds: UInt32)

    /// Does something that no two threads of this process may do at a time.
    func inTurn(_ body: () throws -> Void) rethrows
}

/// What a system call returned.
package enum CallResult<Value> {
    case done(Value)
    /// With `errno`.
    case failed(Int32)

    /// Why it failed; nil: it did not.
    package var code: Int32? {
        if case .failed(let code) = self { code } else { nil }
    }

    /// The value, or the error that names the operation and the path.
    package func get(_ operation: String, _ path: String) throws(FileError) -> Value {
        switch self {
        case .done(let value): return value
        case .failed(let code):
            throw FileError.failed(operation: operation, path: path, code: code)
        }
    }
}

extension CallResult: Sendable where Value: Sendable {}

extension CallResult where Value == Void {
    package static var done: Self { .done(()) }
}

/// What stat(2) says.
package struct FileStatus: Sendable, Equatable {
    package var kind: FileKind
    /// Who may do what.
    package var mode: mode_t
    package var owner: uid_t
    package var size: Int
    /// When it was changed, in nanoseconds of the system's clock.
    package var modified: Int64
    package var identity: Identity

    /// Which file it is: of all that are there at one time, no other has the same.
    package struct Identity: Sendable, Equatable {
        package var device: UInt64
        package var number: UInt64

        package init(device: UInt64, number: UInt64) {
            self.device = device
            self.number = number
        }
    }

    package init(
        kind: FileKind, mode: mode_t, owner: uid_t, size: Int, modified: Int64,
        identity: Identity
    ) {
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.size = size
        self.modified = modified
        self.identity = identity
    }

    init(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(
            kind: FileKind(mode: status.st_mode), mode: status.st_mode & 0o7777,
            owner: status.st_uid, size: Int(status.st_size),
            modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec),
            identity: Identity(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino)))
    }
}
