import SkeinBasics
import SkeinFormats
import SkeinJSON

/// llama.cpp's format, as its converter of PEFT's adapters writes it: one file, in which A and B of
/// "blk.0.attn_q.weight" are "blk.0.attn_q.weight.lora_a" and ".lora_b".
package struct GGUFAdapter: AdapterFormat {
    package let id = "gguf"
    package let name = "GGUF"
    package let form = AdapterForm.file(beginning: "GGUF")
    package let cannotHold: Set<AdapterPart> = [.magnitudes, .tiedEdge]
    package let mayStoreSlices = true

    package init() {}

    package func read(
        _ path: String, for model: ModelDirectory, in store: any Store,
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        let file = try GGUFAdapterFile(path: path)
        let architecture = try model.adapterArchitecture()
        guard file.architecture == architecture else {
            throw AdapterError.otherModel(
                adapter: path,
                base: LoadedAdapter.otherName(file.origin, file.baseModelName, than: model),
                detail: "its architecture is \(ForeignText.shown(file.architecture)), and this "
                    + "model's is \(architecture)")
        }
        let files = try file.files(naming: model.adaptedModule)
        try check(files.outline)
        return files
    }

    /// Without a model, tensors keep the names of GGUF, put as PEFT would.
    package func map(_ path: String) throws -> AdapterFiles {
        try GGUFAdapterFile(path: path).files { tensor in
            if let edge = Self.edges[tensor] {
                return GGUFModuleName(module: edge)
            }
            let parts = tensor.split(separator: ".")
            guard parts.count == 4, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
                let module = Self.modules[String(parts[2])]
            else { return nil }
            return GGUFModuleName(module: "model.layers.\(layer).\(module)")
        }
    }

    private static let edges = [
        "token_embd.weight": "model.embed_tokens", "output.weight": "lm_head",
    ]
    /// Modules by their names in GGUF files; some families store several as one.
    private static let modules = [
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "attn_qkv": "self_attn.qkv_proj",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    ]

    /// A module's scale is alpha by its own rank; what is missing of its scale goes into B.
    package func write(
        _ export: AdapterExport, to path: String, blocks: AdapterTensorName.Blocks,
        in store: any Store
    ) throws {
        let model = export.model
        let architecture = try model.adapterArchitecture()
        var tensors: [GGUFWriter.Tensor] = []
        func add(_ weight: String, _ a: SafetensorsWriter.Tensor, _ b: SafetensorsWriter.Tensor) {
            for (suffix, tensor) in zip(suffixes.map(\.value), [a, b]) {
                tensors.append(
                    .init(name: weight + suffix, shape: tensor.shape, floats: tensor.floats))
            }
        }
        for pair in export.matrices {
            let held = model.adaptedTensors(of: pair.module, in: pair.layer)
            guard !held.isEmpty else {
                throw AdapterError.noGGUFNames(architecture: model.configuration.architecture)
            }
            let b = pair.b.multiplied(by: factor(export, rank: pair.rank, scale: pair.scale))
            for (tensor, rows, headRows) in held {
                add(tensor, pair.a, b.rows(rows).interleaved(headRows))
            }
        }
        for edge in export.edges {
            guard let weight = model.adaptedTensor(of: edge.name.module) else {
                throw AdapterError.noGGUFNames(architecture: model.configuration.architecture)
            }
            // llama.cpp looks the rows of tokens up in A.
            let a = edge.name.module == .embedding ? edge.a.transposed() : edge.a
            add(
                weight, a,
                edge.b.multiplied(by: factor(export, rank: edge.rank, scale: edge.scale)))
        }
        let configuration = export.configuration
        var metadata: [(key: String, value: GGUFWriter.Value)] = [
            ("general.architecture", .string(architecture)), ("general.type", .string("adapter")),
            // LLAMA_FTYPE_ALL_F32.
            ("general.file_type", .uint32(0)), ("adapter.type", .string("lora")),
            ("adapter.lora.alpha", .float32(Float(export.alpha))),
        ]
        if !configuration.baseModelName.isEmpty {
            metadata.append(("general.base_model.count", .uint32(1)))
            metadata.append(("general.base_model.0.name", .string(configuration.baseModelName)))
        }
        if let origin = configuration.origin {
            metadata.append((originField, .string(JSONValue.fields(origin.fields).written)))
        }
        try GGUFWriter.write(metadata: metadata, tensors: tensors, to: path, in: store)
    }

    /// What B is multiplied by in a file, whose scale is alpha by each module's own rank.
    private func factor(_ export: AdapterExport, rank: Int, scale: Float) -> Double {
        let (lora, alpha) = (export.lora, export.alpha)
        // llama.cpp takes an alpha of 0 for a scale of 1.
        if scale == lora.scale, rank == lora.rank, alpha != 0 { return 1 }
        return Double(scale) / (alpha == 0 ? 1 : alpha / Double(rank))
    }
}

