import Foundation
import SkeinBasics
import SkeinModels

/// The directory below which clients may name adapters.
struct AdapterRoot: Sendable {
    /// Without links.
    let path: String

    /// - Throws: `FileError` when there is no such directory.
    init(_ path: String) throws {
        self.path = try Self.resolved(path)
    }

    /// The file or folder that a client means: relative to the root, or absolute, with all links
    /// followed before it is compared.
    ///
    /// - Throws: `ServeError.outsideRoot`, whether there is something at the path or not: no client
    ///   learns what else is on this machine. `FileError` where what cannot be read is below the
    ///   root.
    func resolve(_ name: String) throws -> String {
        let outside = ServeError.outsideRoot(path: APIError.printable(String(name.prefix(256))))
        guard !name.isEmpty, !name.utf8.contains(0), isPossible(name) else { throw outside }
        let given = name.hasPrefix("/") ? name : FilePath.join(path, name)
        let found: String
        do {
            found = try Self.resolved(given)
        } catch {
            guard failsBelow(given) else { throw outside }
            throw error
        }
        guard isBelow(found) else { throw outside }
        return found
    }

    /// The adapter that a client means: no file of it may lie elsewhere either.
    ///
    /// - Throws: as `resolve`; `ServeError.tooManyFiles`.
    func resolveAdapter(_ name: String) throws -> String {
        // A run's folder means its adapter, which may be a link.
        let found = try resolve(AdapterFormats.standard.place(try resolve(name)))
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: found, isDirectory: &isDirectory),
            isDirectory.boolValue
        else { return found }
        let names = try DiskStore().names(in: found)
        guard names.count <= Limits.adapterFiles else {
            throw ServeError.tooManyFiles(
                path: APIError.printable(name), limit: Limits.adapterFiles)
        }
        for file in names { _ = try resolve(FilePath.join(found, file)) }
        return found
    }

    /// A path below the root without the root.
    func relative(_ path: String) -> String {
        String(path.dropFirst(self.path == "/" ? 1 : self.path.count + 1))
    }

    private func isBelow(_ resolved: String) -> Bool {
        resolved.hasPrefix(path == "/" ? "/" : path + "/")
    }

    /// Whether a path is as short as the system's own limits: a client may send mebibytes.
    private func isPossible(_ name: String) -> Bool {
        name.utf8.count < Int(PATH_MAX)
            && name.utf8.split(separator: UInt8(ascii: "/")).allSatisfy {
                $0.count <= Int(NAME_MAX)
            }
    }

    /// Whether the first part of a path that cannot be resolved lies below the root, and is no link,
    /// which may lead anywhere.
    private func failsBelow(_ given: String) -> Bool {
        var (parent, whole) = ("/", "")
        for part in given.split(separator: "/") {
            whole += "/" + part
            // The caller has the error, and asks where it stands.
            if let found = try? Self.resolved(whole) {
                parent = found
                continue
            }
            var status = stat()
            let isLink =
                lstat(whole, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
            return !isLink && (parent == path || isBelow(parent))
        }
        return false
    }

    private static func resolved(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else {
            throw FileError.failed(operation: "resolve", path: path, code: errno)
        }
        defer { free(real) }
        return String(cString: real)
    }
}
