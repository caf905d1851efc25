import Foundation

/// Reads files by read(2), so that a sector that cannot be read is an error.
package enum RegularFile {
    /// Bytes read at once while a file is hashed: enough to keep a disk busy, and few enough to
    /// stay in the cache.
    private static let pieceBytes = 1 << 20

    /// Opens `path` for reading and finds its size. Does not wait for the writer of a named pipe.
    ///
    /// - Throws: `FileError`, also when it is not a regular file.
    static func open(
        _ path: String, in calls: any FileCalls = SystemCalls()
    ) throws -> (descriptor: Int32, count: Int) {
        let opened = try calls.openWholly(path, O_RDONLY | O_NONBLOCK)
        if opened.code != nil, case .done(let status) = try calls.status(of: path),
            status.kind == .socket
        {
            throw FileError.wrongKind(path: path, found: .socket, use: .reading)
        }
        let descriptor = try opened.get("open", path)
        do {
            let status = try calls.status(descriptor).get("read the size of", path)
            guard status.kind == .regular else {
                throw FileError.wrongKind(path: path, found: status.kind, use: .reading)
            }
            return (descriptor, status.size)
        } catch {
            calls.close(descriptor)
            throw error
        }
    }

    /// Fills `buffer` from `descriptor`.
    ///
    /// - Throws: `FileError.failed`, with EIO where the disk cannot read; `.shortRead` when the file
    ///   became shorter meanwhile.
    static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, path: String,
        in calls: any FileCalls = SystemCalls()
    ) throws {
        try fill(buffer, path) { try calls.read(descriptor, into: $1) }
    }

    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ path: String,
        _ read: (_ done: Int, _ rest: UnsafeMutableRawBufferPointer) throws -> CallResult<Int>
    ) throws {
        var filled = 0
        while filled < buffer.count {
            // Linux reads at most 2 GiB at once, macOS refuses more.
            let end = filled + min(buffer.count - filled, 1 << 30)
            let result = try read(
                filled, UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<end]))
            if result.code == EINTR { continue }
            let found = try result.get("read", path)
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
        _ range: Range<Int>, from descriptor: Int32, path: String,
        in calls: any FileCalls = SystemCalls()
    ) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let wanted = UnsafeMutableRawBufferPointer(
                start: buffer.baseAddress, count: range.count)
            try fill(wanted, path) {
                try calls.read(descriptor, at: range.lowerBound + $0, into: $1)
            }
            count = range.count
        }
    }

    /// Bytes of a file that may grow meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - offset: where to begin.
    ///   - limit: how many at most.
    ///   - calls: of the disk.
    /// - Returns: those that are there; none behind the end.
    /// - Throws: `FileError`.
    package static func bytes(
        of path: String, from offset: Int, limit: Int, in calls: any FileCalls = SystemCalls()
    ) throws -> [UInt8] {
        let (descriptor, count) = try open(path, in: calls)
        defer { calls.close(descriptor) }
        guard offset >= 0, offset < count else { return [] }
        return try bytes(
            offset..<offset + min(limit, count - offset), from: descriptor, path: path, in: calls)
    }

    /// Size and SHA-256 of the file at `path`, read piece by piece.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - calls: of the disk.
    ///   - check: gets the size before anything is read, and may refuse it by throwing.
    ///   - progress: gets the number of bytes read since its last call, and may stop it by throwing.
    /// - Returns: the size in bytes and the digest.
    /// - Throws: `FileError`; what `check` throws.
    package static func digest(
        of path: String, in calls: any FileCalls = SystemCalls(),
        check: (_ count: Int) throws -> Void = { _ in },
        progress: (_ count: Int) throws -> Void = { _ in }
    ) throws -> (count: Int, digest: SHA256.Digest) {
        let (descriptor, count) = try open(path, in: calls)
        defer { calls.close(descriptor) }
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
                try fill(part, from: descriptor, path: path, in: calls)
            } catch FileError.shortRead(_, _, let found) {
                throw FileError.shortRead(path: path, expected: count, found: done + found)
            }
            hash.update(UnsafeRawBufferPointer(part))
            done += part.count
            try progress(part.count)
        }
        return (count, hash.finish())
    }
}
