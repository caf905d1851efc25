import Foundation
import SkeinBasics

/// Which files lie at a path, without a look into them: others have other numbers, sizes or times.
package struct FileIdentity: Sendable, Equatable {
    fileprivate struct Part: Sendable, Equatable {
        var device: UInt64
        var number: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    private var parts: [Part] = []

    /// Of a file, or of a folder and all that is directly in it.
    ///
    /// - Throws: `FileError`.
    package init(of path: String) throws {
        let whole = try Self.status(of: path)
        parts = [Part(whole)]
        guard FileKind(mode: whole.st_mode) == .directory else { return }
        for name in try DiskStore().names(in: path) {
            parts.append(Part(try Self.status(of: FilePath.join(path, name))))
        }
    }

    private static func status(of path: String) throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw FileError.failed(operation: "look at", path: path, code: errno)
        }
        return status
    }
}

extension FileIdentity.Part {
    fileprivate init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
    }
}
