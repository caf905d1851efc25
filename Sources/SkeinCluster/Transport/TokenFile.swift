import Foundation
import SkeinBasics

/// The secret that coordinator and workers share, in a file that no other user may read.
package struct TokenFile: Sendable, Equatable {
    /// The token: the file without one trailing newline; `Limits.tokenBytes` bounds its length.
    package var bytes: [UInt8]

    /// How long a token may be.
    package static let allowedBytes = Limits.tokenBytes

    /// Reads the token file at `path`; a symbolic link is followed.
    ///
    /// - Throws: `NodeError.tokenFile` when it is not a regular file of this user or of root, when
    ///   other users may use it (but the process's own group may read a file of root), or when it
    ///   is too short or too long.
    package init(reading path: String) throws(NodeError) {
        func problem(_ problem: NodeError.TokenFileProblem) -> NodeError {
            .tokenFile(path: path, problem: problem)
        }
        // Without blocking: a named pipe must not hold the process up.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw problem(.failed(operation: "open", code: errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw problem(.failed(operation: "inspect", code: errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw problem(.notRegular) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw problem(.owner(found: status.st_uid, expected: geteuid()))
        }
        let mode = UInt32(status.st_mode) & 0o7777
        guard
            mode & 0o077 == 0
                || Self.isGroupSecret(mode: mode, owner: status.st_uid, group: status.st_gid)
        else { throw problem(.mode(found: mode)) }

        // The longest token, a newline of two bytes, and one byte that shows that there is more.
        var buffer = [UInt8](repeating: 0, count: Limits.tokenBytes.upperBound + 3)
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + filled, bytes.count - filled) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem(.failed(operation: "read", code: errno)) }
            if count == 0 { break }
            filled += count
        }
        var token = buffer.prefix(filled)
        if token.last == 0x0A {
            token.removeLast()
            if token.last == 0x0D { token.removeLast() }
        }
        guard Limits.tokenBytes.contains(token.count) else {
            throw problem(
                .length(
                    found: max(token.count, Int(clamping: status.st_size)),
                    expected: Limits.tokenBytes))
        }
        bytes = Array(token)
    }

    /// Whether a file of root that a group may read is this process's own: so does a container that
    /// does not run as root get its secrets (Kubernetes' `fsGroup` with mode 0440).
    private static func isGroupSecret(mode: UInt32, owner: uid_t, group: gid_t) -> Bool {
        guard owner == 0, geteuid() != 0, mode & 0o037 == 0 else { return false }
        if group == getegid() { return true }
        // NGROUPS_MAX of Linux.
        var groups = [gid_t](repeating: 0, count: 65536)
        let count = getgroups(Int32(groups.count), &groups)
        return count > 0 && groups.prefix(Int(count)).contains(group)
    }

    /// Writes a new token, 32 random bytes in hexadecimal, to `path` with mode 0600.
    ///
    /// - Throws: `NodeError.tokenFile`; `.exists` for a file that is already there, which stays as
    ///   it is.
    package static func make(at path: String) throws {
        func problem(_ operation: String) -> NodeError {
            .tokenFile(path: path, problem: .failed(operation: operation, code: errno))
        }
        let digits = Array("0123456789abcdef".utf8)
        var text = try SystemRandomness.bytes(32).flatMap {
            [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
        }
        text.append(0x0A)
        let suffix = try SystemRandomness.bytes(8).map { String($0, radix: 16) }.joined()
        let temporary = path + ".tmp-" + suffix
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw problem("create") }
        defer { unlink(temporary) }
        do {
            defer { close(descriptor) }
            // A strict umask may have removed too many bits.
            guard fchmod(descriptor, 0o600) == 0 else { throw problem("protect") }
            guard
                text.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == text.count
            else { throw problem("write") }
            guard AtomicFile.flush(descriptor) else { throw problem("flush") }
        }
        // Unlike rename(2), link(2) refuses a name that is taken.
        guard link(temporary, path) == 0 else {
            let code = errno
            if code == EEXIST { throw NodeError.tokenFile(path: path, problem: .exists) }
            // Some file systems have no hard links; then two that make it at once may both succeed.
            guard [EPERM, ENOTSUP, ENOSYS].contains(code) else { throw problem("create") }
            guard access(path, F_OK) != 0 else {
                throw NodeError.tokenFile(path: path, problem: .exists)
            }
            guard rename(temporary, path) == 0 else { throw problem("create") }
            return try AtomicFile.syncDirectory(of: path)
        }
        try AtomicFile.syncDirectory(of: path)
    }
}
