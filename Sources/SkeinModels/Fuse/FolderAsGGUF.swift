import SkeinBasics
import SkeinFormats

/// The metadata and tensors of a GGUF file for a model in a Hugging Face folder, as llama.cpp's
/// conversion of Hugging Face folders writes them.
///
/// Every value is taken from what the folder was read to, so that reading the file gives the same
/// model; `FusedFormatsTests` checks this for every family, beside llama.cpp's own metadata.
struct FolderAsGGUF {
    typealias Entry = (key: String, value: GGUFWriter.Value)

    private let input: FuseInput
    private let layout: GGUFLayout
    private let scaling: RopeScaling
    private let traits: FileTraits
    /// Tokens that the model was first trained on, if the folder or the family states it.
    private let originalContext: Double?

    /// - Throws: `FuseError.noConversion` for a family without GGUF files; `FormatError`.
    init(_ input: FuseInput) throws {
        self.input = input
        guard let layout = Self.layout(of: input) else {
            throw FuseError.noConversion(
                what: "a model of the type", found: input.configuration.architecture,
                format: "GGUF")
        }
        self.layout = layout
        traits = input.family.files
        guard case .folder(let folder) = input.description else {
            preconditionFailure("the base is a folder")
        }
        let fields =
            input.design.names == .multimodal
            ? try folder.decode(TextConfigurationField.self).text.fields
            : try folder.decode(ConfigurationFields.self)
        let rope = try RopeFields.chosen(fields, traits, ConfigurationCheck(path: folder.path))
        scaling = rope.full ?? RopeScaling()
        originalContext =
            fields.originalContextLength ?? traits.originalContextLength.map { Double($0) }
        try refuseUnstated()
    }

    /// Refuses what llama.cpp takes for granted and a file cannot state otherwise.
    ///
    /// - Throws: `FuseError.noConversion`.
    private func refuseUnstated() throws(FuseError) {
        func refused(_ what: String, _ found: String) -> FuseError {
            .noConversion(what: what, found: found, format: "GGUF")
        }
        let unrotated = design.blocks.indices.filter { design.blocks[$0].rotaryTable == nil }
        let period = traits.unrotatedPeriod ?? .max
        let usual = design.blocks.indices.filter { ($0 + 1) % period == 0 }
        guard unrotated == usual else {
            throw refused("layers that are not rotated, counted from 0:", "\(unrotated)")
        }
        guard scaling.type != "llama3" || ["llama", "smollm3"].contains(architecture) else {
            throw refused("rope_parameters of the type llama3 in", model.architecture)
        }
        let windows = model.stated.windows
        if case .alternating(let period) = traits.windows, !(input.family is Olmo3),
            !windows.isEmpty,
            windows.indices.contains(where: {
                (windows[$0] != nil) != (($0 + 1) % period != 0)
            })
        {
            throw refused("layer_types other than each of period \(period) in", model.architecture)
        }
        guard let scale = model.stated.attentionScale, !traits.hasMultipliers else { return }
        guard scale == usualAttentionScale else {
            throw refused("query_pre_attn_scalar", "\(1 / (scale * scale))")
        }
    }

    /// What Gemma's scores are multiplied by, which its files do not state.
    private var usualAttentionScale: Float {
        let divisor =
            model.layerCount == traits.layersScaledByWidth
            ? model.width / model.headCount : model.headDimension
        return Float(1 / Double(divisor).squareRoot())
    }

    /// Families without a name in GGUF files have that of another one.
    private static func layout(of input: FuseInput) -> GGUFLayout? {
        if let layout = input.family.gguf { return layout }
        switch input.family {
        case is Mistral: return Llama().gguf
        case is Granite4: return Granite().gguf
        case is Olmo2: return Olmo3().gguf
        default: return nil
        }
    }

    private var model: ModelConfiguration { input.configuration }
    private var design: DecoderDesign { input.design }
    private var architecture: String { layout.architectures[0] }

    // MARK: Metadata