private let originField = "skein.origin"
private let suffixes: KeyValuePairs<AdapterTensorName.Matrix, String> = [
    .a: ".lora_a", .b: ".lora_b",
]

/// What a tensor of the base model is called by PEFT.
private struct GGUFModuleName {
    /// The module's name, such as "model.layers.0.self_attn.q_proj".
    var module: String
    /// Rows of one head, if its halves are interleaved in the file.
    var interleavedHeadRows: Int?
}

/// What a file says of itself.
private struct GGUFAdapterFile {
    let path: String
    /// general.architecture: that of the base model.
    let architecture: String
    /// 0: the scale is 1.
    let alpha: Double
    let baseModelName: String
    let origin: AdapterOrigin?
    private let tensors: [String: TensorView]

    /// Maps the file and checks what it says of itself.
    ///
    /// - Throws: `FileError`, `FormatError`.
    init(path: String) throws {
        let file = try GGUFFile(path: path)
        let fields = GGUFFields(file)
        func require(_ field: String, _ expected: String) throws {
            guard let found = try fields.string(field) else { throw fields.check.missing(field) }
            guard found == expected else {
                throw fields.check.unsupported(field, found, expected)
            }
        }
        if !file.isAdapter, file.metadata["adapter.type"] == nil {
            throw FormatError.modelAsAdapter(path: path)
        }
        try require("general.type", "adapter")
        try require("adapter.type", "lora")
        let alpha = try fields.required("adapter.lora.alpha")
        guard alpha.isFinite else {
            throw fields.check.bad("adapter.lora.alpha", "finite", String(alpha))
        }
        guard !fields.architecture.isEmpty else {
            throw fields.check.missing("general.architecture")
        }
        self.path = path
        self.alpha = alpha
        architecture = fields.architecture
        baseModelName = try fields.string("general.base_model.0.name") ?? ""
        origin = try fields.string(originField).map { text in
            try Array(text.utf8).withUnsafeBytes {
                try JSONFile.decode(AdapterOrigin.self, bytes: $0, path: path)
            }
        }
        tensors = file.tensors
    }

    /// The adapter under PEFT's names.
    ///
    /// - Parameter name: what PEFT calls the module of a tensor such as "blk.0.attn_q.weight"; nil:
    ///   the base model has no such module.
    /// - Returns: all matrices; the numbers are read from the file when they are asked for.
    /// - Throws: `FormatError` for tensors that are unknown, unpaired or misshapen.
    func files(naming name: (String) -> GGUFModuleName?) throws -> AdapterFiles {
        var views: [String: TensorView] = [:]
        for (text, view) in tensors.sorted(by: { $0.key < $1.key }) {
            guard let (matrix, suffix) = suffixes.first(where: { text.hasSuffix($0.value) }),
                let found = name(String(text.dropLast(suffix.count)))
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            if let edge = EdgeTensorName(moduleName: found.module, matrix: matrix) {
                // llama.cpp looks tokens' rows up in A.
                let isTurned = edge.module == .embedding && matrix == .a && view.shape.count == 2
                views[edge.text] =
                    isTurned ? view.transposed(named: edge.text) : view.renamed(edge.text)
                continue
            }
            guard
                let peft = AdapterTensorName(
                    "base_model.model.\(found.module).\(matrix.rawValue).weight")
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            let headRows = matrix == .b ? found.interleavedHeadRows : nil
            if let headRows, view.shape.first.map({ $0 % headRows != 0 }) ?? true {
                throw FormatError.badTensor(
                    path: path, tensor: text, field: "rows", expected: "a multiple of \(headRows)",
                    found: "\(view.shape)")
            }
            let renamed = view.renamed(peft.text, interleavedHeadRows: headRows)
            guard views.updateValue(renamed, forKey: peft.text) == nil else {
                throw FormatError.duplicate(path: path, name: text)
            }
        }
        return AdapterFiles(outline: try outline(views.mapValues(\.shape)), tensors: views)
    }

    private func outline(_ shapes: [String: [Int]]) throws -> AdapterOutline {
        let parts = try AdapterOutline.parts(of: shapes, rank: nil, path: path)
        let rank = parts.modules.first?.rank ?? parts.edges.first?.rank ?? 1
        let configuration = AdapterConfiguration(
            rank: rank, alpha: alpha == 0 ? Double(rank) : alpha, dropout: 0,
            targetModules: parts.names, layersToTransform: parts.layersUnlessFromFirst,
            baseModelName: baseModelName, origin: origin)
        return AdapterOutline(
            configuration: configuration, parts,
            rules: AdapterRules(targets: nil, excluded: nil, layers: nil, path: path),
            scale: alpha == 0 ? .same(1) : .byRank(alpha: alpha), path: path)
    }
}

