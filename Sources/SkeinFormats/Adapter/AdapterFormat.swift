import Foundation
import SkeinBasics

/// The formats of adapters that are read and written.
package enum AdapterFormat: String, Sendable, CaseIterable {
    /// Hugging Face's: a folder with adapter_model.safetensors. vLLM and others read it, too.
    case peft
    /// mlx-lm's: a folder with adapters.safetensors.
    case mlx
    /// llama.cpp's: one file.
    case gguf

    /// Its name in sentences.
    package var name: String {
        switch self {
        case .peft: "PEFT"
        case .mlx: "MLX"
        case .gguf: "GGUF"
        }
    }

    /// The file with the numbers of the adapter at a path.
    package func weights(of path: String) -> String {
        switch self {
        case .peft: FilePath.join(path, AdapterFiles.weightsName)
        case .mlx: FilePath.join(path, MLXAdapter.weightsName)
        case .gguf: path
        }
    }

    /// Which format the adapter at a path is in, by the files that are there.
    ///
    /// - Throws: `FormatError.notFound`, `.notAnAdapter`, `.missingFile`; `ForeignFileError`;
    ///   `FileError`.
    package static func of(_ path: String) throws -> AdapterFormat {
        guard let kind = try FileKind.at(path) else { throw FormatError.notFound(path: path) }
        guard kind == .directory else {
            let file = try MappedFile(path: path)
            guard file.withBytes({ $0.prefix(4).elementsEqual("GGUF".utf8) }) else {
                if let foreign = file.withBytes({
                    ForeignFileError(path: path, bytes: $0, use: .adapter)
                }) {
                    throw foreign
                }
                throw FormatError.notAnAdapter(path: path, found: "a file of another kind")
            }
            return .gguf
        }
        func has(_ name: String) throws -> Bool {
            try FileKind.at(FilePath.join(path, name)) != nil
        }
        switch (try has(AdapterFiles.weightsName), try has(MLXAdapter.weightsName)) {
        case (true, false): return .peft
        case (false, true): return .mlx
        case (true, true):
            // One configuration for two adapters: it is only one's.
            throw FormatError.notAnAdapter(
                path: path,
                found: "a folder with both \(AdapterFiles.weightsName) and "
                    + MLXAdapter.weightsName)
        case (false, false):
            if try has("adapter_model.bin") {
                throw ForeignFileError(
                    path: FilePath.join(path, "adapter_model.bin"), kind: .pickle(isTorch: true),
                    use: .adapter)
            }
            if try has("config.json") {
                throw FormatError.modelAsAdapter(path: path)
            }
            let inner = place(path)
            if inner != path {
                throw FormatError.notAnAdapter(
                    path: path, found: "the folder of a run, whose adapter is \(inner)")
            }
            if try has(runFileName) {
                throw FormatError.notAnAdapter(
                    path: path,
                    found: "the folder of a run that keeps no adapter yet: it does from its first "
                        + "validation on, or at its end" + (try newestCheckpoint(path)))
            }
            let instead = try adapters(in: path)
            if !instead.isEmpty {
                throw FormatError.notAnAdapter(
                    path: path, found: "a folder with adapters in it", instead: instead)
            }
            throw FormatError.missingFile(
                path: path,
                expected: try has(AdapterFiles.configurationName)
                    ? AdapterFiles.weightsName : AdapterFiles.configurationName)
        }
    }

    /// The adapters that may be meant by a folder that only has some in it: of checkpoints, the
    /// run, if it keeps an adapter, and the newest; else the first ones.
    private static func adapters(in folder: String) throws -> [String] {
        let names = try DiskStore().names(in: folder).suffix(Limits.searchedFolders)
        let found = names.map { FilePath.join(folder, $0) }.filter { inner in
            let files = place(inner)
            return [AdapterFiles.weightsName, MLXAdapter.weightsName].contains {
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
    package static func place(_ path: String) -> String {
        func has(_ folder: String, _ name: String) -> Bool {
            FileManager.default.fileExists(atPath: FilePath.join(folder, name))
        }
        let own = [AdapterFiles.weightsName, MLXAdapter.weightsName, "config.json"]
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
