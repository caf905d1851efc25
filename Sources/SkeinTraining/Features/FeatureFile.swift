import Foundation
import SkeinBasics

/// An open file of features: what it is, and its bytes.
///
/// Other processes may append to it, cut it or remove it at any time. What cannot be read is computed
/// again, so reading has no errors; a process that has died in a simulation finds nothing.
final class FeatureFile: Sendable {
    private let path: String
    private let calls: any FileCalls
    private let descriptor: Int32

    /// Attempts to get the lock that another process holds for the time of one write.
    private static let attempts = 20
    private static let pause: UInt32 = 500

    /// Opens the file, or makes it for the owner alone.
    ///
    /// - Parameters:
    ///   - path: of the file; its directory is there.
    ///   - calls: of the disk.
    /// - Throws: `FileError`; `FeatureError.foreign` for a file that others could have written.
    init(_ path: String, in calls: any FileCalls = SystemCalls()) throws {
        self.path = path
        self.calls = calls
        descriptor = try calls.openWholly(
            path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600
        ).get("open", path)
        // From here on it is closed with the object, also when this throws.
        let status = try calls.status(descriptor).get("open", path)
        guard status.kind == .regular else {
            throw FileError.wrongKind(path: path, found: status.kind, use: .writing)
        }
        // A user who can write it can also make its checksums right.
        guard status.owner == calls.user, status.mode & 0o022 == 0 else {
            throw FeatureError.foreign(path: path)
        }
        // The time of use decides what stays.
        calls.touch(descriptor)
    }

    deinit { calls.close(descriptor) }

    /// Bytes of the file; nil if the system does not say.
    var size: Int? {
        // Only a simulated process that has died throws here.
        guard case .done(let status) = try? calls.status(descriptor) else { return nil }
        return status.size
    }

    /// Bytes that a user may still write to its disk; nil if the system does not say.
    var freeBytes: Int? {
        // Likewise.
        guard case .done(let free) = try? calls.freeBytes(descriptor) else { return nil }
        return free
    }

    /// The bytes of a range; nil if they are not there.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                // Likewise; nothing read is nothing there.
                let result = try? calls.read(descriptor, at: offset + filled, into: rest)
                if result?.code == EINTR { continue }
                guard case .done(let found) = result, found > 0 else { return }
                filled += found
            }
        }
        return bytes.count == count ? bytes : nil
    }

    /// Ends the file at `offset` and appends bytes there.
    ///
    /// - Throws: `FileError`; the file then ends at `offset`, if the system allows that.
    func write(_ bytes: [UInt8], at offset: Int) throws {
        try calls.cutWholly(descriptor, to: offset).get("cut", path)
        let written = try bytes.withUnsafeBytes {
            try calls.writeAll(descriptor, at: offset, $0)
        }
        if written.code != nil { _ = try calls.cutWholly(descriptor, to: offset) }
        try written.get("append", path)
    }

    /// Calls `body` while no other process may write.
    ///
    /// - Parameter body: called unless another process holds the lock longer than one write takes.
    /// - Returns: what `body` returns; nil if it was not called.
    /// - Throws: `FileError` where files cannot be locked; what `body` throws.
    func locked<Result>(_ body: () throws -> Result) throws -> Result? {
        for _ in 0..<Self.attempts {
            let result = try calls.lockWholly(descriptor, LOCK_EX | LOCK_NB)
            if result.code == nil {
                // Closing would not do: a child that is just starting has a copy of the descriptor.
                defer { calls.unlock(descriptor) }
                return try body()
            }
            if result.code != EWOULDBLOCK { try result.get("lock", path) }
            calls.pause(microseconds: Self.pause)
        }
        return nil
    }
}
