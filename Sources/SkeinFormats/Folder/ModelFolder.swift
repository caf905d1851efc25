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
        if FileManager.default.fileExists(atPath: single) {
            let file = try SafetensorsFile(path: single)
            tensors = file.tensors
            otherTensors = file.otherTensors
            stored = file.stored
            sources = [ModelFiles.SourceFile(name: "model.safetensors", file: file.file)]
        } else if FileManager.default.fileExists(atPath: index) {
            try readShards(directory, index: index)
        } else {
            throw FormatError.missingFile(
                path: directory, expected: "model.safetensors or model.safetensors.index.json")
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
            guard FileManager.default.fileExists(atPath: "\(directory)/\(name)") else {
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

/// The tokenizer files of a Hugging Face folder.
struct FolderTokenizer {
    let source: ModelFiles.TokenizerSource?
    let chatTemplate: String?
    let sources: [ModelFiles.SourceFile]

    init(_ directory: String) throws {
        var files: [ModelFiles.SourceFile] = []
        func map(_ name: String) throws -> MappedFile? {
            guard FileManager.default.fileExists(atPath: "\(directory)/\(name)") else { return nil }
            let file = try MappedFile(path: "\(directory)/\(name)")
            files.append(ModelFiles.SourceFile(name: name, file: file))
            return file
        }
        let tokenizer = try map("tokenizer.json")
        let pieces = try tokenizer == nil ? map("tokenizer.model") : nil
        let config = try map("tokenizer_config.json")
        let template = try map("chat_template.jinja")
        if let tokenizer {
            source = .files(tokenizerJSON: tokenizer.path, tokenizerConfig: config?.path)
        } else {
            source = pieces.map {
                .sentencePiece(model: $0.path, tokenizerConfig: config?.path)
            }
        }
        let configured = try config.flatMap { file in
            try JSONFile.decode(TemplateField.self, file: file, limit: Limits.indexBytes).text
        }
        chatTemplate = try template.map(Self.text) ?? configured
        sources = files
    }

    private static func text(of file: MappedFile) throws -> String {
        guard file.count <= Limits.templateBytes else {
            throw FormatError.overLimit(
                path: file.path, field: "file size", limit: UInt64(Limits.templateBytes),
                found: UInt64(file.count))
        }
        guard let text = file.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw FormatError.notText(path: file.path, offset: 0, field: "the template")
        }
        return text
    }

    /// `chat_template` of tokenizer_config.json: a text, or named texts of which "default" is taken.
    private struct TemplateField: Decodable {
        let text: String?

        private enum CodingKeys: String, CodingKey { case template = "chat_template" }

        private struct Named: Decodable {
            let name: String
            let template: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard container.contains(.template), try !container.decodeNil(forKey: .template)
            else {
                text = nil
                return
            }
            do {
                text = try container.decode(String.self, forKey: .template)
            } catch DecodingError.typeMismatch {
                text = try container.decode([Named].self, forKey: .template)
                    .first { $0.name == "default" }?.template
            }
        }
    }
}
