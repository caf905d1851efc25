import Foundation
import SkeinBasics

/// A file whose end lines are added to, for its owner alone.
struct LogFile: ~Copyable {
    private let descriptor: Int32
    private let path: String
    /// Whether the last line ended early, so that the next one must begin a line.
    private var isCut = false

    /// - Throws: `SafetyLogError`.
    init(path: String) throws(SafetyLogError) {
        // Opened without waiting, as a named pipe without a reader would hold the program.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            // A named pipe without a reader, a socket, a folder.
            guard ![ENXIO, EISDIR].contains(code) else { throw .notAFile(path: path) }
            throw .failed(operation: "open", path: path, code: code)
        }
        do {
            try Self.protect(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    private static func protect(_ descriptor: Int32, _ path: String) throws(SafetyLogError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .failed(operation: "look at", path: path, code: errno)
        }
        guard FileKind(mode: status.st_mode) == .regular else { throw .notAFile(path: path) }
        // A file that was there already may be open to others.
        guard status.st_mode & 0o777 == 0o600 || fchmod(descriptor, 0o600) == 0 else {
            throw .failed(operation: "protect", path: path, code: errno)
        }
    }

    /// Adds a line with one write: with `O_APPEND` the system puts it behind all others.
    ///
    /// - Throws: `SafetyLogError`.
    mutating func append(_ line: [UInt8]) throws(SafetyLogError) {
        let bytes = isCut ? [UInt8(ascii: "\n")] + line : line
        var written = write(descriptor, bytes, bytes.count)
        while written < 0 && errno == EINTR { written = write(descriptor, bytes, bytes.count) }
        guard written >= 0 else { throw .failed(operation: "write", path: path, code: errno) }
        // A line's end alone makes the file whole again.
        let repaired = isCut ? 1 : 0
        isCut = written == 0 ? isCut : written > repaired && written < bytes.count
        guard written == bytes.count else {
            throw .cutOff(path: path, bytes: bytes.count, written: written)
        }
    }
}
