import Foundation
import SkeinBasics

/// The directory that holds files of features, one for each key. It may be one that the user has for
/// other things, too.
enum FeatureDirectory {
    /// Bytes that a user may still write there; nil if the system does not say.
    ///
    /// - Throws: `FileError`.
    static func freeBytes(_ path: String) throws -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            throw FileError.failed(operation: "look at", path: path, code: errno)
        }
        return free(status)
    }

    static func free(_ status: statvfs) -> Int? {
        let (bytes, isTooMany) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return isTooMany ? nil : Int(exactly: bytes)
    }

    /// Bytes of its files of features but some; 0 if it is missing.
    ///
    /// - Throws: `FileError`.
    static func byteCount(_ path: String, without kept: Set<String>) throws -> Int {
        try entries(path).reduce(0) { $0 + (kept.contains($1.path) ? 0 : $1.bytes) }
    }

    private struct Entry {
        let path: String
        let bytes: Int
        let seconds: Int
    }

    /// Files that have the name of a key, and are no links.
    private static func entries(_ path: String) throws -> [Entry] {
        guard DiskStore().exists(path) else { return [] }
        return try DiskStore().names(in: path).compactMap { name in
            guard name.hasSuffix(FeatureStore.suffix),
                SHA256.Digest(String(name.dropLast(FeatureStore.suffix.count))) != nil
            else { return nil }
            let file = FilePath.join(path, name)
            var status = stat()
            guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Entry(
                path: file, bytes: Int(status.st_size), seconds: Int(status.st_mtim.tv_sec))
        }
    }

    /// Removes the least recently used files until the others and `expected` bytes fit.
    ///
    /// A file that another process has open stays readable for it.
    ///
    /// - Parameters:
    ///   - path: the directory; nothing happens if it is missing.
    ///   - kept: files that stay.
    ///   - expected: bytes that they will have.
    ///   - limit: bytes of all files.
    /// - Throws: `FileError`.
    static func prune(
        _ path: String, keeping kept: Set<String>, expected: Int, limit: Int
    ) throws {
        var entries = try entries(path).filter { !kept.contains($0.path) }
        entries.sort { ($0.seconds, $0.path) < ($1.seconds, $1.path) }
        var total = entries.reduce(expected) { $0 + $1.bytes }
        for entry in entries where total > limit {
            try remove(entry)
            total -= entry.bytes
        }
    }

    /// Removes all files of features, and the directory if nothing else is in it.
    ///
    /// - Throws: `FileError`.
    static func remove(_ path: String) throws {
        for entry in try entries(path) { try remove(entry) }
        if rmdir(path) != 0, ![ENOENT, ENOTEMPTY, EEXIST].contains(errno) {
            throw FileError.failed(operation: "remove", path: path, code: errno)
        }
    }

    private static func remove(_ entry: Entry) throws {
        // Another process may have removed it first.
        if unlink(entry.path) != 0, errno != ENOENT {
            throw FileError.failed(operation: "remove", path: entry.path, code: errno)
        }
    }
}
