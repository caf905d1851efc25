import SkeinBasics
import SkeinFormats

/// A model on disk: a GGUF file or a Hugging Face folder, mapped, checked and of a known family.
///
/// Every tensor that the family's design asks for exists and has its shape; there is no other that
/// a decoder would have to use; and the engine computes all that the design asks for.
package struct ModelDirectory: Sendable {
    package let configuration: ModelConfiguration
    /// The files, with their own names for everything.
    package let raw: ModelFiles
    /// Bytes of all weights in the file or files.
    package let weightBytes: Int
    /// By Hugging Face name, rows in Hugging Face's order.
    private let tensors: [String: TensorView]

    /// The path that was given to `open`.
    package var path: String { raw.path }
    package var tokenizerSource: ModelFiles.TokenizerSource? { raw.tokenizerSource }
    package var chatTemplate: String? { raw.chatTemplate }
    package var files: [ModelFiles.SourceFile] { raw.files }

    /// Opens a GGUF file or a folder with config.json; weights are mapped, not read.
    ///
    /// - Parameters:
    ///   - path: the file or folder.
    ///   - families: those that the model may belong to.
    /// - Returns: the model; no weight has been read.
    /// - Throws: `FileError` when a file cannot be mapped, `FormatError` when there is none, when
    ///   it is invalid, is of another family, or does not have exactly the tensors that the design
    ///   asks for; `EngineError` for a design that is not computed.
    package static func open(
        _ path: String, families: FamilyRegistry = .standard
    ) throws -> ModelDirectory {
        let description = try ModelDescription.open(path)
        let (family, configuration) = try families.read(description)
        try Engine.check(configuration, of: path)
        let raw = try ModelFiles(description)
        let tensors: [String: TensorView]
        switch (description, family.gguf) {
        case (.gguf, let layout?): tensors = try renamed(raw, layout, configuration)
        default: tensors = raw.tensors
        }
        try check(tensors, raw.otherTensors, against: configuration, path: path)
        return ModelDirectory(configuration: configuration, raw: raw, tensors: tensors)
    }

    private init(
        configuration: ModelConfiguration, raw: ModelFiles, tensors: [String: TensorView]
    ) {
        self.configuration = configuration
        self.raw = raw
        self.tensors = tensors
        weightBytes = tensors.values.reduce(0) { $0 + $1.byteCount }
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

    /// `ModelFiles.releasePages`.
    package func releasePages() { raw.releasePages() }

    /// `ModelFiles.contentDigest`.
    package func contentDigest() -> SHA256.Digest { raw.contentDigest() }

    /// `ModelFiles.contentDigest`.
    package func contentDigest(progress: (Int) throws -> Void) rethrows -> SHA256.Digest {
        try raw.contentDigest(progress: progress)
    }

    /// A GGUF file's tensors under the folder's names.
    private static func renamed(
        _ raw: ModelFiles, _ layout: GGUFLayout, _ configuration: ModelConfiguration
    ) throws -> [String: TensorView] {
        var tensors: [String: TensorView] = [:]
        for (name, view) in raw.tensors where name != ModelConfiguration.ropeDivisorsName {
            guard let match = layout.tensor(name, in: configuration.design) else {
                throw FormatError.unexpectedTensor(path: raw.path, tensor: name)
            }
            tensors[match.name] = view.renamed(
                match.name,
                interleavedHeadRows: match.isInterleaved ? configuration.headDimension : nil)
        }
        return tensors
    }

    /// Checks that the weights are exactly those that the design asks for.
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
        let head = configuration.design.names.head
        rest = rest.filter { $0 != head && !$0.hasSuffix(".rotary_emb.inv_freq") }
        // Anything else, a bias for example, would change what the model computes.
        if let name = rest.min() {
            throw FormatError.unexpectedTensor(path: path, tensor: name)
        }
    }
}
