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
    /// - Throws: `ModelFlaw.notConfigured`, `.badConfiguration`.
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
            guard let kind = try? FileManager.default.attributesOfItem(atPath: file) else {
                throw .notConfigured(place: file)
            }
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file, isDirectory: &isFolder)
            if isFolder.boolValue { return file }
            let size = (kind[.size] as? NSNumber)?.intValue ?? 0
            let isLink = kind[.type] as? FileAttributeType == .typeSymbolicLink
            if isLink || size > SessionLimits.modelNameBytes { return file }
            guard kind[.type] as? FileAttributeType == .typeRegular,
                let text = try? String(contentsOfFile: file, encoding: .utf8),
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
