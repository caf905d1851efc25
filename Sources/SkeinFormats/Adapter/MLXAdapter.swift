import SkeinBasics
import SkeinJSON

/// A LoRA adapter as mlx-lm's `load_adapters` reads it: adapters.safetensors, whose matrices are the
/// transposes of PEFT's, and adapter_config.json.
package enum MLXAdapter {
    package static let weightsName = "adapters.safetensors"

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

    /// Reads the two files into memory and checks them, as `AdapterFiles.read` does.
    ///
    /// - Parameters:
    ///   - directory: the adapter's.
    ///   - store: where the files are.
    ///   - check: sees what the files promise before memory is taken for it.
    /// - Returns: the adapter under PEFT's names.
    /// - Throws: `FileError`; `FormatError` when a file is missing, invalid or asks for more than
    ///   plain LoRA; what `check` throws.
    package static func read(
        _ directory: String, in store: any Store = DiskStore(),
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        let configurationPath = "\(directory)/\(AdapterFiles.configurationName)"
        for name in [AdapterFiles.configurationName, weightsName]
        where !store.exists("\(directory)/\(name)") {
            throw FormatError.missingFile(path: directory, expected: name)
        }
        let file = try JSONFile.decode(
            Configuration.self, path: configurationPath, limit: Limits.configurationBytes,
            in: store)
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
                view.shape.count == 1
                ? view.renamed(name) : TensorView(name: name, TransposedMatrix(source: view))
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
        _ = try check.size("lora_parameters.rank", file.parameters.rank, limit: Limits.adapterRank)
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

    /// Writes both files into `directory`, which is made if needed. The configuration is written last.
    ///
    /// - Parameters:
    ///   - configuration: the adapter's; all modules have its rank.
    ///   - scale: the factor of B A x.
    ///   - layerCount: the model's: MLX counts adapted layers from the last.
    ///   - tensors: by PEFT name.
    ///   - directory: of both files.
    ///   - store: where they are written.
    /// - Throws: `FileError`; `FormatError` when a tensor has no name in MLX.
    package static func write(
        configuration: AdapterConfiguration, scale: Double, layerCount: Int,
        tensors: [SafetensorsWriter.Tensor], to directory: String, in store: any Store = DiskStore()
    ) throws {
        let path = "\(directory)/\(weightsName)"
        var keys: Set<String> = []
        var lowest = layerCount
        let transposed = try tensors.map { tensor in
            let (place, matrix): (String, AdapterTensorName.Matrix)
            if let edge = EdgeTensorName(tensor.name) {
                // mlx-lm adapts what has a key as its whole name, too.
                (place, matrix) = (edge.moduleName, edge.matrix)
                keys.insert(place)
            } else if let name = AdapterTensorName(tensor.name) {
                keys.insert(name.nameInBlock)
                lowest = min(lowest, name.layer)
                // MLX keeps the text model of a multimodal one as older files call it.
                place = String(
                    name.with(name.blocks == .text ? .text : .outer).weightName.dropLast(7))
                matrix = name.matrix
            } else {
                throw FormatError.unexpectedTensor(path: path, tensor: tensor.name)
            }
            let suffix = suffixes.first { $0.key == matrix }?.value ?? ""
            guard tensor.shape.count == 2 else {
                return SafetensorsWriter.Tensor(
                    name: place + suffix, shape: tensor.shape, floats: tensor.floats)
            }
            let (rows, columns) = (tensor.shape[0], tensor.shape[1])
            var floats = [Float](repeating: 0, count: tensor.floats.count)
            for row in 0..<rows {
                for column in 0..<columns {
                    floats[column * rows + row] = tensor.floats[row * columns + column]
                }
            }
            return SafetensorsWriter.Tensor(
                name: place + suffix, shape: [columns, rows], floats: floats)
        }
        var fields: [(String, JSONValue)] = [
            ("fine_tune_type", .text(configuration.usesMagnitudes ? doraKind : "lora")),
            (
                "lora_parameters",
                .fields([
                    ("dropout", .decimal(configuration.dropout)),
                    ("keys", .list(keys.sorted().map { .text($0) })),
                    ("rank", .integer(configuration.rank)), ("scale", .decimal(scale)),
                ])
            ),
            (
                "model",
                configuration.baseModelName.isEmpty ? .null : .text(configuration.baseModelName)
            ),
            ("num_layers", .integer(layerCount - lowest)),
        ]
        if let origin = configuration.origin { fields.append(("skein", .fields(origin.fields))) }
        try store.makeDirectory(directory)
        try SafetensorsWriter.write(transposed, metadata: ["format": "mlx"], to: path, in: store)
        try store.write(
            JSONValue.fields(fields).lines() + "\n",
            to: "\(directory)/\(AdapterFiles.configurationName)")
    }
}
