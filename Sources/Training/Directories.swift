import Basics
import Foundation

/// Directories with errors that name the system's reason.
enum Directories {
    /// Makes a directory and those above it that are missing.
    ///
    /// - Throws: `FileError`, also when something in the path is a file.
    static func make(_ path: String) throws {
        if mkdir(path, 0o755) == 0 {
            try AtomicFile.syncDirectory(of: path)
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
        try make(parent)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw FileError.failed(operation: "make the directory", path: path, code: errno)
        }
        try AtomicFile.syncDirectory(of: path)
    }

    /// Names in a directory, sorted; empty when there is no such directory.
    static func names(in path: String) throws -> [String] {
        guard let stream = opendir(path) else {
            if errno == ENOENT { return [] }
            throw FileError.failed(operation: "list", path: path, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file or a directory with all that is in it; nothing there is fine.
    static func remove(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code
            throw FileError.failed(
                operation: "remove", path: path, code: Int32(truncatingIfNeeded: code ?? Int(EIO)))
        }
    }

    /// Renames; the parent directory is flushed.
    static func rename(_ old: String, to new: String) throws {
        guard Foundation.rename(old, new) == 0 else {
            throw FileError.failed(operation: "rename into place", path: new, code: errno)
        }
        try AtomicFile.syncDirectory(of: new)
    }

    static func join(_ directory: String, _ name: String) -> String {
        (directory as NSString).appendingPathComponent(name)
    }
}
