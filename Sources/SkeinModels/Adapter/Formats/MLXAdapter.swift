import SkeinBasics
import SkeinFormats
import SkeinJSON

/// mlx-lm's format, as its `load_adapters` reads it: a folder with adapters.safetensors, whose
/// matrices are the transposes of PEFT's.
package struct MLXAdapter: AdapterFormat {
    package let id = "mlx"
    package let name = "MLX"
    package let form = AdapterForm.folder(weights: Self.weightsName)
    package let cannotHold: Set<AdapterPart> = [.tiedEdge]
    package let mayStoreSlices = true

    private static let weightsName = AdapterFiles.mlxWeightsName

    package init() {}

    /// The fields of adapter_config.json that matter here; mlx-lm keeps all of a run's options there.
    private struct Configuration: Decodable {
        struct Parameters: Decodable {
            let rank: Int
            let scale: Double
            let dropout: Double?
        }

        let kind: String?
        let model: String?
        let parameters: Parameters
        let origin: AdapterOrigin?

        enum CodingKeys: String, CodingKey {
            case kind = "fine_tune_type"
            case model
            case parameters = "lora_parameters"
            case origin = "skein"
        }
    }

    package func read(
        _ path: String, for model: ModelDirectory, in store: any Store,
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        try Self.read(path, in: store, admitting: check)
    }

    package func map(_ path: String) throws -> AdapterFiles {
        try Self.read(path, in: DiskStore()) { _ in }
    }

    /// Reads the two files into memory and checks them, as `AdapterFiles.read` does.
    private static func read(
        _ directory: String, in store: any Store, admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        let file = try AdapterFiles.decodeConfiguration(
            Configuration.self, of: directory, beside: weightsName, in: store)
        let configurationPath = "\(directory)/\(AdapterFiles.configurationName)"
        try Self.check(file, path: configurationPath)
        let path = "\(directory)/\(weightsName)"
        func outline(
            _ shapes: [String: [Int]], _ others: [String: String]
        ) throws -> AdapterOutline {
            try AdapterOutline.refuse(others, path: path)
            return try self.outline(file, shapes, path: path, configurationPath: configurationPath)
        }
        let weights = try SafetensorsFile(copying: path, in: store) { header in
            try check(outline(header.tensors.mapValues(\.shape), header.otherTensors))
        }
        var tensors: [String: TensorView] = [:]
        for (text, view) in weights.tensors {
            guard let name = peftName(text) else { continue }
            tensors[name] =
                view.shape.count == 1 ? view.renamed(name) : view.transposed(named: name)
        }
        return AdapterFiles(
            outline: try outline(weights.tensors.mapValues(\.shape), weights.otherTensors),
            tensors: tensors)
    }

    private static func check(_ file: Configuration, path: String) throws {
        let check = ConfigurationCheck(path: path)
        if let kind = file.kind, kind != "lora", kind != doraKind {
            throw check.unsupported("fine_tune_type", kind, "lora or dora")
        }
        _ = try check.adapterRank("lora_parameters.rank", file.parameters.rank)
        guard file.parameters.scale.isFinite else {
            throw check.bad("lora_parameters.scale", "finite", String(file.parameters.scale))
        }
        let dropout = file.parameters.dropout ?? 0
        guard dropout >= 0, dropout < 1 else {
            throw check.bad(
                "lora_parameters.dropout", "0 or above and below 1", String(dropout))
        }
    }

    private static func outline(
        _ file: Configuration, _ stored: [String: [Int]], path: String, configurationPath: String
    ) throws -> AdapterOutline {
        var shapes: [String: [Int]] = [:]
        for (text, shape) in stored {
            guard let name = peftName(text) else {
                throw FormatError.unexpectedTensor(path: path, tensor: text)
            }
            guard shapes.updateValue(shape.reversed(), forKey: name) == nil else {
                throw FormatError.duplicate(path: path, name: text)
            }
        }
        let parts = try AdapterOutline.parts(
            of: shapes, rank: file.parameters.rank, magnitudes: file.kind == doraKind, path: path)
        let configuration = AdapterConfiguration(
            rank: file.parameters.rank,
            alpha: file.parameters.scale * Double(file.parameters.rank),
            dropout: file.parameters.dropout ?? 0, targetModules: parts.names,
            layersToTransform: parts.layersUnlessFromFirst,
            baseModelName: file.model ?? "", usesMagnitudes: file.kind == doraKind,
            origin: file.origin)
        return AdapterOutline(
            configuration: configuration, parts,
            rules: AdapterRules(targets: nil, excluded: nil, layers: nil, path: configurationPath),
            scale: .same(file.parameters.scale), path: path)
    }

    /// "model.layers.0.self_attn.q_proj.lora_a" as PEFT calls it; nil for another tensor.
    private static func peftName(_ text: String) -> String? {
        for (matrix, suffix) in suffixes where text.hasSuffix(suffix) {
            let module = String(text.dropLast(suffix.count))
            if matrix != .magnitude,
                let edge = EdgeTensorName(moduleName: module, matrix: matrix)
            {
                return edge.text
            }
            let a = AdapterTensorName(
                "base_model.model.\(text.dropLast(suffix.count)).lora_A.weight")
            return a?.with(matrix).text
        }
        return nil
    }

    private static let suffixes: KeyValuePairs<AdapterTensorName.Matrix, String> = [
        .a: ".lora_a", .b: ".lora_b", .magnitude: ".m",
    ]

    /// mlx-lm's name for adapters with magnitudes.
    private static let doraKind = "dora"

    /// All modules get the largest rank and one scale: smaller ranks are filled up with zeros, another
    /// scale goes into B. The configuration is written last.
    package func write(
        _ export: AdapterExport, to path: String, blocks: AdapterTensorName.Blocks,
        in store: any Store
    ) throws {
        let rank = (export.matrices.map(\.rank) + export.edges.map(\.rank)).max() ?? 0
        let scale = export.alpha / Double(export.lora.rank)
        /// The same product at the adapter's own scale with matrices of a larger rank.
        func widened(
            _ a: SafetensorsWriter.Tensor, _ b: SafetensorsWriter.Tensor, scale own: Float
        ) -> (a: SafetensorsWriter.Tensor, b: SafetensorsWriter.Tensor) {
            let (a, b) = a.widened(with: b, to: rank)
            return (a, b.multiplied(by: own == export.lora.scale ? 1 : Double(own) / scale))
        }
        var tensors: [SafetensorsWriter.Tensor] = []
        func add(_ tensor: SafetensorsWriter.Tensor, _ name: String) {
            tensors.append(tensor.shape.count == 2 ? tensor.transposed() : tensor)
            tensors[tensors.count - 1].name = name
        }
        // MLX keeps the text model of a multimodal one as older files call it.
        let blocks: AdapterTensorName.Blocks = blocks == .text ? .text : .outer
        let layerCount = export.model.configuration.layerCount
        var keys: Set<String> = []
        var lowest = layerCount
        for pair in export.matrices {
            let (a, b) = widened(pair.a, pair.b, scale: pair.scale)
            lowest = min(lowest, pair.layer)
            for (module, rows) in modules(of: pair, export.model) {
                let name = AdapterTensorName(
                    layer: pair.layer, module: module, matrix: .a, blocks: blocks)
                keys.insert(name.nameInBlock)
                let place = name.weightName.dropLast(".weight".count)
                add(a, place + ".lora_a")
                add(b.rows(rows), place + ".lora_b")
                if let magnitude = pair.magnitude { add(magnitude.rows(rows), place + ".m") }
            }
        }
        for edge in export.edges {
            let (a, b) = widened(edge.a, edge.b, scale: edge.scale)
            let place = edge.name.with(blocks).moduleName
            // mlx-lm adapts what has a key as its whole name, too.
            keys.insert(place)
            add(a, place + ".lora_a")
            add(b, place + ".lora_b")
        }
        let configuration = export.configuration
        var fields: [(String, JSONValue)] = [
            ("fine_tune_type", .text(configuration.usesMagnitudes ? Self.doraKind : "lora")),
            (
                "lora_parameters",
                .fields([
                    ("dropout", .decimal(configuration.dropout)),
                    ("keys", .list(keys.sorted().map { .text($0) })),
                    ("rank", .integer(rank)), ("scale", .decimal(scale)),
                ])
            ),
            (
                "model",
                configuration.baseModelName.isEmpty ? .null : .text(configuration.baseModelName)
            ),
            ("num_layers", .integer(layerCount - lowest)),
        ]
        if let origin = configuration.origin { fields.append(("skein", .fields(origin.fields))) }
        try store.makeDirectory(path)
        try SafetensorsWriter.write(
            tensors, metadata: ["format": "mlx"], to: weights(of: path), in: store)
        try store.write(
            JSONValue.fields(fields).lines() + "\n",
            to: "\(path)/\(AdapterFiles.configurationName)")
    }

    /// The modules of mlx-lm's model that hold a module, and the rows that each holds; nil: all. Only
    /// Granite 4 is built otherwise there: as a Granite 3.
    private func modules(
        of pair: AdapterExport.Pair, _ model: ModelDirectory
    ) -> [(module: String, rows: Range<Int>?)] {
        let module = pair.module
        let own = module.split(separator: ".").last.map(String.init) ?? module
        guard module.hasPrefix("shared_mlp.") else { return [(own, nil)] }
        return model.configuration.design.blocks[pair.layer].projections.filter {
            $0.name == module || $0.fused == module
        }.map { ($0.module.name, $0.fused == module ? $0.rows : nil) }
    }
}