    func metadata(_ type: ElementType) throws -> [Entry] {
        var entries: [Entry] = []
        func add(_ name: String, _ value: GGUFWriter.Value) {
            entries.append(("\(architecture).\(name)", value))
        }
        func number(_ name: String, _ value: Int) { add(name, .uint32(UInt32(value))) }
        func float(_ name: String, _ value: Float) { add(name, .float32(value)) }
        number("vocab_size", model.vocabularySize)
        number("context_length", model.contextLength)
        number("embedding_length", model.width)
        number("block_count", model.layerCount)
        number("feed_forward_length", model.feedForwardWidth)
        number("attention.head_count", model.headCount)
        number("attention.head_count_kv", model.keyValueHeadCount)
        number("attention.key_length", model.headDimension)
        number("attention.value_length", model.headDimension)
        float("attention.layer_norm_rms_epsilon", model.normEpsilon)
        number("rope.dimension_count", design.rotaryTables[0].dimension)
        float("rope.freq_base", Float(design.rotaryTables[0].theta))
        try addScaling(add)
        addWindow(add)
        addScales(add)
        let name = FilePath.name(of: input.model.path)
        return [
            ("general.architecture", .string(architecture)), ("general.type", .string("model")),
            ("general.name", .string(name)),
        ] + entries + FusedGGUF.fileType(type)
    }

    private func addScaling(_ add: (String, GGUFWriter.Value) -> Void) throws {
        let table = design.rotaryTables[0]
        func original(_ length: Double?) {
            // A stray field of a model that does not use it is not checked when it is read.
            guard let length, let whole = UInt32(exactly: length), whole > 0 else { return }
            add("rope.scaling.original_context_length", .uint32(whole))
        }
        if design.rotaryTables.count > 1, let theta = traits.localTheta,
            design.rotaryTables[1].theta != theta
        {
            add("rope.freq_base_swa", .float32(Float(design.rotaryTables[1].theta)))
        }
        switch scaling.type {
        case "linear":
            add("rope.scaling.type", .string("linear"))
            add("rope.scaling.factor", .float32(Float(scaling.factor ?? 1)))
        case "yarn" where traits.longRopeName != "yarn":
            add("rope.scaling.type", .string("yarn"))
            add("rope.scaling.factor", .float32(Float(scaling.factor ?? 1)))
            original(scaling.originalContextLength ?? Double(model.contextLength))
            for (name, value) in [
                ("yarn_attn_factor", scaling.attentionFactor), ("yarn_beta_fast", scaling.betaFast),
                ("yarn_beta_slow", scaling.betaSlow),
            ] {
                if let value { add("rope.scaling.\(name)", .float32(Float(value))) }
            }
            if let all = scaling.scaleOfAll, all != 0 {
                add("rope.scaling.yarn_log_multiplier", .float32(Float(all)))
            }
            if scaling.truncates == false {
                throw FuseError.noConversion(
                    what: "rope_parameters with truncate", found: "false", format: "GGUF")
            }
        default:
            guard table.longDivisors != nil else {
                original(originalContext)
                break
            }
            original(Double(table.longFrom))
            add("rope.scaling.attn_factor", .float32(table.attentionFactor))
        }
        guard let growth = model.stated.queryGrowth else { return }
        add("attention.temperature_scale", .float32(growth.beta))
    }

    private func addWindow(_ add: (String, GGUFWriter.Value) -> Void) {
        let windows = model.stated.windows
        let window = windows.compactMap { $0 }.first
        guard let window else {
            // Files of these families without the key have a window.
            if layout.window != nil || input.family is Phi3 {
                add("attention.sliding_window", .uint32(0))
            }
            return
        }
        add("attention.sliding_window", .uint32(UInt32(window)))
        switch layout.windows ?? traits.windows {
        case .everywhere where !windows.contains(nil): break
        // Gemma's, which llama.cpp takes for granted.
        case .alternating where !(input.family is Olmo3): break
        default:
            add("attention.sliding_window_pattern", .bools(windows.map { $0 != nil }))
        }
    }

