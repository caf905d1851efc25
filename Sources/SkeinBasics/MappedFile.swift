import Foundation

/// The bytes of a whole file, read-only. They live as long as the object: code that keeps a pointer
/// into them must keep the object, too.
///
/// Mapped bytes are read from disk when they are touched. If a sector cannot be read then, or
/// another process has truncated the file, the process gets SIGBUS, which user code cannot turn
/// into an error. Model files are mapped: they are large and do not change while in use. Files that
/// a run must be able to do without when they are damaged are copied.
package final class MappedFile: Sendable {
    package let path: String
    package let count: Int
    private let address: Address
    /// Whether the bytes were copied, so that they cannot be read again.
    private let isCopy: Bool

    // Sendable: the pages are read-only and stay mapped until deinit.
    private struct Address: @unchecked Sendable { let base: UnsafeMutableRawPointer? }

    /// Maps `path`. An empty file is an empty buffer.
    ///
    /// - Throws: `FileError` when it cannot be opened or mapped, or is not a regular file.
    package convenience init(path: String) throws {
        try self.init(path: path, copying: false, SystemCalls()) { _ in }
    }

    /// Reads all of `path` into memory: what cannot be read is an error now, not a signal later.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - calls: of the disk.
    ///   - check: sees the file before memory is taken for it, and may refuse it by throwing.
    /// - Throws: `FileError` when it cannot be opened or read, or is not a regular file; what
    ///   `check` throws.
    package convenience init(
        copying path: String, in calls: any FileCalls = SystemCalls(),
        check: (_ file: Preview) throws -> Void = { _ in }
    ) throws {
        try self.init(path: path, copying: true, calls, check: check)
    }

    /// A file before any of it is in memory.
    package struct Preview {
        package let path: String
        package let count: Int
        fileprivate let source: Source

        fileprivate enum Source {
            case descriptor(Int32, any FileCalls)
            case bytes([UInt8])
        }

        /// A file that is in memory, such as one of a simulated disk.
        package init(path: String, bytes: [UInt8]) {
            self.init(path: path, count: bytes.count, source: .bytes(bytes))
        }

        fileprivate init(path: String, count: Int, source: Source) {
            self.path = path
            self.count = count
            self.source = source
        }

        /// The bytes of a range within the file.
        ///
        /// - Throws: `FileError`.
        package func bytes(_ range: Range<Int>) throws -> [UInt8] {
            precondition(range.lowerBound >= 0 && range.upperBound <= count, "bytes of the file")
            switch source {
            case .descriptor(let descriptor, let calls):
                return try RegularFile.bytes(range, from: descriptor, path: path, in: calls)
            case .bytes(let bytes): return Array(bytes[range])
            }
        }
    }

    private init(
        path: String, copying: Bool, _ calls: any FileCalls, check: (Preview) throws -> Void
    ) throws {
        let (descriptor, count) = try RegularFile.open(path, in: calls)
        defer { calls.close(descriptor) }
        try check(Preview(path: path, count: count, source: .descriptor(descriptor, calls)))
        self.path = path
        self.count = count
        isCopy = copying
        guard count > 0 else {
            address = Address(base: nil)
            return
        }
        let base =
            copying
            ? mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let base, base != MAP_FAILED else {
            let code = errno
            if code == ENOMEM { throw FileError.noMemory(path: path, bytes: count) }
            throw FileError.failed(operation: "map", path: path, code: code)
        }
        address = Address(base: base)
        // From here on deinit unmaps, also when this throws.
        guard copying else { return }
        try RegularFile.fill(
            UnsafeMutableRawBufferPointer(start: base, count: count), from: descriptor, path: path,
            in: calls)
    }

    /// A copy of bytes that are in memory, as if they had been read from `path`: what a `Store` that is
    /// no disk, as that of a simulation, reads.
    ///
    /// - Throws: `FileError.noMemory`.
    package init(path: String, bytes: [UInt8]) throws {
        self.path = path
        count = bytes.count
        isCopy = true
        guard count > 0 else {
            address = Address(base: nil)
            return
        }
        let base = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let base, base != MAP_FAILED else {
            throw FileError.noMemory(path: path, bytes: count)
        }
        address = Address(base: base)
        UnsafeMutableRawBufferPointer(start: base, count: count).copyBytes(from: bytes)
    }

    deinit {
        if let base = address.base { munmap(base, count) }
    }

    /// All bytes of the file; valid while `self` lives.
    ///
    /// The optimizer may release the object right after this call if it is not used later: hold it
    /// with `withBytes` or `withExtendedLifetime`.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: address.base, count: count)
    }

    /// Lets the system take back the pages that were read, which count as this process's memory;
    /// they are read again when touched.
    package func releasePages() {
        // Only advice: if the system ignores it, only memory is lost.
        if let base = address.base, !isCopy { _ = madvise(base, count, MADV_DONTNEED) }
    }

    /// Calls `body` with all bytes of the file and keeps the mapping until it returns.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withExtendedLifetime(self) { try body(bytes) }
    }
}

extension MappedFile {
    /// Bytes hashed between two calls of `progress`: 8 ms of work, or 0.1 s on a slow disk.
    private static let hashedBytes = 16 << 20

    /// SHA-256 of the file. `progress` gets the number of bytes read since its last call, and may
    /// stop the hashing by throwing.
    package func digest(progress: (Int) throws -> Void) rethrows -> SHA256.Digest {
        var hash = SHA256()
        try update(&hash, progress: progress)
        return hash.finish()
    }

    /// Hashes all bytes into `hash`, like `digest`.
    package func update(_ hash: inout SHA256, progress: (Int) throws -> Void) rethrows {
        try withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.hashedBytes) {
                let end = min(bytes.count, start + Self.hashedBytes)
                hash.update(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                try progress(end - start)
            }
        }
    }
}
