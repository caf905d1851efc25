import Foundation
import SkeinBasics
import Synchronization

/// Encoded data files on disk, so that a second start encodes nothing.
///
/// One file for each key, `<SHA-256 of the key>.tokens`. Nothing in it is trusted: a file that is
/// torn, foreign or damaged is not used. It can be removed at any time. The data's rows can be read
/// from it, so only its owner may read it, whoever may read the data.
package struct TokenCache: Sendable {
    package let directory: String
    /// The most files that stay; the least recently used are removed.
    let fileLimit: Int
    /// The most bytes of all files together.
    let byteLimit: Int

    /// - Parameter directory: need not exist. By default `tokens` in the cache directory.
    package init(directory: String = CacheDirectory.root + "/tokens") {
        self.init(
            directory: directory, fileLimit: Limits.tokenCacheFiles,
            byteLimit: Limits.tokenCacheBytes)
    }

    init(directory: String, fileLimit: Int, byteLimit: Int) {
        self.directory = directory
        self.fileLimit = fileLimit
        self.byteLimit = byteLimit
    }

    private static let suffix = ".tokens"

    /// Two threads of one process would write to the same temporary name.
    private static let writing = Mutex(())

    func path(of key: TokenCacheKey) -> String {
        FilePath.join(directory, key.digest.description + Self.suffix)
    }

    /// The encoded file of a key, or nil when there is none.
    ///
    /// - Parameters:
    ///   - key: of which `data` is a part.
    ///   - data: the data file itself; the first malformed line is read from it.
    ///   - vocabularySize: ids must be below.
    ///   - maximumLength: no row may be longer.
    /// - Returns: what was written for this key.
    /// - Throws: `TokenCacheFlaw` for a file that cannot be used; `FileError`.
    func read(
        _ key: TokenCacheKey, of data: DataFile, vocabularySize: Int, maximumLength: Int
    ) throws -> EncodedFile? {
        let path = path(of: key)
        let file: MappedFile
        do {
            file = try MappedFile(path: path)
            do {
                try close()
            } catch FileError.failed("protect", _, let code)
                where [EROFS, EPERM, ENOTSUP].contains(code)
            {
                // The rights cannot be changed here; the file is read all the same.
            }
        } catch FileError.failed(_, _, ENOENT) {
            return nil
        }
        let reader = TokenCacheFile.Reader(
            key: key, data: data, vocabularySize: vocabularySize, maximumLength: maximumLength)
        let encoded = try file.withBytes { try reader.read($0) }
        // The time of use decides what stays; if it cannot be set, the time of writing does.
        _ = utimensat(AT_FDCWD, path, nil, 0)
        return encoded
    }

    /// Writes an encoded file, and removes others if there are too many.
    ///
    /// - Throws: `TokenCacheFlaw.tooLarge`; `FileError`.
    func write(_ file: EncodedFile, _ key: TokenCacheKey) throws {
        let bytes = TokenCacheFile.byteCount(of: file)
        guard bytes <= byteLimit else {
            throw TokenCacheFlaw.tooLarge(bytes: bytes, limit: byteLimit)
        }
        try Self.writing.withLock { _ in
            try AtomicFile.makeDirectory(directory, access: .own)
            try close()
            try AtomicFile.write(to: path(of: key), access: .own) { output in
                try TokenCacheFile.write(file, key: key) { try output.append($0) }
            }
            try prune(keeping: path(of: key))
        }
    }

    /// Removes others' rights to the cache, which an earlier version or somebody else gave them.
    private func close() throws {
        try AtomicFile.protect(directory)
        for name in try DiskStore().names(in: directory) where Self.isOurs(name) {
            let path = FilePath.join(directory, name)
            var status = stat()
            // A link may lead to a file that is not the cache's; its rights stay.
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { continue }
            do {
                try AtomicFile.protect(path)
            } catch FileError.failed(_, _, ENOENT) {
                // Another process has removed it.
            }
        }
    }

    private struct Entry {
        let path: String
        let bytes: Int
        /// 1 for the file just written, which stays whatever the clock says; seconds; nanoseconds.
        let used: (Int, Int, Int)
    }

    /// Removes the least recently used files until the rest is within the limits, torn files of
    /// killed writers among them. Other names are left alone.
    private func prune(keeping kept: String) throws {
        var entries: [Entry] = []
        for name in try DiskStore().names(in: directory) where Self.isOurs(name) {
            let path = FilePath.join(directory, name)
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            entries.append(
                Entry(
                    path: path, bytes: Int(status.st_size),
                    used: (
                        path == kept ? 1 : 0, Int(status.st_mtim.tv_sec),
                        Int(status.st_mtim.tv_nsec)
                    )))
        }
        entries.sort { $0.used > $1.used }
        var bytes = 0
        for (index, entry) in entries.enumerated() {
            bytes += entry.bytes
            guard index >= fileLimit || bytes > byteLimit else { continue }
            // Another process may have removed it first.
            if unlink(entry.path) != 0, errno != ENOENT {
                throw FileError.failed(operation: "remove", path: entry.path, code: errno)
            }
        }
    }

    /// `<64 hexadecimal digits>.tokens`, or that with what AtomicFile appends while it writes.
    static func isOurs(_ name: String) -> Bool {
        guard let dot = name.firstIndex(of: "."),
            SHA256.Digest(String(name[..<dot])) != nil
        else { return false }
        let rest = name[dot...]
        return rest == suffix || rest.hasPrefix(suffix + ".tmp-")
    }
}
