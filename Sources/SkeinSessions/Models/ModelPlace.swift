import Foundation
import SkeinBasics

/// Where a model is.
enum ModelPlace: Sendable, Equatable {
    /// `SKEIN_MODEL`, or else `~/.config/skein/model`: the model itself (or a link to it), or a file
    /// whose first line is its path.
    case configured
    case path(String)

    /// The path of the model, which may not be there (yet).
    ///
    /// - Throws: `ModelFlaw.notConfigured`, `.badConfiguration`, `.unreadable`.
    func path() throws(ModelFlaw) -> String {
        // Each request asks: the environment is made a dictionary only where it is needed.
        if case .path(let path) = self { return path }
        return try path(environment: ProcessInfo.processInfo.environment)
    }

    func path(environment: [String: String]) throws(ModelFlaw) -> String {
        switch self {
        case .path(let path): return path
        case .configured:
            if let path = environment["SKEIN_MODEL"], !path.isEmpty { return path }
            let file = Self.configurationFile(environment)
            var status = stat()
            guard lstat(file, &status) == 0 else {
                let code = errno
                guard !FileKind.isNothing(code) else { throw .notConfigured(place: file) }
                throw .unreadable(.failed(operation: "look at", path: file, code: code))
            }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            let kind = FileKind(mode: status.st_mode)
            if isLink || kind == .directory || status.st_size > SessionLimits.modelNameBytes {
                return file
            }
            guard kind == .regular, let text = try Self.text(of: file),
                let line = text.split(whereSeparator: \.isNewline).first
            else { throw .badConfiguration(place: file) }
            let name = line.trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty else { throw .badConfiguration(place: file) }
            if name.hasPrefix("~/"), let home = environment["HOME"] {
                return FilePath.join(home, String(name.dropFirst(2)))
            }
            return name.hasPrefix("/") ? name : FilePath.join(FilePath.parent(of: file), name)
        }
    }

    /// nil: it is no UTF-8.
    private static func text(of file: String) throws(ModelFlaw) -> String? {
        do {
            let bytes = try RegularFile.bytes(
                of: file, from: 0, limit: SessionLimits.modelNameBytes)
            // Some editors put a mark at the beginning.
            let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
            return String(validating: bytes.dropFirst(hasMark ? 3 : 0), as: UTF8.self)
        } catch let error as FileError {
            throw .unreadable(error)
        } catch {
            // `RegularFile` throws nothing else; the compiler cannot know.
            return nil
        }
    }

    static func configurationFile(_ environment: [String: String]) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let base =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FilePath.join(home, ".config")
        return FilePath.join(FilePath.join(base, "skein"), "model")
    }

    /// Whether something is still being fetched to where the model should be: `skein pull` and the
    /// scripts write to a file beside it.
    static func isBeingFetched(_ path: String) -> Bool {
        [".part", ".incomplete", ".download"].contains {
            FileManager.default.fileExists(atPath: path + $0)
        }
    }
}
