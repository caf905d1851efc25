import Foundation

/// Writes a file whole or not at all; once written, it survives a loss of power.
///
/// Temporary name, write, fsync, rename, fsync of the directory: a reader sees the old bytes or the
/// new ones. A link is kept and its target replaced. Replacing a device or a named pipe would do
/// harm, so its bytes are written straight into it; also where a link names an open descriptor,
/// such as `/dev/stdout`: the file behind it belongs to the process that opened it.
package enum AtomicFile {
    /// Who may use a new file or directory.
    package enum Access: Sendable, Equatable {
        /// All users may read, as far as the umask allows.
        case shared
        /// Only the owner: directories 0700, files 0600.
        case own
    }

    /// Replaces the file at `path` with `bytes`.
    ///
    /// - Throws: `FileError`; the old file is then untouched.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        try write(to: path, in: calls) { try $0.append(bytes) }
    }

    /// Replaces the file at `path` with `bytes`.
    package static func write(
        _ bytes: [UInt8], to path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        try bytes.withUnsafeBytes { try write($0, to: path, in: calls) }
    }

    /// Replaces the file at `path` with the UTF-8 bytes of `text`.
    package static func write(
        _ text: String, to path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        try write(Array(text.utf8), to: path, in: calls)
    }

    /// What a temporary name ends with: digits that no other process has. Processes on two hosts, or in two
    /// containers, that write into one directory may have the same number. No clock begins with a 0, by
    /// which people name copies.
    package static let mark = "0\(getpid())" + String(UInt32.random(in: 1 << 31 ... .max))

    /// Replaces the file at `path` with what `body` appends.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - access: who may use it.
    ///   - check: called when all bytes are durable, just before they replace the file; what it throws
    ///     leaves the old one.
    ///   - calls: of the disk.
    ///   - body: appends the bytes.
    /// - Throws: `FileError`, also for a directory or a socket; what `check` and `body` throw.
    package static func write(
        to path: String, access: Access = .shared, check: () throws -> Void = {},
        in calls: any FileCalls = SystemCalls(), _ body: (borrowing Output) throws -> Void
    ) throws {
        switch try calls.status(of: path) {
        case .done(let status):
            switch status.kind {
            case .regular: break
            case .pipe, .characterDevice, .blockDevice:
                try check()
                return try stream(to: path, calls, body)
            case let found: throw FileError.wrongKind(path: path, found: found, use: .writing)
            }
        case .failed(ENOENT): break
        case .failed(let code):
            throw FileError.failed(operation: "create", path: path, code: code)
        }
        let place = try followingLinks(path, calls)
        if namesDescriptor(place) {
            try check()
            return try stream(to: place, calls, body)
        }
        try replace(place, access, check, calls, body)
    }

    /// Makes the file, so that it is held.
    private static func makeUnfinished(
        _ temporary: String, _ access: Access, _ calls: any FileCalls, for path: String
    ) throws -> Int32 {
        let mode: mode_t = access == .own ? 0o600 : 0o644
        while true {
            let descriptor = try calls.openWholly(
                temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: mode
            ).get("create", path)
            // Another thread of this process may have made it for others, too.
            let closed = access == .own ? try calls.setMode(descriptor, mode) : .done
            if closed.code != nil {
                _ = try calls.unlink(temporary)
                calls.close(descriptor)
                try closed.get("protect", path)
            }
            if try Unfinished.hold(descriptor, temporary, in: calls) { return descriptor }
            calls.close(descriptor)
        }
    }

    private static func replace(
        _ path: String, _ access: Access, _ check: () throws -> Void, _ calls: any FileCalls,
        _ body: (borrowing Output) throws -> Void
    ) throws {
        let temporary = Unfinished.path(for: path, in: calls)
        let descriptor = try makeUnfinished(temporary, access, calls, for: path)
        // Last: until the file has its name or is gone, no other process may take it for a leftover.
        defer { calls.close(descriptor) }
        do {
            try body(Output(descriptor: descriptor, path: path, calls: calls))
            try calls.flushWholly(descriptor).get("flush", path)
            try check()
            try calls.rename(temporary, to: path).get("rename into place", path)
        } catch {
            // The first error says what is wrong; what stays is a leftover.
            _ = try calls.unlink(temporary)
            throw error
        }
        try syncDirectory(of: path, in: calls)
    }

    /// Writes into a device, a named pipe (waits for its reader) or the file of an open descriptor.
    private static func stream(
        to path: String, _ calls: any FileCalls, _ body: (borrowing Output) throws -> Void
    ) throws {
        let isFile =
            if case .done(let status) = try calls.status(of: path) {
                status.kind == .regular
            } else {
                false
            }
        // Opened again, a regular file would be overwritten from its beginning; a copy of the
        // descriptor continues behind what was written, and the process behind that.
        let opened =
            if isFile, let own = ownDescriptor(path) {
                try calls.duplicate(own)
            } else {
                try calls.open(path, O_WRONLY | (isFile ? O_APPEND : 0), mode: 0)
            }
        let descriptor = try opened.get("open", path)
        defer { calls.close(descriptor) }
        try body(Output(descriptor: descriptor, path: path, calls: calls))
        let flushed = try calls.flushWholly(descriptor)
        // Most devices and pipes cannot be flushed, and say so.
        if let code = flushed.code, [EINVAL, ENOTSUP, EROFS].contains(code) { return }
        try flushed.get("flush", path)
    }

    /// How many links in a row are followed: as many as Linux follows.
    private static let linkLimit = 40

    /// Whether `path` names an open descriptor of a process.
    private static func namesDescriptor(_ path: String) -> Bool {
        let parent = FilePath.parent(of: path)
        return parent == "/dev/fd"
            || (parent.utf8.starts(with: "/proc/".utf8) && FilePath.name(of: parent) == "fd")
    }

    /// The descriptor's number, if `path` names one of this process.
    private static func ownDescriptor(_ path: String) -> Int32? {
        let parents = ["/dev/fd", "/proc/self/fd", "/proc/\(getpid())/fd"]
        return parents.contains(FilePath.parent(of: path)) ? Int32(FilePath.name(of: path)) : nil
    }

    /// Where the links at the end of `path` lead, whether or not a file is there. A link that names
    /// an open descriptor is not followed.
    package static func followingLinks(
        _ path: String, _ calls: any FileCalls = SystemCalls()
    ) throws -> String {
        var path = path
        for _ in 0...linkLimit {
            guard case .done(let target) = try calls.target(ofLink: path) else {
                // Not a link, or nothing is there.
                return path
            }
            if namesDescriptor(path) { return path }
            let slash = UInt8(ascii: "/")
            let isPlaced = target.utf8.first == slash || !path.utf8.contains(slash)
            path = isPlaced ? target : FilePath.join(FilePath.parent(of: path), target)
        }
        throw FileError.failed(operation: "create", path: path, code: ELOOP)
    }

    /// Where a body of `write(to:_:)` appends its bytes.
    package struct Output: ~Copyable {
        let descriptor: Int32
        let path: String
        let calls: any FileCalls

        /// Appends all of `bytes`, in as many writes as the system needs.
        package func append(_ bytes: UnsafeRawBufferPointer) throws {
            try calls.writeAll(descriptor, bytes).get("write", path)
        }
    }

    /// Waits until what was written to `descriptor` would survive a loss of power.
    ///
    /// - Returns: false when the system could not do it; `errno` says why.
    package static func flush(_ descriptor: Int32) -> Bool {
        let result = uninterrupted { SystemCalls().flush(descriptor) }
        if let code = result.code { errno = code }
        return result.code == nil
    }

    /// Makes renames and unlinks inside the directory that holds `path` durable.
    package static func syncDirectory(
        of path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        let directory = FilePath.parent(of: path)
        let descriptor = try calls.openWholly(directory, O_RDONLY).get("open", directory)
        defer { calls.close(descriptor) }
        try calls.flushWholly(descriptor).get("flush", directory)
    }

    /// Makes a directory and its missing parents, so that they survive a loss of power.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - access: with `own`, `path` is closed to others even if it existed; its parents stay as
    ///     they are.
    ///   - calls: of the disk.
    /// - Throws: `FileError`, also when a part of the path is a file.
    package static func makeDirectory(
        _ path: String, access: Access = .shared, in calls: any FileCalls = SystemCalls()
    ) throws {
        try makeDirectory(path, mode: access == .own ? 0o700 : 0o755, calls)
        if access == .own { try protect(path, in: calls) }
    }

    private static func makeDirectory(
        _ path: String, mode: mode_t, _ calls: any FileCalls
    ) throws {
        guard let code = try calls.makeDirectory(path, mode: mode).code else {
            try syncDirectory(of: path, in: calls)
            return
        }
        if code == EEXIST {
            if case .done(let status) = try calls.status(of: path), status.kind == .directory {
                return
            }
            throw FileError.failed(operation: "use as a directory", path: path, code: ENOTDIR)
        }
        let parent = FilePath.parent(of: path)
        guard code == ENOENT, !path.isEmpty, parent != path else {
            throw FileError.failed(operation: "make the directory", path: path, code: code)
        }
        try makeDirectory(parent, mode: mode, calls)
        let made = try calls.makeDirectory(path, mode: mode)
        if made.code != EEXIST { try made.get("make the directory", path) }
        try syncDirectory(of: path, in: calls)
    }

    /// Removes all rights of others to the file or directory at `path`, if it belongs to this user;
    /// otherwise does nothing.
    ///
    /// - Throws: `FileError`.
    package static func protect(_ path: String, in calls: any FileCalls = SystemCalls()) throws {
        let status = try calls.status(of: path).get("inspect", path)
        guard status.mode & 0o077 != 0, status.owner == calls.user else { return }
        try calls.setMode(of: path, status.mode & 0o700).get("protect", path)
    }
}
