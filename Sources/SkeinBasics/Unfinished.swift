import Foundation

/// What is being made: it has the name of what it becomes, with `.tmp-` and the mark of its process behind
/// it, and its process holds its lock (flock) until it has its name or is gone. So what a killed process
/// left can be told from what another one is making. Runs, caches, sessions, the Hub's cache, `fuse` and
/// `export` remove it when they make the same again; a single text for people (`report --output`) stays.
package enum Unfinished {
    private static let sign = ".tmp-"

    static func path(for path: String, in calls: any FileCalls) -> String {
        FilePath.trimmed(path) + sign + calls.mark
    }

    /// Whether a name is that of something unfinished, of any process: for folders in which people keep
    /// nothing of theirs.
    package static func isName(_ name: String) -> Bool { mark(of: name) != nil }

    /// Whether it has such a mark as `AtomicFile.mark`, which no person gives to a copy.
    private static func isOurs(_ name: String) -> Bool {
        guard let mark = mark(of: name), mark.first == "0", mark.count > 11,
            let drawn = UInt64(mark.suffix(10))
        else { return false }
        return (1 << 31...UInt64(UInt32.max)).contains(drawn)
    }

    private static func mark(of name: String) -> Substring? {
        guard let found = name.range(of: sign, options: .backwards) else { return nil }
        let mark = name[found.upperBound...]
        return !mark.isEmpty && mark.allSatisfy { $0.isASCII && $0.isNumber } ? mark : nil
    }

    /// How often a lock is asked for, 10 ms apart.
    private static let tries = 100

    /// Locks what has just been made. Another process may hold the lock for as long as it looks, before
    /// the maker does. One that does not let go, perhaps another user's, keeps no writer waiting, and
    /// keeps others from removing the file, too. Where a file system has no locks, nothing is removed;
    /// where a host has its own locks of files that others see (NFS with `local_lock`), a file that is
    /// being made on another one may be, and its maker then ends with an error.
    ///
    /// - Returns: false if that process has removed it: it must be made again.
    static func hold(
        _ descriptor: Int32, _ path: String, in calls: any FileCalls
    ) throws -> Bool {
        for _ in 0..<tries {
            let locked = try calls.lockWholly(descriptor, LOCK_EX | LOCK_NB)
            guard locked.code == EWOULDBLOCK else { break }
            usleep(10_000)
        }
        return try calls.linkStatus(of: path).code != ENOENT
    }

    /// Removes what killed processes left of `path`.
    ///
    /// - Throws: `FileError`.
    package static func removeAbandoned(
        beside path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        let beginning = FilePath.name(of: path) + sign
        try removeAbandoned(from: FilePath.parent(of: path), in: calls) {
            $0.hasPrefix(beginning) && isOurs($0)
        }
    }

    /// Removes what killed processes of this user left in a directory, of the names that `isWanted` takes.
    /// In a directory that may be written and not listed, nothing is found.
    ///
    /// - Throws: `FileError`.
    package static func removeAbandoned(
        from directory: String, in calls: any FileCalls = SystemCalls(),
        where isWanted: (String) -> Bool
    ) throws {
        let names: [String]
        do {
            names = try DiskStore(calls: calls).names(in: directory)
        } catch FileError.failed(_, _, EACCES) {
            return
        }
        for name in names where isName(name) && isWanted(name) {
            try removeIfAbandoned(FilePath.join(directory, name), calls)
        }
    }

    /// Whether another process, or descriptor, has the lock of something that has an unfinished name.
    static func isHeld(_ path: String, in calls: any FileCalls) throws -> Bool {
        guard isName(FilePath.name(of: path)),
            case .done(let descriptor) = try calls.openWholly(
                path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        else { return false }
        defer { calls.close(descriptor) }
        return try calls.lockWholly(descriptor, LOCK_EX | LOCK_NB).code == EWOULDBLOCK
    }

    private static func removeIfAbandoned(_ path: String, _ calls: any FileCalls) throws {
        // NFS gives a lock of this kind to who may write; a folder cannot be opened for that.
        var opened = try calls.openWholly(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        if opened.code == EISDIR {
            opened = try calls.openWholly(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        // Otherwise it has its name by now, or is another user's.
        guard case .done(let descriptor) = opened else { return }
        defer { calls.close(descriptor) }
        guard try calls.lockWholly(descriptor, LOCK_EX | LOCK_NB).code == nil else { return }
        // Its maker may have given it its name, and begun another under the old one.
        guard case .done(let held) = try calls.status(descriptor),
            case .done(let named) = try calls.linkStatus(of: path),
            held.identity == named.identity, held.owner == calls.user
        else { return }
        let removed = try calls.removeTree(path)
        if removed.code != ENOENT { try removed.get("remove", path) }
    }

    /// Lets `body` make a file or folder under an unfinished name beside `path`, and gives it its name.
    ///
    /// - Parameters:
    ///   - path: what is made; nothing may be there.
    ///   - isFolder: whether it is a folder: then it is there, empty and held, before `body` begins. A file
    ///     has no holder between its last write and its name: of two processes that make the same one, one
    ///     fails.
    ///   - calls: of the disk.
    ///   - body: is given the unfinished name.
    /// - Returns: what `body` returns.
    /// - Throws: `FileError`; what `body` throws.
    package static func make<Result>(
        _ path: String, isFolder: Bool, in calls: any FileCalls = SystemCalls(),
        _ body: (_ unfinished: String) throws -> Result
    ) throws -> Result {
        try removeAbandoned(beside: path, in: calls)
        let unfinished = Self.path(for: path, in: calls)
        let descriptor = isFolder ? try makeFolder(unfinished, calls) : nil
        // Last, so that no other process takes it for a leftover.
        defer { if let descriptor { calls.close(descriptor) } }
        do {
            let result = try body(unfinished)
            try DiskStore(calls: calls).rename(unfinished, to: FilePath.trimmed(path))
            return result
        } catch {
            // What failed first counts.
            _ = try calls.removeTree(unfinished)
            throw error
        }
    }

    private static func makeFolder(_ folder: String, _ calls: any FileCalls) throws -> Int32 {
        while true {
            try AtomicFile.makeDirectory(folder, in: calls)
            let opened = try calls.openWholly(folder, O_RDONLY | O_DIRECTORY)
            if opened.code == ENOENT { continue }
            let descriptor = try opened.get("open", folder)
            if try hold(descriptor, folder, in: calls) { return descriptor }
            calls.close(descriptor)
        }
    }
}
