import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinText

extension Facts {
    /// A base model.
    ///
    /// - Throws: `FormatError` or `FileError` for a model that cannot be used.
    init(modelAt path: String) throws {
        let model = try ModelDirectory.open(path)
        let configuration = model.configuration
        add("kind", "model")
        add("path", path)
        add("architecture", configuration.architecture)
        add("parameters", configuration.parameterCount)
        add("layers", configuration.layerCount)
        add("width", configuration.width)
        add("feed_forward_width", configuration.feedForwardWidth)
        add("heads", configuration.headCount)
        add("key_value_heads", configuration.keyValueHeadCount)
        add("head_dimension", configuration.headDimension)
        add("context_length", configuration.contextLength)
        add("vocabulary", configuration.vocabularySize)
        add("tied_embeddings", configuration.tiedEmbeddings)
        add("rope_theta", configuration.ropeTheta)
        add("rope_scaling", configuration.ropeFrequencyDivisors != nil)
        // The Float's own digits; converted to Double it would be 9.999999747378752e-06.
        let epsilon = Double("\(configuration.normEpsilon)") ?? 0
        add("norm_epsilon", epsilon)
        add("weight_bytes", .integer(model.weightBytes), shown: Figures.bytes(model.weightBytes))
        addTypes(of: try configuration.requiredTensors.map { try model.tensor($0.name) })
        addTokenizer(of: model)
        addTemplate(of: model)
        add("sha256", model.contentDigest().description)
    }

    /// A safetensors file that is none of the other kinds.
    init(safetensorsAt path: String) throws {
        let file = try SafetensorsFile(path: path)
        let views = file.tensors.values
        add("kind", "safetensors")
        add("path", path)
        add("tensors", file.tensors.count + file.otherTensors.count)
        add("numbers", views.reduce(0) { $0 + $1.elementCount })
        addTypes(of: Array(views))
        let others = Dictionary(grouping: file.otherTensors.values) { $0 }
        if !others.isEmpty {
            add(
                "other_types",
                .fields(
                    others.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value.count)) }))
        }
        let metadata = file.metadata.sorted { $0.key < $1.key }
        add("metadata", .fields(metadata.map { ($0.key, .text($0.value)) }))
        add("sha256", try Self.digest(ofFile: path))
    }

    /// SHA-256 of a file's bytes, which are read, not mapped: of a mapped file, a sector that cannot
    /// be read ends the process.
    ///
    /// - Throws: `FileError`.
    static func digest(ofFile path: String) throws -> String {
        try RegularFile.digest(of: path).digest.description
    }

    /// Adds how many tensors and numbers there are of each element type, most numbers first.
    private mutating func addTypes(of views: [TensorView]) {
        let types = Dictionary(grouping: views) { $0.typeName }.map { name, views in
            (name: name, tensors: views.count, numbers: views.reduce(0) { $0 + $1.elementCount })
        }.sorted { (-$0.numbers, $0.name) < (-$1.numbers, $1.name) }
        add(
            "tensor_types",
            .fields(
                types.map {
                    (
                        $0.name,
                        .fields([
                            ("tensors", .integer($0.tensors)), ("numbers", .integer($0.numbers)),
                        ])
                    )
                }),
            shown: types.map {
                "\($0.name): \(Figures.count($0.tensors, "tensor")), \(Figures.count($0.numbers, "number"))"
            }.joined(separator: "\n"))
    }

    /// A tokenizer that cannot be read does not hide the other facts.
    private mutating func addTokenizer(of model: ModelDirectory) {
        guard model.tokenizerSource != nil else { return add("tokenizer", false) }
        do {
            let tokenizer = try Tokenizer(
                model: model.raw, embeddings: model.configuration.vocabularySize)
            let others = tokenizer.vocabularySize - tokenizer.usableCount
            add(
                "tokenizer", .bool(true),
                shown: "\(Figures.count(tokenizer.vocabularySize, "token"))"
                    + (others == 0 ? "" : ", \(Figures.grouped(others)) without an embedding"))
        } catch {
            addProblem("tokenizer", error)
        }
    }

    private mutating func addTemplate(of model: ModelDirectory) {
        guard let source = model.chatTemplate else { return add("chat_template", false) }
        do {
            _ = try ChatTemplate(source: source, name: "the chat template of \(model.path)")
            add("chat_template", true)
        } catch {
            addProblem("chat_template", error)
        }
    }

    /// Adds something that is there but cannot be used, with the reason.
    private mutating func addProblem(_ name: String, _ error: any Error) {
        let what = ErrorReport.explanation(of: error).what
        add(name, .bool(true), shown: "not usable: \(what)")
        add(name + "_problem", .text(what), shown: what)
    }
}