/// How an adapter in a GGUF file names what it adapts of a model, and back.
extension ModelDirectory {
    /// general.architecture of an adapter for this model.
    ///
    /// - Throws: `AdapterError.noGGUFNames`.
    fileprivate func adapterArchitecture() throws(AdapterError) -> String {
        let own = configuration.architecture
        guard let names = adapterLayout?.architectures, let first = names.first else {
            throw .noGGUFNames(architecture: own)
        }
        return names.contains(own) ? own : first
    }

    /// The module that a tensor of a GGUF file belongs to; nil: it is none that can be adapted.
    ///
    /// `tensor`: of the base model's file, such as "blk.0.attn_q.weight".
    fileprivate func adaptedModule(ofTensor tensor: String) -> GGUFModuleName? {
        let suffix = ".weight"
        guard tensor.hasSuffix(suffix), let layout = adapterLayout else { return nil }
        let edges = EdgeTensorName.Module.allCases
        if let edge = edges.first(where: { adaptedTensor(of: $0) == tensor }) {
            let name = EdgeTensorName(
                module: edge, matrix: .a, blocks: configuration.adapterBlocks)
            return GGUFModuleName(module: name.moduleName)
        }
        guard let (name, isInterleaved) = layout.tensor(tensor, in: configuration.design),
            name.hasPrefix(configuration.design.names.blocks), name.hasSuffix(suffix)
        else { return nil }
        let parts = name.dropFirst(configuration.design.names.blocks.count)
            .dropLast(suffix.count).split(separator: ".")
        guard let layer = parts.first.flatMap({ Int($0) }), let last = parts.last,
            configuration.design.blocks.indices.contains(layer)
        else { return nil }
        let block = configuration.design.blocks[layer]
        // A family whose folders name modules otherwise than those of the layout's family.
        let known = TargetModule(name: String(last)).flatMap { module in
            block.projections.first { $0.module == module }?.name
        }
        let module = parts.dropFirst().joined(separator: ".")
        let own = block.target(module: String(last)) == nil ? known ?? module : module
        return GGUFModuleName(
            module: configuration.design.tensor(own, in: layer),
            interleavedHeadRows: isInterleaved ? configuration.headDimension : nil)
    }

    /// The tensor of a GGUF file that is the embedding or the head; nil: the family has no GGUF files.
    fileprivate func adaptedTensor(of edge: EdgeTensorName.Module) -> String? {
        let name = EdgeTensorName(module: edge, matrix: .a).weightName
        return adapterLayout?.names.first { $0.value == name }?.key
    }

    /// The tensors of a GGUF file that hold a module, and the rows of the module that each holds.
    ///
    /// - Parameters:
    ///   - module: its name after the block's prefix, such as "self_attn.q_proj".
    ///   - layer: its layer.
    /// - Returns: one, or several for a module that the family's GGUF files store as several.
    fileprivate func adaptedTensors(
        of module: String, in layer: Int
    ) -> [(tensor: String, rows: Range<Int>?, interleavedHeadRows: Int?)] {
        guard let layout = adapterLayout else { return [] }
        let block = configuration.design.blocks[layer]
        func tensor(named name: String) -> (String, Int?)? {
            for (key, value) in layout.namesInBlock where value == name + ".weight" {
                return (
                    "blk.\(layer).\(key)",
                    layout.interleaved.contains(key) ? configuration.headDimension : nil
                )
            }
            return nil
        }
        if let (name, headRows) = tensor(named: module) { return [(name, nil, headRows)] }
        let held = block.projections.filter { $0.name == module || $0.fused == module }
        return held.compactMap { projection in
            let usual = (projection.module < .gate ? "self_attn." : "mlp.") + projection.module.name
            guard let (name, headRows) = tensor(named: usual) else { return nil }
            return (name, projection.fused == module ? projection.rows : nil, headRows)
        }
    }
}

extension SafetensorsWriter.Tensor {
    /// The rows in the file's order; nil: they have it.
    fileprivate func interleaved(_ headRows: Int?) -> SafetensorsWriter.Tensor {
        guard let headRows else { return self }
        let columns = shape[1]
        var out = self
        for row in 0..<shape[0] {
            let place = TensorView.interleavedRow(row, headRows)
            for column in 0..<columns {
                out.floats[place * columns + column] = floats[row * columns + column]
            }
        }
        return out
    }
}
