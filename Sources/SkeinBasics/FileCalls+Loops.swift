import Foundation

/// Makes a system call, and again as long as a signal interrupts it.
///
/// Opening, cutting, listing and locking regular files without waiting is interrupted only where a file
/// system waits for another program or machine (FUSE, NFS), and there by Ctrl-C, which asks for an orderly
/// end.
package func uninterrupted<Value, Failure: Error>(
    _ call: () throws(Failure) -> CallResult<Value>
) throws(Failure) -> CallResult<Value> {
    while true {
        let result = try call()
        if result.code != EINTR { return result }
    }
}

// What one system call need not do at once.
extension FileCalls {
    /// Opens; a signal does not end that. Not for a pipe that waits for its other side: Ctrl-C must end that
    /// wait.
    package func openWholly(
        _ path: String, _ flags: Int32, mode: mode_t = 0
    ) throws -> CallResult<Int32> {
        try uninterrupted { try open(path, flags, mode: mode) }
    }

    /// Cuts or lengthens; a signal does not end that.
    package func cutWholly(_ descriptor: Int32, to count: Int) throws -> CallResult<Void> {
        try uninterrupted { try cut(descriptor, to: count) }
    }

    /// Names in a directory, in any order; a signal does not end that.
    package func listWholly(_ path: String) throws -> CallResult<[String]> {
        try uninterrupted { try names(in: path) }
    }

    /// Takes a lock of a kind that flock(2) knows; a signal does not end that.
    package func lockWholly(_ descriptor: Int32, _ kind: Int32) throws -> CallResult<Void> {
        try uninterrupted { try lock(descriptor, kind) }
    }

    /// Writes all bytes, in as many calls as the system needs.
    package func writeAll(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Void> {
        try repeated(bytes) { try write(descriptor, $1) }
    }

    /// Writes all bytes from `offset` on.
    package func writeAll(
        _ descriptor: Int32, at offset: Int, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Void> {
        try repeated(bytes) { try write(descriptor, at: offset + $0, $1) }
    }

    private func repeated(
        _ bytes: UnsafeRawBufferPointer,
        _ write: (_ done: Int, _ rest: UnsafeRawBufferPointer) throws -> CallResult<Int>
    ) throws -> CallResult<Void> {
        var done = 0
        while done < bytes.count {
            switch try write(done, UnsafeRawBufferPointer(rebasing: bytes[done...])) {
            // It would go on for ever.
            case .done(0): return .failed(EIO)
            case .done(let count): done += count
            case .failed(EINTR): continue
            case .failed(let code): return .failed(code)
            }
        }
        return .done
    }

    /// Flushes; a signal does not end that.
    package func flushWholly(_ descriptor: Int32) throws -> CallResult<Void> {
        try uninterrupted { try flush(descriptor) }
    }

    /// Takes a lock if no other open file has it.
    ///
    /// - Parameters:
    ///   - descriptor: of the file.
    ///   - kind: `LOCK_EX` or `LOCK_SH`.
    ///   - path: of the file, for the error.
    /// - Returns: false while another has it.
    /// - Throws: `FileError`.
    package func tryLock(
        _ descriptor: Int32, _ kind: Int32 = LOCK_EX, path: String
    ) throws -> Bool {
        let result = try lockWholly(descriptor, kind | LOCK_NB)
        if result.code == EWOULDBLOCK { return false }
        try result.get("lock", path)
        return true
    }

    /// Removes a file or a directory with all that is in it. A link is removed, not what it leads to.
    package func removeTree(_ path: String) throws -> CallResult<Void> {
        switch try linkStatus(of: path) {
        case .failed(let code): return .failed(code)
        case .done(let status) where status.kind != .directory: return try unlink(path)
        case .done: break
        }
        switch try listWholly(path) {
        case .failed(let code): return .failed(code)
        case .done(let names):
            for name in names.sorted() {
                let result = try removeTree(FilePath.join(path, name))
                if result.code != nil { return result }
            }
        }
        return try removeDirectory(path)
    }
}
