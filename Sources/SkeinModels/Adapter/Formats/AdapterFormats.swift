import Foundation
import SkeinBasics
import SkeinFormats

/// The known formats of adapters, found by the files at a path.
package struct AdapterFormats: Sendable {
    package static let standard = AdapterFormats([PEFTAdapter(), MLXAdapter(), GGUFAdapter()])

    package let all: [any AdapterFormat]

    package init(_ all: [any AdapterFormat]) {
        self.all = all
    }

    /// The files with numbers, by one of which a folder is an adapter.
    package var weightsNames: [String] { all.compactMap(\.weightsName) }

    /// Which format the adapter at a path is in, by the files that are there.
    ///
    /// - Throws: `FormatError.notFound`, `.notAnAdapter`, `.missingFile`; `ForeignFileError`;
    ///   `FileError`.
    package func format(at path: String) throws -> any AdapterFormat {
        guard let kind = try FileKind.at(path) else { throw FormatError.notFound(path: path) }
        guard kind == .directory else { return try format(ofFile: path) }
        let found = try all.filter { format in
            try format.weightsName.map { try Self.has($0, in: path) } ?? false
        }
        guard let format = found.first else { try refuse(folder: path) }
        guard found.count == 1 else {
            // One configuration for two adapters: it is only one's.
            throw FormatError.notAnAdapter(
                path: path,
                found: "a folder with both "
                    + found.compactMap(\.weightsName).joined(separator: " and "))
        }
        return format
    }

    /// The file with the numbers of the adapter at a path.
    ///
    /// - Throws: what `format(at:)` throws.
    package func weights(of path: String) throws -> String {
        try format(at: path).weights(of: path)
    }

    private func format(ofFile path: String) throws -> any AdapterFormat {
        try MappedFile(path: path).withBytes { bytes in
            let format = all.first { format in
                guard case .file(let beginning) = format.form else { return false }
                return bytes.starts(with: beginning.utf8)
            }
            if let format { return format }
            if let foreign = ForeignFileError(path: path, bytes: bytes, use: .adapter) {
                throw foreign
            }
            throw FormatError.notAnAdapter(path: path, found: "a file of another kind")
        }
    }

    private static func has(_ name: String, in folder: String) throws -> Bool {
        try FileKind.at(FilePath.join(folder, name)) != nil
    }

    /// Says what a folder is instead of an adapter.
    private func refuse(folder path: String) throws -> Never {
        if try Self.has("adapter_model.bin", in: path) {
            throw ForeignFileError(
                path: FilePath.join(path, "adapter_model.bin"), kind: .pickle(isTorch: true),
                use: .adapter)
        }
        if try Self.has("config.json", in: path) {
            throw FormatError.modelAsAdapter(path: path)
        }
        let inner = place(path)
        if inner != path {
            throw FormatError.notAnAdapter(
                path: path, found: "the folder of a run, whose adapter is \(inner)")
        }
        if try Self.has(Self.runFileName, in: path) {
            throw FormatError.notAnAdapter(
                path: path,
                found: "the folder of a run that keeps no adapter yet: it does from its first "
                    + "validation on, or at its end" + (try Self.newestCheckpoint(path)))
        }
        let instead = try adapters(in: path)
        if !instead.isEmpty {
            throw FormatError.notAnAdapter(
                path: path, found: "a folder with adapters in it", instead: instead)
        }
        throw FormatError.missingFile(
            path: path,
            expected: try Self.has(AdapterFiles.configurationName, in: path)
                ? AdapterFiles.weightsName : AdapterFiles.configurationName)
    }

    /// The adapters that may be meant by a folder that only has some in it: of checkpoints, the
    /// run, if it keeps an adapter, and the newest; else the first ones.
    private func adapters(in folder: String) throws -> [String] {
        let names = try DiskStore().names(in: folder).suffix(Limits.searchedFolders)
        let found = names.map { FilePath.join(folder, $0) }.filter { inner in
            let files = place(inner)
            return weightsNames.contains {
                FileManager.default.fileExists(atPath: FilePath.join(files, $0))
            }
        }
        let steps = found.filter { FilePath.name(of: $0).hasPrefix("step-") }
        guard let newest = steps.max(by: { ($0.count, $0) < ($1.count, $1) }) else {
            return Array(found.prefix(3))
        }
        let run = FilePath.parent(of: folder)
        return (place(run) == run ? [] : [run]) + [newest]
    }

    private static let runFileName = "run.json"

    /// Where the adapter is that a path means: for the folder of a run, the folder in it where the run
    /// keeps its adapter; else the path itself, whatever is there.
    package func place(_ path: String) -> String {
        func has(_ folder: String, _ name: String) -> Bool {
            FileManager.default.fileExists(atPath: FilePath.join(folder, name))
        }
        let own = weightsNames + ["config.json"]
        let inner = FilePath.join(path, "adapter")
        return has(inner, AdapterFiles.weightsName) && !own.contains(where: { has(path, $0) })
            ? inner : path
    }

    /// What adapters are called that are given without a name: after the run whose they are, else after
    /// their own folder or file.
    package static func name(of path: String) -> String {
        let whole = URL(fileURLWithPath: path).standardizedFileURL.path
        let parent = FilePath.parent(of: whole)
        let isRuns =
            FilePath.name(of: whole) == "adapter"
            && FileManager.default.fileExists(atPath: FilePath.join(parent, runFileName))
        let name = FilePath.name(of: isRuns ? parent : whole)
        return name.lowercased().hasSuffix(".gguf") ? String(name.dropLast(5)) : name
    }

    private static func newestCheckpoint(_ run: String) throws -> String {
        let folder = FilePath.join(run, "checkpoints")
        let names = try DiskStore().names(in: folder).filter { $0.hasPrefix("step-") }
        let newest = names.max { ($0.count, $0) < ($1.count, $1) }
        return newest.map { "; its newest checkpoint is \(FilePath.join(folder, $0))" } ?? ""
    }
}
