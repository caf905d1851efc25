import Foundation

/// The system's disk.
package struct DiskStore: Store {
    package init() {}

    package func makeDirectory(_ path: String) throws { try AtomicFile.makeDirectory(path) }

    package func names(in path: String) throws -> [String] {
        guard let stream = opendir(path) else {
            if errno == ENOENT { return [] }
            throw FileError.failed(operation: "list", path: path, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    package func write(
        to path: String, check: () throws -> Void,
        _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        try AtomicFile.write(to: path, check: check) { output in
            try body { try output.append($0) }
        }
    }

    package func file(
        copying path: String, check: (_ file: MappedFile.Preview) throws -> Void
    ) throws -> MappedFile {
        try MappedFile(copying: path, check: check)
    }

    package func digest(
        of path: String, check: (_ count: Int) throws -> Void
    ) throws -> (count: Int, digest: SHA256.Digest) {
        try RegularFile.digest(of: path, check: check)
    }

    package func rename(_ old: String, to new: String) throws {
        guard Foundation.rename(old, new) == 0 else {
            throw FileError.failed(operation: "rename into place", path: new, code: errno)
        }
        try AtomicFile.syncDirectory(of: new)
    }

    package func remove(_ path: String) throws {
        guard exists(path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code
            throw FileError.failed(
                operation: "remove", path: path, code: Int32(truncatingIfNeeded: code ?? Int(EIO)))
        }
    }

    package func growingFile(_ path: String) throws -> any GrowingFile {
        let file = try DiskFile(path, operation: "open", flags: O_RDWR | O_CREAT | O_APPEND)
        try AtomicFile.syncDirectory(of: path)
        return file
    }

    package func lock(_ path: String) throws -> (any Sendable & AnyObject)? {
        let file = try DiskFile(path, operation: "create", flags: O_RDWR | O_CREAT)
        if try file.lock() { return HeldLock(file) }
        // A process that only looks (`isLocked`) has it for less than a millisecond.
        usleep(20_000)
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
        guard try FileKind.at(path) != nil else { return false }
        let file = try DiskFile(path, operation: "open", flags: O_RDONLY)
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
    private let descriptor: Int32

    init(_ path: String, operation: String, flags: Int32) throws {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: operation, path: path, code: errno)
        }
    }

    /// Runs for an `init` that threw after it had the descriptor, too.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// - Returns: false while another process holds it.
    func lock(_ kind: Int32 = LOCK_EX) throws -> Bool {
        if flock(descriptor, kind | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw FileError.failed(operation: "lock", path: path, code: errno)
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    func cut(to count: Int) throws {
        guard ftruncate(descriptor, off_t(count)) == 0, AtomicFile.flush(descriptor) else {
            throw FileError.failed(operation: "cut", path: path, code: errno)
        }
    }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let written = write(descriptor, rest.baseAddress, rest.count)
                if written < 0 {
                    if errno == EINTR { continue }
                    throw FileError.failed(operation: "append", path: path, code: errno)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
        guard AtomicFile.flush(descriptor) else {
            throw FileError.failed(operation: "flush", path: path, code: errno)
        }
    }
}
