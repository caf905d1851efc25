import SkeinBasics
import SkeinFormats

/// A model on disk: a GGUF file or a Hugging Face folder, mapped, checked and of a known family.
///
/// Every tensor that the family's design asks for exists and has its shape; there is no other that
/// a decoder would have to use; and the engine computes all that the design asks for.
package struct ModelDirectory: Sendable {
    /// Its design may be replaced by one that asks for fewer tensors, to see what each field does.
    package var configuration: ModelConfiguration
    /// The files, with their own names for everything.
    package let raw: ModelFiles
    /// Bytes of all weights in the file or files that belong to the model.
    package let weightBytes: Int
    /// What a person should know of the files: what in them is left alone.
    package let notes: [String]
    /// How GGUF files of the family name tensors; nil: there are none.
    package let adapterLayout: GGUFLayout?
    /// By Hugging Face name, rows in Hugging Face's order.
    private let tensors: [String: TensorView]

    /// The path that was given to `open`.
    package var path: String { raw.path }
    package var tokenizerSource: ModelFiles.TokenizerSource? { raw.tokenizerSource }
    package var chatTemplate: String? { raw.chatTemplate }
    package var namedChatTemplates: [String: String] { raw.namedChatTemplates }
    package var files: [ModelFiles.SourceFile] { raw.files }
    /// How the makers want tokens picked.
    package var sampling: StatedSampling { raw.sampling }

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
        let family: any ModelFamily
        var configuration: ModelConfiguration
        (family, configuration) = try families.read(description)
        try Engine.check(configuration, of: path)
        let raw = try ModelFiles(description)
        var (tensors, others) = (raw.tensors, raw.otherTensors)
        var notes: [String] = []
        switch (description, family.gguf) {
        case (.gguf, let layout?): tensors = try renamed(raw, layout, configuration)
        default:
            if configuration.design.names == .multimodal {
                let count = tensors.count + others.count
                tensors = try MultimodalNames.ofText(tensors, path: path) { $0.renamed($1) }
                others = try MultimodalNames.ofText(others, path: path) { type, _ in type }
                let left = count - tensors.count - others.count
                // transformers ties no head that is stored there.
                if tensors[configuration.design.names.head] != nil {
                    configuration.tiedEmbeddings = false
                }
                if left > 0 {
                    notes.append(
                        "\(Figures.count(left, "tensor")) of the model's other inputs \(left == 1 ? "is" : "are") left alone"
                    )
                }
            }
        }
        try check(tensors, others, against: configuration, path: path)
        return ModelDirectory(
            configuration: configuration, raw: raw, tensors: tensors, notes: notes,
            adapterLayout: family.adapterLayout)
    }

    private init(
        configuration: ModelConfiguration, raw: ModelFiles, tensors: [String: TensorView],
        notes: [String], adapterLayout: GGUFLayout?
    ) {
        self.adapterLayout = adapterLayout
        self.configuration = configuration
        self.raw = raw
        self.tensors = tensors.merging(Self.parts(of: tensors, configuration.design)) { $1 }
        self.notes = notes
        weightBytes = tensors.values.reduce(0) { $0 + $1.byteCount }
    }

    /// The matrices of projections that share a tensor, under the projections' own names.
    static func parts(
        of tensors: [String: TensorView], _ design: DecoderDesign
    ) -> [String: TensorView] {
        var parts: [String: TensorView] = [:]
        for (layer, block) in design.blocks.enumerated() {
            for projection in block.projections {
                guard let rows = projection.rows,
                    let whole = tensors[design.tensor(projection.tensor + ".weight", in: layer)]
                else { continue }
                let name = design.tensor(projection.name + ".weight", in: layer)
                parts[name] = whole.part(name, rows: rows)
            }
        }
        return parts
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
        for (name, view) in raw.tensors
        where ModelConfiguration.RotaryTensor(rawValue: name) == nil {
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

/// The names of tensors in a folder of a model for several kinds of input.
enum MultimodalNames {
    /// Beginnings of names of what is not the text model, in transformers' and in older spellings.
    private static let others = [
        "vision_tower.", "multi_modal_projector.", "vision_model.", "model.vision_tower.",
        "model.multi_modal_projector.", "audio_tower.", "model.audio_tower.",
    ]

    /// Those of the text model, under the names that transformers gives them today.
    ///
    /// - Throws: `FormatError.duplicate`.
    static func ofText<Value>(
        _ tensors: [String: Value], path: String, _ rename: (Value, String) -> Value
    ) throws -> [String: Value] {
        var found: [String: Value] = [:]
        for (name, value) in tensors where !others.contains(where: name.hasPrefix) {
            let newer = newer(name)
            // Both spellings of one name: which counts would be left to chance.
            guard found.updateValue(rename(value, newer), forKey: newer) == nil else {
                throw FormatError.duplicate(path: path, name: newer)
            }
        }
        return found
    }

    /// What transformers calls it today.
    static func newer(_ name: String) -> String {
        for (old, new) in [
            ("language_model.model.", "model.language_model."),
            ("language_model.lm_head", "lm_head"),
        ] where name.hasPrefix(old) { return new + name.dropFirst(old.count) }
        return name
    }
}

extension ModelDirectory {
    /// The first weight that is NaN or infinite, as the error that names its tensor, file and place.
    ///
    /// It reads all weights, as Floats in the order of the design: seconds for a model of gigabytes. So
    /// it is asked once a loss, a gradient or a logit has turned out not to be finite, to tell a model
    /// that is damaged from a run that has diverged. Checked by FiniteWeightsTests.
    ///
    /// - Returns: `FormatError.notFinite`; nil when all weights are finite.
    /// - Throws: `FormatError.missingTensor`.
    package func firstNotFiniteWeight() throws -> FormatError? {
        for (name, _) in configuration.requiredTensors {
            let view = try tensor(name)
            let columns = view.columns
            let most = max(1, Self.scannedElements / max(1, columns))
            var rows = [Float](repeating: 0, count: min(most, view.rows) * columns)
            for start in stride(from: 0, to: view.rows, by: most) {
                let range = start..<min(start + most, view.rows)
                let place = rows.withUnsafeMutableBufferPointer { rows -> Int? in
                    guard let base = rows.baseAddress else { return nil }
                    view.dequantize(rows: range, into: base)
                    return Self.firstNotFinite(base, count: range.count * columns)
                }
                guard let place else { continue }
                return .notFinite(
                    path: view.path, tensor: name, row: start + place / columns,
                    column: place % columns, value: rows[place].isNaN ? "nan" : "\(rows[place])")
            }
        }
        return nil
    }

    /// Floats that are read at once: they stay in a core's cache.
    private static let scannedElements = 1 << 16

    private static func firstNotFinite(_ numbers: UnsafePointer<Float>, count: Int) -> Int? {
        // Without the sign, and one added to the exponent: the top bit is set only if the exponent
        // was all ones.
        var sums: UInt32 = 0
        for i in 0..<count { sums |= (numbers[i].bitPattern & 0x7FFF_FFFF) &+ 0x0080_0000 }
        guard sums & 0x8000_0000 != 0 else { return nil }
        return (0..<count).first { !numbers[$0].isFinite }
    }
}

extension Error {
    /// The error that names a weight of `model` that is not finite, where there is one: what led to
    /// this error, which says that a computed number is not finite.
    ///
    /// - Parameter model: what computed.
    /// - Returns: `FormatError.notFinite`, or this error.
    package func traced(to model: ModelDirectory) -> any Error {
        // A tensor that is missing would be no better explanation than this error.
        guard let found = try? model.firstNotFiniteWeight() else { return self }
        return found
    }
}
