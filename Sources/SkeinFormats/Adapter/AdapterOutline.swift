/// What an adapter's configuration and the header of its weights say: all but the numbers.
package struct AdapterOutline: Sendable {
    /// Target modules and layers are those of the tensors, whatever list or regular expression the
    /// file gives.
    package let configuration: AdapterConfiguration
    /// The tensors' shapes by PEFT name.
    package let shapes: [String: [Int]]
    /// Adapted layers, ascending.
    package let layers: [Int]
    /// The path of the weights.
    package let path: String

    init(
        _ file: AdapterConfigurationFile, weights header: SafetensorsHeader, path: String
    ) throws {
        try self.init(
            file, shapes: header.tensors.mapValues(\.shape), others: header.otherTensors,
            path: path)
    }

    /// - Throws: `FormatError` for matrices that are not floats, are unknown, unpaired, of another
    ///   rank or missing in some layers.
    init(
        _ file: AdapterConfigurationFile, shapes: [String: [Int]], others: [String: String],
        path: String
    ) throws {
        if let (name, type) = others.min(by: { $0.key < $1.key }) {
            throw FormatError.unsupportedElementType(path: path, tensor: name, found: type)
        }
        let found = try AdapterContents(shapes, rank: file.rank, path: path)
        let isFromFirst = found.layers == Array(0..<found.layers.count)
        configuration = AdapterConfiguration(
            rank: file.rank, alpha: file.alpha ?? 8, dropout: file.dropout ?? 0,
            targetModules: found.modules,
            layersToTransform: file.layers == nil && isFromFirst ? nil : found.layers,
            baseModelName: file.baseModelName ?? "",
            usesRankStabilizedScale: file.usesRankStabilizedScale ?? false)
        self.shapes = shapes
        layers = found.layers
        self.path = path
    }
}

/// Which modules and layers a set of LoRA matrices covers.
struct AdapterContents {
    let modules: [String]
    let layers: [Int]

    /// Checks names, ranks, pairs, and that each module is adapted in each layer.
    init(_ shapes: [String: [Int]], rank: Int, path: String) throws {
        var names: Set<AdapterTensorName> = []
        for (text, shape) in shapes.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text) else {
                throw FormatError.unexpectedTensor(path: path, tensor: text)
            }
            let rankDimension = name.matrix == .a ? shape.first : shape.last
            guard shape.count == 2, rankDimension == rank else {
                let expected =
                    name.matrix == .a ? [rank, shape.last ?? 0] : [shape.first ?? 0, rank]
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: shape)
            }
            // No weight that an adapter is added to has more rows or columns.
            guard shape.allSatisfy({ $0 <= Limits.adapterDimension }) else {
                throw FormatError.badTensor(
                    path: path, tensor: text, field: "dimension",
                    expected: "at most \(Limits.adapterDimension)", found: "\(shape)")
            }
            names.insert(name)
        }
        let targets = Set(names.map(\.module))
        modules = AdapterTensorName.modules.filter(targets.contains)
        layers = Set(names.map(\.layer)).sorted()
        guard !names.isEmpty else {
            throw FormatError.missingTensor(path: path, tensor: "base_model.model.*.lora_A.weight")
        }
        // A module and a part of it would both be added to the part.
        for (fused, parts) in AdapterTensorName.partsOfModules where targets.contains(fused) {
            if let part = parts.first(where: targets.contains),
                let name = names.filter({ $0.module == part }).map(\.text).min()
            {
                throw FormatError.unexpectedTensor(path: path, tensor: name)
            }
        }
        let blocks =
            names.contains { $0.blocks == .text }
            ? AdapterTensorName.Blocks.text
            : .multimodal
        if let name = names.filter({ $0.blocks != blocks }).map(\.text).min() {
            throw FormatError.unexpectedTensor(path: path, tensor: name)
        }
        for layer in layers {
            for module in modules {
                for matrix in AdapterTensorName.Matrix.allCases {
                    let name = AdapterTensorName(
                        layer: layer, module: module, matrix: matrix, blocks: blocks)
                    guard names.contains(name) else {
                        throw FormatError.missingTensor(path: path, tensor: name.text)
                    }
                }
            }
        }
    }
}
