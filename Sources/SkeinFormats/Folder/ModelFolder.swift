import Foundation
import SkeinBasics

/// The weights of a Hugging Face folder: model.safetensors, or the shards that
/// model.safetensors.index.json lists.
struct FolderWeights {
    private(set) var tensors: [String: TensorView] = [:]
    /// Element types of tensors that cannot be weights, by name.
    private(set) var otherTensors: [String: String] = [:]
    /// All tensors as bytes.
    private(set) var stored: [String: StoredTensor] = [:]
    private(set) var sources: [ModelFiles.SourceFile] = []

    init(_ directory: String) throws {
        let single = directory + "/model.safetensors"
        let index = directory + "/model.safetensors.index.json"
        if try FileKind.at(single) != nil {
            let file = try SafetensorsFile(path: single)
            tensors = file.tensors
            otherTensors = file.otherTensors
            stored = file.stored
            sources = [ModelFiles.SourceFile(name: "model.safetensors", file: file.file)]
        } else if try FileKind.at(index) != nil {
            try readShards(directory, index: index)
        } else {
            if let pickle = try Self.pickle(directory) { throw pickle }
            throw FormatError.missingFile(
                path: directory, expected: "model.safetensors or model.safetensors.index.json")
        }
    }

    /// PyTorch's own file of weights, or the first of several, in a folder without other weights.
    private static func pickle(_ directory: String) throws -> ForeignFileError? {
        let name = try DiskStore().names(in: directory).filter {
            $0.hasPrefix("pytorch_model") && $0.hasSuffix(".bin")
                || $0.hasPrefix("consolidated") && $0.hasSuffix(".pth")
        }.min()
        return name.map {
            ForeignFileError(
                path: FilePath.join(directory, $0), kind: .pickle(isTorch: true), use: .model)
        }
    }

    private struct Index: Decodable {
        let shardOfTensor: [String: String]

        enum CodingKeys: String, CodingKey { case shardOfTensor = "weight_map" }
    }

    /// Takes from each shard the tensors that the index places there.
    private mutating func readShards(_ directory: String, index: String) throws {
        let indexFile = try MappedFile(path: index)
        let places = try JSONFile.decode(
            Index.self, file: indexFile, limit: Limits.indexBytes
        ).shardOfTensor
        let names = Set(places.values).sorted()
        for (field, count, limit) in [
            ("weight_map", UInt64(places.count), Limits.tensors),
            ("shards", UInt64(names.count), UInt64(Limits.shards)),
        ] where count > limit {
            throw FormatError.overLimit(path: index, field: field, limit: limit, found: count)
        }
        sources.append(
            ModelFiles.SourceFile(name: "model.safetensors.index.json", file: indexFile))
        var shards: [String: SafetensorsFile] = [:]
        for name in names {
            // A name with a separator could reach any file that the user can read.
            guard !name.isEmpty, !name.contains("/"), !name.contains(".."), !name.contains("\0")
            else { throw FormatError.badShardName(path: index, found: name) }
            guard try FileKind.at("\(directory)/\(name)") != nil else {
                throw FormatError.missingFile(path: directory, expected: name)
            }
            let shard = try SafetensorsFile(path: "\(directory)/\(name)")
            shards[name] = shard
            sources.append(ModelFiles.SourceFile(name: name, file: shard.file))
        }
        for (tensor, name) in places.sorted(by: { $0.key < $1.key }) {
            guard let shard = shards[name] else { continue }
            if shard.otherTensors[tensor] == nil { _ = try shard.tensor(tensor) }
        }
        for name in names {
            guard let shard = shards[name] else { continue }
            // A tensor that the index does not list counts, too: it may change what is computed. Of
            // one that is stored twice, the index says which is meant.
            func isMeant(_ tensor: String) -> Bool { places[tensor].map { $0 == name } ?? true }
            tensors.merge(shard.tensors.filter { isMeant($0.key) }) { $1 }
            otherTensors.merge(shard.otherTensors.filter { isMeant($0.key) }) { $1 }
            try stored.merge(shard.stored.filter { isMeant($0.key) }) { tensor, _ in
                throw FormatError.duplicate(path: index, name: tensor.name)
            }
        }
    }
}

extension FolderWeights {
    /// Puts `matrix` under `name` and takes `parts` away.
    mutating func replace(_ name: String, by matrix: any CompositeMatrix, parts: [String]) {
        for part in parts {
            tensors[part] = nil
            otherTensors[part] = nil
            stored[part] = nil
        }
        tensors[name] = TensorView(name: name, matrix)
    }
}
