import Foundation

/// Reads files by read(2), so that a sector that cannot be read is an error.
package enum RegularFile {
    /// Bytes read at once while a file is hashed: enough to keep a disk busy, and few enough to
    /// stay in the cache.
    private static let pieceBytes = 1 << 20

    /// Opens `path` for reading and finds its size. Does not wait for the writer of a named pipe.
    ///
    /// - Throws: `FileError`, also when it is not a regular file.
    static func open(_ path: String) throws -> (descriptor: Int32, count: Int) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            var status = stat()
            if stat(path, &status) == 0, FileKind(mode: status.st_mode) == .socket {
                throw FileError.wrongKind(path: path, found: .socket, use: .reading)
            }
            throw FileError.failed(operation: "open", path: path, code: code)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw FileError.failed(operation: "read the size of", path: path, code: code)
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular else {
            close(descriptor)
            throw FileError.wrongKind(path: path, found: kind, use: .reading)
        }
        return (descriptor, Int(status.st_size))
    }

    /// Fills `buffer` from `descriptor`.
    ///
    /// - Throws: `FileError.failed`, with EIO where the disk cannot read; `.shortRead` when the file
    ///   became shorter meanwhile.
    static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, path: String
    ) throws {
        var filled = 0
        while filled < buffer.count, let base = buffer.baseAddress {
            // Linux reads at most 2 GiB at once, macOS refuses more.
            let wanted = min(buffer.count - filled, 1 << 30)
            let found = read(descriptor, base + filled, wanted)
            if found < 0 {
                if errno == EINTR { continue }
                throw FileError.failed(operation: "read", path: path, code: errno)
            }
            guard found > 0 else {
                throw FileError.shortRead(path: path, expected: buffer.count, found: filled)
            }
            filled += found
        }
    }

    /// The bytes of `range`, whatever the descriptor's position.
    ///
    /// - Throws: what `fill` throws.
    static func bytes(
        _ range: Range<Int>, from descriptor: Int32, path: String
    ) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            while filled < range.count, let base = buffer.baseAddress {
                let found = pread(
                    descriptor, base + filled, min(range.count - filled, 1 << 30),
                    off_t(range.lowerBound + filled))
                if found < 0 {
                    if errno == EINTR { continue }
                    throw FileError.failed(operation: "read", path: path, code: errno)
                }
                guard found > 0 else {
                    throw FileError.shortRead(path: path, expected: range.count, found: filled)
                }
                filled += found
            }
        }
    }

    /// Bytes of a file that may grow meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - offset: where to begin.
    ///   - limit: how many at most.
    /// - Returns: those that are there; none behind the end.
    /// - Throws: `FileError`.
    package static func bytes(
        of path: String, from offset: Int, limit: Int
    ) throws -> [UInt8] {
        let (descriptor, count) = try open(path)
        defer { close(descriptor) }
        guard offset >= 0, offset < count else { return [] }
        return try bytes(
            offset..<offset + min(limit, count - offset), from: descriptor, path: path)
    }

    /// Size and SHA-256 of the file at `path`, read piece by piece.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - check: gets the size before anything is read, and may refuse it by throwing.
    /// - Returns: the size in bytes and the digest.
    /// - Throws: `FileError`; what `check` throws.
    package static func digest(
        of path: String, check: (_ count: Int) throws -> Void = { _ in }
    ) throws -> (count: Int, digest: SHA256.Digest) {
        let (descriptor, count) = try open(path)
        defer { close(descriptor) }
        try check(count)
        var hash = SHA256()
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(count, pieceBytes)), alignment: 64)
        defer { piece.deallocate() }
        var done = 0
        while done < count {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: piece[..<min(piece.count, count - done)])
            do {
                try fill(part, from: descriptor, path: path)
            } catch FileError.shortRead(_, _, let found) {
                throw FileError.shortRead(path: path, expected: count, found: done + found)
            }
            hash.update(UnsafeRawBufferPointer(part))
            done += part.count
        }
        return (count, hash.finish())
    }
}
