import Foundation
import SkeinBasics

/// A file that grows piece by piece, over as many attempts as it takes.
final class PartialFile {
    let path: String
    private(set) var count: UInt64
    private let descriptor: Int32

    /// Opens or creates the file; one that is longer than `limit` is emptied.
    init(path: String, limit: UInt64) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw FileError.failed(operation: "read the size of", path: path, code: code)
        }
        count = UInt64(status.st_size)
        self.path = path
        self.descriptor = descriptor
        if count > limit {
            guard ftruncate(descriptor, 0) == 0 else {
                throw FileError.failed(operation: "cut", path: path, code: errno)
            }
            count = 0
        }
    }

    /// Creates an empty file `PATH.PROCESS-RANDOM.part` that no other process writes. It is locked, so
    /// that `removeLeftovers` of others leaves it alone as long as this process lives.
    init(ownBeside path: String) throws {
        count = 0
        while true {
            let random = try SystemRandomness.bytes(4).map { String($0, radix: 16) }.joined()
            let own = "\(path).\(getpid())-\(random).part"
            let file = open(own, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
            guard file >= 0 else {
                throw FileError.failed(operation: "create", path: own, code: errno)
            }
            // Another process may take it for a leftover before it is locked; then another is made.
            let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0
            let code = errno
            if isLocked, access(own, F_OK) == 0 {
                self.path = own
                descriptor = file
                return
            }
            unlink(own)
            close(file)
            guard isLocked || code == EWOULDBLOCK || code == EINTR else {
                throw FileError.failed(operation: "lock", path: own, code: code)
            }
        }
    }

    /// Removes what processes that are gone have left of files of their own for `path`.
    static func removeLeftovers(beside path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.dropLast().joined(separator: "/")
        let prefix = (parts.last.map(String.init) ?? "") + "."
        // What is left lies there until another start; the download itself tells of the folder.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(".part") {
            let middle = name.dropFirst(prefix.count).dropLast(".part".count)
            guard middle.wholeMatch(of: /[0-9]+-[0-9a-f]+/) != nil else { continue }
            let descriptor = open(directory + "/" + name, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            // Its maker would have locked it.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(directory + "/" + name) }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                throw FileError.failed(operation: "write", path: path, code: errno)
            }
            rest = rest.dropFirst(written)
            count += UInt64(written)
        }
    }

    func finish() throws {
        guard AtomicFile.flush(descriptor) else {
            throw FileError.failed(operation: "flush", path: path, code: errno)
        }
    }
}
