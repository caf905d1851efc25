import Foundation
import SkeinBasics

/// A model on disk: a GGUF file or a Hugging Face folder, mapped and checked.
///
/// Every tensor that the configuration asks for is there and has its shape; nothing else is, that a
/// decoder would have to compute with.
package struct ModelDirectory: Sendable {
    package enum TokenizerSource: Sendable {
        /// The metadata of a GGUF file.
        case gguf([String: GGUFValue])
        /// Paths of tokenizer.json and, where there is one, tokenizer_config.json.
        case files(tokenizerJSON: String, tokenizerConfig: String?)
    }

    /// What the caller gave to `open`.
    package let path: String
    package let configuration: ModelConfiguration
    package let tokenizerSource: TokenizerSource?
    /// chat_template.jinja, else tokenizer_config.json's, else GGUF's tokenizer.chat_template.
    package let chatTemplate: String?
    /// Bytes of all weights in the file or files.
    package let weightBytes: Int
    private let tensors: [String: TensorView]
    private let sources: [SourceFile]

    /// A file that the model is made of.
    package struct SourceFile: Sendable {
        /// Without a directory; empty for a GGUF file, whose name tells nothing.
        package let name: String
        package let file: MappedFile

        /// SHA-256 of the file; reads every byte.
        package func digest() -> SHA256.Digest { file.withBytes { SHA256.digest(of: $0) } }
    }

    /// The files that the model is made of and no others, in the order of their names: copied into
    /// an empty folder they are the same model, with the same `contentDigest`.
    package var files: [SourceFile] { sources.sorted { $0.name < $1.name } }

    /// Opens a GGUF file or a folder with config.json; weights are mapped, not read.
    ///
    /// - Throws: `FileError` when a file cannot be mapped, `FormatError` when there is none, when it is
    ///   not sound, is of another architecture, or has not exactly the tensors that the configuration
    ///   asks for.
    package static func open(_ path: String) throws -> ModelDirectory {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw FormatError.notFound(path: path)
        }
        if !isDirectory.boolValue { return try ModelDirectory(gguf: path) }
        guard FileManager.default.fileExists(atPath: path + "/config.json") else {
            throw FormatError.notAModel(path: path)
        }
        return try ModelDirectory(folder: path)
    }

    /// The weight with this Hugging Face name.
    ///
    /// - Throws: `FormatError.missingTensor`.
    package func tensor(_ name: String) throws -> TensorView {
        guard let view = tensors[name] else {
            throw FormatError.missingTensor(path: path, tensor: name)
        }
        return view
    }

    package func has(_ name: String) -> Bool { tensors[name] != nil }

    /// Gives back the memory of the mapped files, for who has read what is needed.
    package func releasePages() {
        for source in sources { source.file.releasePages() }
    }

    /// SHA-256 of the model's bytes: of the GGUF file, or of names, lengths and contents of the
    /// folder's configuration, weights and tokenizer files in the order of their names.
    ///
    /// Reads every byte: about a second for 1 GB.
    package func contentDigest() -> SHA256.Digest { contentDigest { _ in } }

    /// The same; `progress` is told of bytes that have been read, some at a time, and may end it by
    /// an error.
    package func contentDigest(progress: (Int) throws -> Void) rethrows -> SHA256.Digest {
        var hash = SHA256()
        let isFile = sources.count == 1 && sources.first?.name.isEmpty == true
        for source in files {
            if !isFile { hash.update("\(source.name)\n\(source.file.count)\n") }
            try source.file.update(&hash, progress: progress)
        }
        return hash.finish()
    }
}

extension ModelDirectory {
    private init(gguf path: String) throws {
        let gguf = try GGUFFile(path: path)
        let configuration = try ModelConfiguration(gguf)
        var tensors: [String: TensorView] = [:]
        for (name, view) in gguf.tensors where name != GGUFTensorNames.ropeDivisors {
            guard let huggingFaceName = GGUFTensorNames.huggingFaceName(name) else {
                throw FormatError.unexpectedTensor(path: path, tensor: name)
            }
            let headRows =
                GGUFTensorNames.isInterleaved(name) ? configuration.headDimension : nil
            tensors[huggingFaceName] = view.renamed(
                huggingFaceName, interleavedHeadRows: headRows)
        }
        self.path = path
        self.configuration = configuration
        self.tensors = tensors
        tokenizerSource =
            gguf.metadata["tokenizer.ggml.tokens"] == nil ? nil : .gguf(gguf.metadata)
        if case .string(let template) = gguf.metadata["tokenizer.chat_template"] {
            chatTemplate = template
        } else {
            chatTemplate = nil
        }
        weightBytes = tensors.values.reduce(0) { $0 + $1.byteCount }
        sources = [SourceFile(name: "", file: gguf.file)]
        try Self.check(tensors, [:], against: configuration, path: path)
    }

    private init(folder path: String) throws {
        let configuration = try ModelConfiguration(configPath: path + "/config.json")
        let weights = try FolderWeights(path)
        let tokenizer = try FolderTokenizer(path)
        self.path = path
        self.configuration = configuration
        tensors = weights.tensors
        tokenizerSource = tokenizer.source
        chatTemplate = tokenizer.chatTemplate
        weightBytes = weights.tensors.values.reduce(0) { $0 + $1.byteCount }
        let config = try MappedFile(path: path + "/config.json")
        sources =
            [SourceFile(name: "config.json", file: config)] + weights.sources + tokenizer.sources
        try Self.check(weights.tensors, weights.otherTensors, against: configuration, path: path)
    }

    /// Checks that the weights are exactly those that the configuration asks for.
    private static func check(
        _ tensors: [String: TensorView], _ others: [String: String],
        against configuration: ModelConfiguration, path: String
    ) throws {
        var rest = Set(tensors.keys).union(others.keys)
        for (name, shape) in configuration.requiredTensors {
            if let type = others[name] {
                throw FormatError.unsupportedElementType(path: path, tensor: name, found: type)
            }
            guard let view = tensors[name] else {
                throw FormatError.missingTensor(path: path, tensor: name)
            }
            guard view.shape == shape else {
                throw FormatError.wrongShape(
                    path: view.path, tensor: name, expected: shape, found: view.shape)
            }
            rest.remove(name)
        }
        // A tied head may be stored a second time; old files store the inverse frequencies.
        rest = rest.filter {
            $0 != "lm_head.weight" && !$0.hasSuffix(".rotary_emb.inv_freq")
        }
        // Anything else, a bias for example, would change what the model computes.
        if let name = rest.min() {
            throw FormatError.unexpectedTensor(path: path, tensor: name)
        }
    }
}
