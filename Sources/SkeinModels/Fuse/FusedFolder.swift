import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors

/// A base model and an adapter as a Hugging Face folder.
package struct FusedFolder {
    /// A file beside the weights.
    package enum Companion: Sendable {
        case text(String)
        case bytes([UInt8])
        /// As the base has it.
        case copy(of: String)
    }

    private let input: FuseInput
    private let type: ElementType
    private let tensors: [FusedTensor]
    private let companions: [(name: String, content: Companion)]

    /// - Parameters:
    ///   - input: what is written.
    ///   - type: F32, F16 or BF16, of all tensors.
    ///   - tokenizer: the tokenizer's files, for a base that is a GGUF file.
    /// - Throws: `FuseError` for a model that is not written as a folder; `FormatError`.
    package init(
        _ input: FuseInput, type: ElementType,
        tokenizer: () throws -> [(name: String, content: Companion)]
    ) throws {
        guard type.blockElements == 1 else {
            throw FuseError.typeOfFormat(
                type: type.name, format: "a Hugging Face folder", supported: ["F32", "F16", "BF16"])
        }
        self.input = input
        self.type = type
        switch input.description {
        case .folder(let folder):
            tensors = try Self.tensors(input, type)
            let text = try folder.text()
            guard let config = try Self.edited(text, dtype: type.torchName) else {
                throw FormatError.badJSON(path: folder.path, reason: "it is not an object")
            }
            companions =
                [("config.json", .text(config))] + (try Self.companions(of: folder.directory))
        case .gguf:
            let layout = try GGUFAsFolder(input)
            tensors = try layout.tensors(type)
            companions = try [("config.json", .text(layout.config(type)))] + tokenizer()
        }
    }

    package var elementCount: Int { tensors.reduce(0) { $0 + $1.shape.reduce(1, *) } }
    package var byteCount: Int { tensors.reduce(0) { $0 + $1.byteCount } }

    /// Writes the folder: under another name beside `path` first, so that it is there whole or not
    /// at all.
    ///
    /// - Parameters:
    ///   - path: nothing may be there.
    ///   - shardBytes: of tensors in one file.
    ///   - team: the threads that encode.
    ///   - progress: gets the number of floats since its last call; what it throws ends the work.
    /// - Returns: what was written.
    /// - Throws: `FuseError`, `FileError`.
    package func write(
        to path: String, shardBytes: Int, team: ComputeTeam,
        progress: @escaping (Int) throws -> Void
    ) throws -> FuseReport {
        try Unfinished.make(path, isFolder: true) { unfinished in
            try fill(unfinished, shardBytes: shardBytes, team, progress)
        }
    }

    private func fill(
        _ directory: String, shardBytes: Int, _ team: ComputeTeam,
        _ progress: @escaping (Int) throws -> Void
    ) throws -> FuseReport {
        let stream = TensorStream(team: team, progress: progress)
        var report = FuseReport()
        let weights = ShardedSafetensors(
            tensors.map { tensor in
                ShardedSafetensors.Tensor(
                    name: tensor.name, shape: tensor.shape, elementType: tensor.type
                ) { append in
                    let deviation = try stream.write(tensor, append)
                    report.add(tensor, deviation, asked: type)
                    input.model.releasePages()
                }
            }, maximumBytes: shardBytes)
        report.files = try weights.write(to: directory)
        for (name, content) in companions {
            let place = FilePath.join(directory, name)
            if name.contains("/") { try AtomicFile.makeDirectory(FilePath.parent(of: place)) }
            switch content {
            case .text(let text): try AtomicFile.write(text, to: place)
            case .bytes(let bytes): try AtomicFile.write(bytes, to: place)
            case .copy(let source):
                try MappedFile(path: source).withBytes { try AtomicFile.write($0, to: place) }
            }
            report.files.append(name)
        }
        report.files.sort()
        return report
    }

    // MARK: From a folder

    /// All tensors under the names that they have in the base; a head that is tied is not written.
    private static func tensors(
        _ input: FuseInput, _ type: ElementType
    ) throws -> [FusedTensor] {
        let raw = input.model.raw
        if let other = raw.otherTensors.min(by: { $0.key < $1.key }) {
            throw FuseError.otherTensor(name: other.key, type: other.value)
        }
        let head = input.design.names.head
        let isTied = input.configuration.tiedEmbeddings
        var places: [String: Int] = [:]
        for (index, tensor) in input.configuration.requiredTensors.enumerated() {
            places[tensor.name] = index
        }
        let isMultimodal = input.design.names == .multimodal
        return try raw.tensors.values.compactMap { view -> (Int, FusedTensor)? in
            let name = isMultimodal ? MultimodalNames.newer(view.name) : view.name
            if isTied, name == head { return nil }
            // What is not the text model is carried over.
            let merged =
                input.model.has(name)
                ? try input.tensor(name)
                : MergedTensor(view: view, changes: [], numbers: [])
            let tensor =
                merged.changes.isEmpty && view.elementType == type
                ? FusedTensor(copying: view, type) : FusedTensor(view.name, merged, as: type)
            return (places[name] ?? .max, tensor)
        }.sorted { ($0.0, $0.1.name) < ($1.0, $1.1.name) }.map(\.1)
    }

    /// config.json with the type of what is written, and without how the base is quantized.
    static func edited(_ text: String, dtype: String, indent: Int = 0) throws -> String? {
        guard var members = try JSONMembers(text) else { return nil }
        for key in ["quantization", "quantization_config"] { members.remove(key) }
        let keys = ["dtype", "torch_dtype"].filter { members[$0] != nil }
        for key in keys { members.set(key, "\"\(dtype)\"") }
        if keys.isEmpty, indent == 0 { members.set("torch_dtype", "\"\(dtype)\"") }
        if let inner = members["text_config"],
            let edited = try edited(inner, dtype: dtype, indent: indent + 2)
        {
            members.set("text_config", edited)
        }
        return members.text(indent: indent) + (indent == 0 ? "\n" : "")
    }

    /// Files of the base that are neither weights nor descriptions of them.
    private static func companions(
        of directory: String
    ) throws -> [(name: String, content: Companion)] {
        let store = DiskStore()
        let endings = [".json", ".jinja", ".model", ".txt", ".py"]
        let names = try store.names(in: directory).filter { name in
            (endings.contains { name.hasSuffix($0) } || name.hasPrefix("LICENSE")
                || name.hasPrefix("NOTICE"))
                && name != "config.json" && !name.hasSuffix(".index.json")
                // An adapter's, in the same folder: transformers would look for its weights.
                && name != "adapter_config.json"
        }
        let folder = "additional_chat_templates"
        let templates = try store.names(in: FilePath.join(directory, folder)).filter {
            $0.hasSuffix(".jinja")
        }.map { folder + "/" + $0 }
        return (names + templates).compactMap { name in
            let path = FilePath.join(directory, name)
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
                !isDirectory.boolValue
            else { return nil }
            return (name, .copy(of: path))
        }
    }
}

extension ElementType {
    /// PyTorch's name of a plain type.
    var torchName: String {
        switch self {
        case .f16: "float16"
        case .bf16: "bfloat16"
        default: "float32"
        }
    }
}
