import Foundation

/// The system's disk, or one that is reached by other calls.
package struct DiskStore: Store {
    package let calls: any FileCalls

    package init(calls: any FileCalls = SystemCalls()) { self.calls = calls }

    package func makeDirectory(_ path: String) throws {
        try AtomicFile.makeDirectory(path, in: calls)
    }

    package func names(in path: String) throws -> [String] {
        let result = try calls.listWholly(path)
        return result.code == ENOENT ? [] : try result.get("list", path).sorted()
    }

    package func exists(_ path: String) -> Bool { calls.isThere(path) }

    package func kind(of path: String) throws -> FileKind? {
        try FileKind.at(path, in: calls)
    }

    package func write(
        to path: String, check: () throws -> Void,
        _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        try AtomicFile.write(to: path, check: check, in: calls) { output in
            try body { try output.append($0) }
        }
    }

    package func file(
        copying path: String, check: (_ file: MappedFile.Preview) throws -> Void
    ) throws -> MappedFile {
        try MappedFile(copying: path, in: calls, check: check)
    }

    package func digest(
        of path: String, check: (_ count: Int) throws -> Void
    ) throws -> (count: Int, digest: SHA256.Digest) {
        try RegularFile.digest(of: path, in: calls, check: check)
    }

    package func rename(_ old: String, to new: String) throws {
        try calls.rename(old, to: new).get("rename into place", new)
        try AtomicFile.syncDirectory(of: new, in: calls)
    }

    package func remove(_ path: String) throws {
        guard exists(path) else { return }
        try calls.removeTree(path).get("remove", path)
    }

    package func growingFile(_ path: String) throws -> any GrowingFile {
        let file = try DiskFile(
            path, operation: "open", flags: O_RDWR | O_CREAT | O_APPEND, calls)
        try AtomicFile.syncDirectory(of: path, in: calls)
        return file
    }

    package func lock(_ path: String) throws -> (any Sendable & AnyObject)? {
        let file = try DiskFile(path, operation: "create", flags: O_RDWR | O_CREAT, calls)
        if try file.lock() { return HeldLock(file) }
        // A process that only looks (`isLocked`) has it for less than a millisecond.
        calls.pause(microseconds: 20_000)
        return try file.lock() ? HeldLock(file) : nil
    }

    /// Bytes that a user may still write at a path; nil if the system does not say.
    ///
    /// - Throws: `FileError`.
    package static func freeBytes(at path: String) throws -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            throw FileError.failed(operation: "look at", path: path, code: errno)
        }
        return freeBytes(status)
    }

    /// Bytes that a user may still write; nil if they are no number of bytes.
    package static func freeBytes(_ status: statvfs) -> Int? {
        let (bytes, isTooMany) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return isTooMany ? nil : Int(exactly: bytes)
    }

    /// Whether a process holds the lock of a file; a file that is not there is not locked.
    ///
    /// - Throws: `FileError`.
    package static func isLocked(_ path: String) throws -> Bool {
        let calls = SystemCalls()
        guard try FileKind.at(path, in: calls) != nil else { return false }
        let file = try DiskFile(path, operation: "open", flags: O_RDONLY, calls)
        guard try file.lock(LOCK_SH) else { return true }
        file.unlock()
        return false
    }
}

/// A locked file, until it is freed.
private final class HeldLock: Sendable {
    private let file: DiskFile

    init(_ file: DiskFile) { self.file = file }

    /// Closing the file would not do: a child that another thread is just starting has a copy of
    /// the descriptor until it runs its program, and would hold the lock as long.
    deinit { file.unlock() }
}

/// An open descriptor.
private final class DiskFile: GrowingFile {
    private let path: String
    private let calls: any FileCalls
    private let descriptor: Int32

    init(_ path: String, operation: String, flags: Int32, _ calls: any FileCalls) throws {
        self.path = path
        self.calls = calls
        descriptor = try calls.openWholly(path, flags, mode: 0o644).get(operation, path)
    }

    deinit { calls.close(descriptor) }

    /// - Returns: false while another process holds it.
    func lock(_ kind: Int32 = LOCK_EX) throws -> Bool {
        try calls.tryLock(descriptor, kind, path: path)
    }

    func unlock() { calls.unlock(descriptor) }

    func cut(to count: Int) throws {
        try calls.cutWholly(descriptor, to: count).get("cut", path)
        try calls.flushWholly(descriptor).get("cut", path)
    }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try calls.writeAll(descriptor, $0) }.get("append", path)
        try calls.flushWholly(descriptor).get("flush", path)
    }
}
