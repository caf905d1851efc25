import Foundation
import SkeinBasics

/// An open file of features: what it is, and its bytes.
///
/// Other processes may append to it, cut it or remove it at any time.
final class FeatureFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Attempts to get the lock that another process holds for the time of one write.
    private static let attempts = 20
    private static let pause: UInt32 = 500

    /// Opens the file, or makes it for the owner alone.
    ///
    /// - Parameter path: of the file; its directory is there.
    /// - Throws: `FileError`; `FeatureError.foreign` for a file that others could have written.
    init(_ path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular else {
            throw FileError.wrongKind(path: path, found: kind, use: .writing)
        }
        // A user who can write it can also make its checksums right.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw FeatureError.foreign(path: path)
        }
        // The time of use decides what stays.
        _ = futimens(descriptor, nil)
    }

    /// Runs for an `init` that threw, too.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Bytes of the file; nil if the system does not say.
    var size: Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Bytes that a user may still write to its disk; nil if the system does not say.
    var freeBytes: Int? {
        var status = statvfs()
        return fstatvfs(descriptor, &status) == 0 ? DiskStore.freeBytes(status) : nil
    }

    /// The bytes of a range; nil if they are not there.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let found = pread(descriptor, base + filled, count - filled, off_t(offset + filled))
                if found < 0, errno == EINTR { continue }
                guard found > 0 else { return }
                filled += found
            }
        }
        return bytes.count == count ? bytes : nil
    }

    /// Ends the file at `offset` and appends bytes there.
    ///
    /// - Throws: `FileError`; the file then ends at `offset`, if the system allows that.
    func write(_ bytes: [UInt8], at offset: Int) throws {
        guard ftruncate(descriptor, off_t(offset)) == 0 else {
            throw FileError.failed(operation: "cut", path: path, code: errno)
        }
        try bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let written = pwrite(
                    descriptor, base + done, bytes.count - done, off_t(offset + done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    let code = errno
                    _ = ftruncate(descriptor, off_t(offset))
                    throw FileError.failed(operation: "append", path: path, code: code)
                }
                done += written
            }
        }
    }

    /// Calls `body` while no other process may write.
    ///
    /// - Parameter body: called unless another process holds the lock longer than one write takes.
    /// - Returns: what `body` returns; nil if it was not called.
    /// - Throws: `FileError` where files cannot be locked; what `body` throws.
    func locked<Result>(_ body: () throws -> Result) throws -> Result? {
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Closing would not do: a child that is just starting has a copy of the descriptor.
                defer { _ = flock(descriptor, LOCK_UN) }
                return try body()
            }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw FileError.failed(operation: "lock", path: path, code: errno)
            }
            usleep(Self.pause)
        }
        return nil
    }
}
