import Foundation
import SkeinBasics

/// A release of Skein, as Scripts/package makes it: a .tar.gz with one directory that has `bin/skein`.
package struct Release: Sendable, Equatable {
    package let path: String
    package let byteCount: Int
    /// SHA-256 in hexadecimal digits: its name on the hosts.
    package let digest: String

    /// Reads the file at `path` to its end.
    ///
    /// - Throws: `FileError`; `LaunchError.badRelease` for what is no .tar.gz.
    package init(path: String) throws {
        let start = try RegularFile.bytes(of: path, from: 0, limit: 2)
        guard start == [0x1f, 0x8b] else { throw LaunchError.badRelease(path: path) }
        let (size, digest) = try RegularFile.digest(of: path) { size in
            guard size <= Limits.releaseBytes else { throw LaunchError.badRelease(path: path) }
        }
        self.init(path: path, byteCount: size, digest: digest.description)
    }

    init(path: String, byteCount: Int, digest: String) {
        self.path = path
        self.byteCount = byteCount
        self.digest = digest
    }
}
