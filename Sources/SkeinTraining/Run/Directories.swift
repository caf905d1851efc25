import Foundation
import SkeinBasics

/// Directories with errors that name the system's reason.
enum Directories {
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
        FilePath.join(directory, name)
    }
}
