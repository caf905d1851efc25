import Foundation

/// A folder of files that can be made again, one for each key: `<SHA-256 of the key><suffix>`.
///
/// It may be one that the user has for other things, too: whatever has another name is left alone. So
/// is a link, which may lead to a file that is not the cache's. What AtomicFile had not finished when its
/// process was killed counts as a file, and goes when the next one is written.
package struct CacheFolder: Sendable {
    package let path: String
    package let calls: any FileCalls
    private let suffix: String
    private let fileLimit: Int
    package let byteLimit: Int

    /// - Parameters:
    ///   - path: the folder, which need not exist.
    ///   - suffix: the end of all names in it, which begins with a dot.
    ///   - fileLimit: the most files that stay.
    ///   - byteLimit: the most bytes of all together.
    ///   - calls: of the disk.
    package init(
        _ path: String, suffix: String, fileLimit: Int = .max, byteLimit: Int = .max,
        calls: any FileCalls = SystemCalls()
    ) {
        self.path = path
        self.calls = calls
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

    /// The files, beginning with the one that is used least recently.
    private func files() throws -> [(path: String, bytes: Int)] {
        var found: [(path: String, status: FileStatus)] = []
        for name in try DiskStore(calls: calls).names(in: path) where isOurs(name) {
            let file = FilePath.join(path, name)
            guard case .done(let status) = try calls.linkStatus(of: file), status.kind == .regular
            else { continue }
            found.append((file, status))
        }
        return found.sorted {
            ($0.status.modified, $0.path) < ($1.status.modified, $1.path)
        }.map { ($0.path, $0.status.size) }
    }

    /// Bytes of the files but some; 0 if the folder is missing.
    ///
    /// - Throws: `FileError`.
    package func byteCount(without kept: Set<String>) throws -> Int {
        try files().reduce(0) { $0 + (kept.contains($1.path) ? 0 : $1.bytes) }
    }

    /// Sets the time of use of a key's file, which decides what stays; if it cannot be set, the time of
    /// writing does.
    package func touch(_ key: SHA256.Digest) { calls.touch(path(of: key)) }

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
        // Two threads would write to the same temporary name.
        try calls.inTurn {
            let file = path(of: key)
            try AtomicFile.makeDirectory(path, access: .own, in: calls)
            try Unfinished.removeAbandoned(from: path, in: calls, where: isOurs)
            try AtomicFile.write(to: file, access: .own, check: check, in: calls, body)
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
        let files = try files()
        var count = files.count
        var bytes = expected ?? 0
        for file in files where expected == nil || !kept.contains(file.path) { bytes += file.bytes }
        for file in files where !kept.contains(file.path) {
            guard count > fileLimit || bytes > byteLimit else { return }
            // What another process is making stays.
            if try Unfinished.isHeld(file.path, in: calls) { continue }
            try remove(file.path)
            count -= 1
            bytes -= file.bytes
        }
    }

    /// Removes all files, and the folder if nothing else is in it.
    ///
    /// - Throws: `FileError`.
    package func removeAll() throws {
        for file in try files() { try remove(file.path) }
        let removed = try calls.removeDirectory(path)
        if let code = removed.code, [ENOENT, ENOTEMPTY, EEXIST].contains(code) { return }
        try removed.get("remove", path)
    }

    private func remove(_ path: String) throws {
        let removed = try calls.unlink(path)
        // Another process may have removed it first.
        if removed.code != ENOENT { try removed.get("remove", path) }
    }

    /// Removes others' rights to the folder and its files, which an earlier version or another program
    /// gave them.
    ///
    /// - Throws: `FileError`.
    package func close() throws {
        try AtomicFile.protect(path, in: calls)
        for file in try files() {
            do {
                try AtomicFile.protect(file.path, in: calls)
            } catch FileError.failed(_, _, ENOENT) {
                // Another process has removed it.
            }
        }
    }
}
