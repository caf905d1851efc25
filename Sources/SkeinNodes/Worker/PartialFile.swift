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
