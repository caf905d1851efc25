import Foundation
import SkeinBasics

/// What was given as a base model and is something else of a training: an error that calls it damaged
/// would send a person after a better copy of it.
package enum ModelStandIn: Sendable, Equatable {
    /// A file or folder of rows.
    case rows
    case adapter
    /// A run's folder; `model`: the base model that its record names.
    case run(model: String?)

    /// Endings of names of data files (`DataFileKind` has what is in them).
    private static let dataEndings = [".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt"]

    /// What the file or folder at `path` is, after it was found to be no model; nil: none of these.
    package init?(at path: String) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return nil
        }
        let name = path.lowercased()
        guard isDirectory.boolValue else {
            guard Self.dataEndings.contains(where: name.hasSuffix) else { return nil }
            self = .rows
            return
        }
        func has(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: FilePath.join(path, name))
        }
        let record = FilePath.join(path, "run.json")
        if has("run.json") {
            self = .run(model: Self.model(ofRecord: record))
        } else if [
            AdapterFiles.configurationName, AdapterFiles.weightsName,
            AdapterFiles.mlxWeightsName,
        ].contains(where: has) {
            self = .adapter
        } else if Self.dataEndings.contains(where: { has("train" + $0) }) {
            self = .rows
        } else {
            return nil
        }
    }

    private static func model(ofRecord path: String) -> String? {
        struct Record: Decodable { var model: String }
        // A record that cannot be read only leaves the sentence shorter.
        return try? JSONFile.decode(Record.self, path: path, limit: Limits.configurationBytes).model
    }

    var what: String {
        switch self {
        case .rows: "this is a data file or a folder of rows, not a model"
        case .adapter: "this is an adapter, not a model"
        case .run: "this is the folder of a run, which keeps an adapter and no model"
        }
    }

    var remedy: String {
        let model =
            "a .gguf file, a folder with config.json and *.safetensors, or ORG/NAME of the Hub"
        return switch self {
        case .rows: "give it as --data, and as --model \(model)"
        case .adapter: "give it as --adapter, and as --model the base model that it was made for"
        case .run(let name?): "give --model \(ShellWords.quoted(name)), and the folder as --adapter"
        case .run(nil): "give it as --adapter, and as --model its base model: \(model)"
        }
    }
}
