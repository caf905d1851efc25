import Foundation

/// Writes that are there whole or not at all, and stay after power is lost.
///
/// Temporary name, write, fsync, rename, fsync of the directory: a reader sees the old bytes or the
/// new ones.
public enum AtomicFile {
    /// Replaces the file at `path` with `bytes`.
    ///
    /// - Throws: `FileError`; the old file is then untouched.
    public static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws {
        try write(to: path) { try $0.append(bytes) }
    }

    /// Replaces the file at `path` with `bytes`.
    public static func write(_ bytes: [UInt8], to path: String) throws {
        try bytes.withUnsafeBytes { try write($0, to: path) }
    }

    /// Replaces the file at `path` with the UTF-8 bytes of `text`.
    public static func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    /// Replaces the file at `path` with what `body` appends.
    public static func write(to path: String, _ body: (borrowing Output) throws -> Void) throws {
        let temporary = path + ".tmp-\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        do {
            defer { close(descriptor) }
            try body(Output(descriptor: descriptor, path: path))
            guard fsync(descriptor) == 0 else {
                throw FileError.failed(operation: "flush", path: path, code: errno)
            }
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

    /// Where a body of `write(to:_:)` appends its bytes.
    public struct Output: ~Copyable {
        let descriptor: Int32
        let path: String

        /// Appends all of `bytes`, however often the system writes only a part.
        public func append(_ bytes: UnsafeRawBufferPointer) throws {
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

    /// Makes renames and unlinks inside the directory that holds `path` durable.
    public static func syncDirectory(of path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        let directory = parent.isEmpty ? "." : parent
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: directory, code: errno)
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw FileError.failed(operation: "flush", path: directory, code: errno)
        }
    }

    /// Makes a directory and those above it that are missing, so that they stay after power is lost.
    ///
    /// - Throws: `FileError`, also when something in the path is a file.
    public static func makeDirectory(_ path: String) throws {
        if mkdir(path, 0o755) == 0 {
            try syncDirectory(of: path)
            return
        }
        let code = errno
        if code == EEXIST {
            var isDirectory: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            if exists, isDirectory.boolValue { return }
            throw FileError.failed(operation: "use as a directory", path: path, code: ENOTDIR)
        }
        let parent = (path as NSString).deletingLastPathComponent
        guard code == ENOENT, !parent.isEmpty, parent != path else {
            throw FileError.failed(operation: "make the directory", path: path, code: code)
        }
        try makeDirectory(parent)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw FileError.failed(operation: "make the directory", path: path, code: errno)
        }
        try syncDirectory(of: path)
    }
}
