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
    package static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws {
        try write(to: path) { try $0.append(bytes) }
    }

    /// Replaces the file at `path` with `bytes`.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        try bytes.withUnsafeBytes { try write($0, to: path) }
    }

    /// Replaces the file at `path` with the UTF-8 bytes of `text`.
    package static func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    /// What a temporary name ends with: digits that no other process has. Processes on two hosts, or in two
    /// containers, that write into one directory may have the same number.
    package static let mark = "\(getpid())" + String(UInt32.random(in: 1 << 31 ... .max))

    /// Replaces the file at `path` with what `body` appends.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - access: who may use it.
    ///   - check: called when all bytes are durable, just before they replace the file; what it throws
    ///     leaves the old one.
    ///   - body: appends the bytes.
    /// - Throws: `FileError`, also for a directory or a socket; what `check` and `body` throw.
    package static func write(
        to path: String, access: Access = .shared, check: () throws -> Void = {},
        _ body: (borrowing Output) throws -> Void
    ) throws {
        var status = stat()
        if stat(path, &status) == 0 {
            switch FileKind(mode: status.st_mode) {
            case .regular: break
            case .pipe, .characterDevice, .blockDevice:
                try check()
                return try stream(to: path, body)
            case let found: throw FileError.wrongKind(path: path, found: found, use: .writing)
            }
        } else if errno != ENOENT {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        let place = try followingLinks(path)
        if namesDescriptor(place) {
            try check()
            return try stream(to: place, body)
        }
        try replace(place, access, check, body)
    }

    private static func replace(
        _ path: String, _ access: Access, _ check: () throws -> Void,
        _ body: (borrowing Output) throws -> Void
    ) throws {
        let temporary = path + ".tmp-" + mark
        let mode: mode_t = access == .own ? 0o600 : 0o644
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        do {
            defer { close(descriptor) }
            // A file left by a killed process with the same pid may be open to others.
            if access == .own, fchmod(descriptor, mode) != 0 {
                throw FileError.failed(operation: "protect", path: path, code: errno)
            }
            try body(Output(descriptor: descriptor, path: path))
            guard flush(descriptor) else {
                throw FileError.failed(operation: "flush", path: path, code: errno)
            }
            try check()
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw FileError.failed(operation: "rename into place", path: path, code: code)
        }
        try syncDirectory(of: path)
    }

    /// Writes into a device, a named pipe (waits for its reader) or the file of an open descriptor.
    private static func stream(
        to path: String, _ body: (borrowing Output) throws -> Void
    ) throws {
        var status = stat()
        let isFile = stat(path, &status) == 0 && FileKind(mode: status.st_mode) == .regular
        // Opened again, a regular file would be overwritten from its beginning; a copy of the
        // descriptor continues behind what was written, and the process behind that.
        let descriptor =
            if isFile, let own = ownDescriptor(path) {
                fcntl(own, F_DUPFD_CLOEXEC, 0)
            } else {
                open(path, O_WRONLY | O_CLOEXEC | (isFile ? O_APPEND : 0))
            }
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        defer { close(descriptor) }
        try body(Output(descriptor: descriptor, path: path))
        // Most devices and pipes cannot be flushed, and say so.
        guard flush(descriptor) || [EINVAL, ENOTSUP, EROFS].contains(errno) else {
            throw FileError.failed(operation: "flush", path: path, code: errno)
        }
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
    private static func followingLinks(_ path: String) throws -> String {
        var path = path
        for _ in 0...linkLimit {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &bytes, bytes.count)
            // Not a link, or nothing is there.
            guard count > 0 else { return path }
            if namesDescriptor(path) { return path }
            let target = String(
                decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
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

        /// Appends all of `bytes`, in as many writes as the system needs.
        package func append(_ bytes: UnsafeRawBufferPointer) throws {
            var rest = bytes
            while let base = rest.baseAddress, !rest.isEmpty {
                let written = Foundation.write(descriptor, base, rest.count)
                if written < 0 {
                    if errno == EINTR { continue }
                    throw FileError.failed(operation: "write", path: path, code: errno)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }

    /// Waits until what was written to `descriptor` would survive a loss of power.
    ///
    /// - Returns: false when the system could not do it; `errno` says why.
    package static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // Here fsync(2) leaves bytes in the drive's cache. Not every file system can do better.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Makes renames and unlinks inside the directory that holds `path` durable.
    package static func syncDirectory(of path: String) throws {
        let directory = FilePath.parent(of: path)
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: directory, code: errno)
        }
        defer { close(descriptor) }
        guard flush(descriptor) else {
            throw FileError.failed(operation: "flush", path: directory, code: errno)
        }
    }

    /// Makes a directory and its missing parents, so that they survive a loss of power.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - access: with `own`, `path` is closed to others even if it existed; its parents stay as
    ///     they are.
    /// - Throws: `FileError`, also when a part of the path is a file.
    package static func makeDirectory(_ path: String, access: Access = .shared) throws {
        try makeDirectory(path, mode: access == .own ? 0o700 : 0o755)
        if access == .own { try protect(path) }
    }

    private static func makeDirectory(_ path: String, mode: mode_t) throws {
        if mkdir(path, mode) == 0 {
            try syncDirectory(of: path)
            return
        }
        let code = errno
        if code == EEXIST {
            var status = stat()
            if stat(path, &status) == 0, FileKind(mode: status.st_mode) == .directory { return }
            throw FileError.failed(operation: "use as a directory", path: path, code: ENOTDIR)
        }
        let parent = FilePath.parent(of: path)
        guard code == ENOENT, !path.isEmpty, parent != path else {
            throw FileError.failed(operation: "make the directory", path: path, code: code)
        }
        try makeDirectory(parent, mode: mode)
        guard mkdir(path, mode) == 0 || errno == EEXIST else {
            throw FileError.failed(operation: "make the directory", path: path, code: errno)
        }
        try syncDirectory(of: path)
    }

    /// Removes all rights of others to the file or directory at `path`, if it belongs to this user;
    /// otherwise does nothing.
    ///
    /// - Throws: `FileError`.
    package static func protect(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw FileError.failed(operation: "inspect", path: path, code: errno)
        }
        guard status.st_mode & 0o077 != 0, status.st_uid == geteuid() else { return }
        guard chmod(path, status.st_mode & 0o700) == 0 else {
            throw FileError.failed(operation: "protect", path: path, code: errno)
        }
    }
}
