import Foundation

/// A whole file, mapped read-only. The mapping lives as long as the object; whoever keeps a pointer
/// into it keeps the object, too.
///
/// A mapped file that another process truncates raises SIGBUS on access; nothing in user space can
/// turn that into an error. Model files are not written while they are used.
public final class MappedFile: Sendable {
    public let path: String
    public let count: Int
    private let address: Address

    // Sendable: the pages are read-only and stay mapped until deinit.
    private struct Address: @unchecked Sendable { let base: UnsafeMutableRawPointer? }

    /// Maps `path`. An empty file is an empty buffer.
    ///
    /// - Throws: `FileError` when it cannot be opened, is a directory or cannot be mapped.
    public init(path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileError.failed(operation: "read the size of", path: path, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileError.failed(operation: "map", path: path, code: EISDIR)
        }
        self.path = path
        count = Int(status.st_size)
        guard count > 0 else {
            address = Address(base: nil)
            return
        }
        let base = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let base, base != MAP_FAILED else {
            throw FileError.failed(operation: "map", path: path, code: errno)
        }
        address = Address(base: base)
    }

    deinit {
        if let base = address.base { munmap(base, count) }
    }

    /// All bytes of the file; valid while `self` lives.
    ///
    /// The optimizer may release the object right after this call when it is not used later: hold it
    /// with `withBytes` or `withExtendedLifetime`.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: address.base, count: count)
    }

    /// Lets the system take back the pages that were read, which count as memory of this process;
    /// they are read again when they are touched again.
    public func releasePages() {
        // Only advice: when the system does not take it, nothing is lost but memory.
        if let base = address.base { _ = madvise(base, count, MADV_DONTNEED) }
    }

    /// Calls `body` with all bytes of the file and keeps the mapping until it returns.
    public func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withExtendedLifetime(self) { try body(bytes) }
    }
}

extension MappedFile {
    /// Hashed between two words about it: 8 ms of work, or 0.1 s of a slow disk's.
    private static let hashedBytes = 16 << 20

    /// SHA-256 of the file; `progress` is told of bytes that have been read, some at a time, and may
    /// end it by an error.
    public func digest(progress: (Int) throws -> Void) rethrows -> SHA256.Digest {
        var hash = SHA256()
        try update(&hash, progress: progress)
        return hash.finish()
    }

    /// Hashes all bytes into `hash`, as `digest` does.
    public func update(_ hash: inout SHA256, progress: (Int) throws -> Void) rethrows {
        try withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.hashedBytes) {
                let end = min(bytes.count, start + Self.hashedBytes)
                hash.update(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                try progress(end - start)
            }
        }
    }
}
