import Foundation
import Synchronization

/// A folder of files that can be made again, one for each key: `<SHA-256 of the key><suffix>`.
///
/// It may be one that the user has for other things, too: whatever has another name is left alone. So
/// is a link, which may lead to a file that is not the cache's. What AtomicFile had not finished when
/// its process was killed counts as a file.
package struct CacheFolder: Sendable {
    package let path: String
    private let suffix: String
    /// The most files that stay.
    private let fileLimit: Int
    /// The most bytes of all files together.
    package let byteLimit: Int

    /// Two threads of one process would write to the same temporary name.
    private static let writing = Mutex(())

    /// - Parameters:
    ///   - path: the folder, which need not exist.
    ///   - suffix: begins with a dot.
    ///   - fileLimit: the most files that stay.
    ///   - byteLimit: the most bytes of all files together.
    package init(
        _ path: String, suffix: String, fileLimit: Int = .max, byteLimit: Int = .max
    ) {
        self.path = path
        self.suffix = suffix
        self.fileLimit = fileLimit
        self.byteLimit = byteLimit
    }

    package func path(of key: SHA256.Digest) -> String {
        FilePath.join(path, key.description + suffix)
    }

    /// Whether a name is that of a file, or that with what AtomicFile appends while it writes.
    private func isOurs(_ name: String) -> Bool {
        guard let dot = name.firstIndex(of: "."), SHA256.Digest(String(name[..<dot])) != nil
        else { return false }
        let rest = name[dot...]
        return rest == suffix || rest.hasPrefix(suffix + ".tmp-")
    }

    private struct Entry {
        let path: String
        let bytes: Int
        /// Seconds and nanoseconds.
        let used: (Int, Int)
    }

    private func entries() throws -> [Entry] {
        try DiskStore().names(in: path).filter(isOurs).compactMap { name in
            let file = FilePath.join(path, name)
            var status = stat()
            guard lstat(file, &status) == 0, FileKind(mode: status.st_mode) == .regular
            else { return nil }
            return Entry(
                path: file, bytes: Int(status.st_size),
                used: (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)))
        }
    }

    /// Bytes of the files but some; 0 if the folder is missing.
    ///
    /// - Throws: `FileError`.
    package func byteCount(without kept: Set<String>) throws -> Int {
        try entries().reduce(0) { $0 + (kept.contains($1.path) ? 0 : $1.bytes) }
    }

    /// Sets the time of use of a key's file, which decides what stays; if it cannot be set, the time of
    /// writing does.
    package func touch(_ key: SHA256.Digest) {
        _ = utimensat(AT_FDCWD, path(of: key), nil, 0)
    }

    /// Writes a key's file for its owner alone, and removes others if there are too many.
    ///
    /// - Parameters:
    ///   - key: the file's.
    ///   - check: called just before the bytes replace the file; what it throws leaves the old one.
    ///   - body: appends the bytes.
    /// - Throws: `FileError`; what `check` and `body` throw.
    package func write(
        _ key: SHA256.Digest, check: () throws -> Void = {},
        _ body: (borrowing AtomicFile.Output) throws -> Void
    ) throws {
        try Self.writing.withLock { _ in
            let file = path(of: key)
            try AtomicFile.makeDirectory(path, access: .own)
            try AtomicFile.write(to: file, access: .own, check: check, body)
            try prune(keeping: [file])
        }
    }

    /// Removes the least recently used files until the rest is within the limits. A file that another
    /// process has open stays readable for it.
    ///
    /// - Parameters:
    ///   - kept: files that stay, whatever the clock says.
    ///   - expected: bytes that they will have; nil: those that they have.
    /// - Throws: `FileError`.
    package func prune(keeping kept: Set<String>, expected: Int? = nil) throws {
        let entries = try entries()
        let others = entries.filter { !kept.contains($0.path) }.sorted {
            ($0.used.0, $0.used.1, $0.path) < ($1.used.0, $1.used.1, $1.path)
        }
        let keptBytes = entries.reduce(0) { $0 + (kept.contains($1.path) ? $1.bytes : 0) }
        var count = kept.count + others.count
        var bytes = others.reduce(expected ?? keptBytes) { $0 + $1.bytes }
        for entry in others where count > fileLimit || bytes > byteLimit {
            try Self.remove(entry)
            count -= 1
            bytes -= entry.bytes
        }
    }

    /// Removes all files, and the folder if nothing else is in it.
    ///
    /// - Throws: `FileError`.
    package func removeAll() throws {
        for entry in try entries() { try Self.remove(entry) }
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

    /// Removes others' rights to the folder and its files, which an earlier version or another program
    /// gave them.
    ///
    /// - Throws: `FileError`.
    package func close() throws {
        try AtomicFile.protect(path)
        for entry in try entries() {
            do {
                try AtomicFile.protect(entry.path)
            } catch FileError.failed(_, _, ENOENT) {
                // Another process has removed it.
            }
        }
    }
}
