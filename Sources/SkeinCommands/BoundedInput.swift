import Foundation
import SkeinBasics

/// Reads a whole file or stream, up to a limit.
enum BoundedInput {
    /// All bytes of the file, pipe or device at `path`.
    ///
    /// - Throws: `FileError`; `CommandError.inputTooLong` past `limit` bytes.
    static func read(path: String, limit: Int) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, name: path, limit: limit)
    }

    /// The same of a text, which may not be a file of another kind.
    ///
    /// - Throws: also `ForeignFileError`.
    static func text(path: String, limit: Int) throws -> [UInt8] {
        let bytes = try read(path: path, limit: limit)
        if let foreign = bytes.withUnsafeBytes({
            ForeignFileError(path: path, bytes: $0, use: .text)
        }) {
            throw foreign
        }
        return bytes
    }

    /// All bytes until the end of `descriptor`; `name` is for errors.
    static func read(descriptor: Int32, name: String, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = chunk.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError.failed(operation: "read", path: name, code: errno)
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else {
                throw CommandError.inputTooLong(name: name, limit: limit)
            }
            bytes += chunk[..<count]
        }
    }
}