    private func addScales(_ add: (String, GGUFWriter.Value) -> Void) {
        let stated = model.stated
        if let cap = stated.attentionSoftCap { add("attn_logit_softcapping", .float32(cap)) }
        if let cap = stated.logitsSoftCap { add("final_logit_softcapping", .float32(cap)) }
        guard traits.hasMultipliers else { return }
        if let scale = stated.attentionScale { add("attention.scale", .float32(scale)) }
        add("embedding_scale", .float32(stated.embeddingMultiplier))
        add("residual_scale", .float32(stated.residualMultiplier))
        add("logit_scale", .float32(1 / stated.logitsMultiplier))
    }

    // MARK: Tensors

    /// - Parameter type: of a tensor's shape and columns, and whether it is the head.
    /// - Returns: the tensors in the file's order.
    /// - Throws: `FormatError`; `FuseError.noConversion` for a tensor without a name.
    func tensors(
        _ type: (_ shape: [Int], _ columns: Int, _ isHead: Bool) -> ElementType
    ) throws -> [FusedTensor] {
        var tensors: [FusedTensor] = []
        func add(_ name: String, _ tensor: MergedTensor, isHead: Bool = false) {
            var tensor = tensor
            let part = name.split(separator: ".", maxSplits: 2).last ?? ""
            if name.hasPrefix("blk."), layout.interleaved.contains(part) {
                tensor.interleavedHeadRows = model.headDimension
            }
            if name.contains("norm") { tensor.shift = design.normOffset - layout.normOffset }
            tensors.append(
                FusedTensor(name, tensor, as: type(tensor.shape, tensor.columns, isHead)))
        }
        add(
            "token_embd.weight", try input.tensor(design.names.embedding),
            isHead: model.tiedEmbeddings)
        add("output_norm.weight", try input.tensor(design.names.finalNorm))
        if !model.tiedEmbeddings {
            add("output.weight", try input.tensor(design.names.head), isHead: true)
        }
        for rotation in rotaryTensors() { tensors.append(rotation) }
        for (layer, block) in design.blocks.enumerated() {
            for (name, tensor) in try blockTensors(block, layer) {
                add("blk.\(layer).\(name)", tensor)
            }
        }
        return tensors
    }

    /// Divisors of the rotation that are not told by metadata.
    private func rotaryTensors() -> [FusedTensor] {
        let table = design.rotaryTables[0]
        guard let divisors = table.divisors else { return [] }
        if let long = table.longDivisors {
            return [
                FusedTensor("rope_factors_long.weight", floats: long),
                FusedTensor("rope_factors_short.weight", floats: divisors),
            ]
        }
        return scaling.type == "llama3"
            ? [FusedTensor("rope_freqs.weight", floats: divisors)] : []
    }

    private func blockTensors(
        _ block: BlockDesign, _ layer: Int
    ) throws -> [(String, MergedTensor)] {
        var found: [(String, MergedTensor)] = []
        func fileName(_ name: String) -> String? {
            layout.namesInBlock.first { $0.value == name }.map { String($0.key) }
        }
        let headNorms = block.headNorms.map { [$0.query, $0.key] } ?? []
        for norm in block.norms.names + headNorms {
            let name = norm + ".weight"
            guard let fileName = fileName(name) else { throw unnamed(name) }
            found.append((fileName, try input.tensor(design.tensor(name, in: layer))))
        }
        var done: Set<String> = []
        for projection in block.projections {
            for ending in [".weight"] + (projection.hasBias ? [".bias"] : []) {
                let name = projection.tensor + ending
                guard let file = fileName(name) else {
                    // A tensor that the file has in parts, or under the usual name.
                    guard let usual = layout.fileName(of: projection.module, layer) else {
                        throw unnamed(name)
                    }
                    let bare = String(usual.split(separator: ".", maxSplits: 2).last ?? "")
                    found.append((bare + ending, try input.part(projection, ending, in: layer)))
                    continue
                }
                guard done.insert(name).inserted else { continue }
                found.append((file, try input.tensor(design.tensor(name, in: layer))))
            }
        }
        return found
    }

    private func unnamed(_ name: String) -> FuseError {
        .noConversion(what: "the tensor", found: name, format: "GGUF")
    }
}
