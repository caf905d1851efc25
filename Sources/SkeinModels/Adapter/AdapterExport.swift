import SkeinBasics
import SkeinFormats

/// An adapter as another tool's files hold it: whole modules, with the names and the scale of the
/// format.
package struct AdapterExport {
    package let parameters: AdapterParameters
    package let model: ModelDirectory
    /// What the files say of base model, dropout and origin, and how they state the scale if it is
    /// that of the adapter.
    package let source: AdapterConfiguration
    /// Alpha as it was stated, if it belongs to rank and scale.
    private let alpha: Double
    /// Matrices by layer and module.
    private let matrices: [Pair]

    /// A and B of one module.
    fileprivate struct Pair {
        let layer: Int
        /// Its name after the block's prefix.
        let module: String
        let scale: Float
        let a: SafetensorsWriter.Tensor
        let b: SafetensorsWriter.Tensor
        /// [out]; nil: none.
        let magnitude: SafetensorsWriter.Tensor?

        var rank: Int { a.shape[0] }
    }

    /// - Parameters:
    ///   - parameters: the adapter's numbers.
    ///   - source: what its own files said, or its run.
    ///   - model: the base model.
    /// - Throws: `AdapterError.irregular`.
    package init(
        _ parameters: AdapterParameters, source: AdapterConfiguration, model: ModelDirectory
    ) throws(AdapterError) {
        var parameters = parameters
        if let fused = FusedExport(parameters.shape, model: model.configuration) {
            let lora = parameters.shape.configuration
            guard lora.exceptions.isEmpty, !lora.usesMagnitudes else { throw .irregular }
            parameters = AdapterParameters(
                shape: fused.shape, values: fused.exported(parameters.values))
        }
        self.parameters = parameters
        self.model = model
        self.source = source
        let lora = parameters.shape.configuration
        // The stated alpha, unless its quotient is another scale now.
        let isStated =
            source.rank == lora.rank && Float(source.scale) == lora.scale
            && !source.usesRankStabilizedScale
        alpha = isStated ? source.alpha : Double(lora.scale) * Double(lora.rank)
        matrices = Self.pairs(of: parameters, model.configuration)
    }

    private static func pairs(
        of parameters: AdapterParameters, _ model: ModelConfiguration
    ) -> [Pair] {
        let tensors = parameters.shape.layout.tensors(parameters.values)
        let lora = parameters.shape.configuration
        return stride(from: 0, to: tensors.count, by: parameters.shape.tensorsPerModule).map {
            index in
            let (a, b) = (tensors[index], tensors[index + 1])
            guard let name = AdapterTensorName(a.name),
                let target = model.design.blocks[name.layer].target(module: name.module),
                let strength = lora.strength(of: target, in: name.layer)
            else { preconditionFailure("\(a.name) is not of its own adapter") }
            return Pair(
                layer: name.layer, module: name.nameInBlock, scale: strength.scale, a: a, b: b,
                magnitude: lora.usesMagnitudes ? tensors[index + 2] : nil)
        }
    }

    /// Writes the adapter.
    ///
    /// - Parameters:
    ///   - format: of the files.
    ///   - path: a folder, or the file of GGUF.
    ///   - blocks: what names of weights begin with; nil: as in the base model.
    ///   - store: where it is written.
    /// - Throws: `AdapterError`, `FileError`.
    package func write(
        _ format: AdapterFormat, to path: String, blocks: AdapterTensorName.Blocks? = nil,
        in store: any Store = DiskStore()
    ) throws {
        let blocks = blocks ?? model.configuration.adapterBlocks
        switch format {
        case .peft: try writePEFT(to: path, blocks, store)
        case .mlx: try writeMLX(to: path, blocks, store)
        case .gguf: try writeGGUF(to: path, store)
        }
    }

    private var lora: LoRAConfiguration { parameters.shape.configuration }

    /// The adapted layers, if each has the same modules with the same rank and scale: then names of
    /// modules and layers say it all, which more tools understand.
    private var evenLayers: [Int]? {
        var modules: [Int: Set<String>] = [:]
        for pair in matrices {
            guard pair.rank == lora.rank, pair.scale == lora.scale else { return nil }
            modules[pair.layer, default: []].insert(pair.module)
        }
        return Set(modules.values).count == 1 ? modules.keys.sorted() : nil
    }

    private var configuration: AdapterConfiguration {
        let isWhole = lora.layers == 0..<model.configuration.layerCount
        return AdapterConfiguration(
            rank: lora.rank, alpha: alpha, dropout: Double(source.dropout),
            targetModules: Array(parameters.shape.modules),
            layersToTransform: isWhole ? nil : Array(lora.layers),
            baseModelName: source.baseModelName, revision: source.revision,
            usesMagnitudes: lora.usesMagnitudes, origin: source.origin)
    }

    private func writePEFT(
        to path: String, _ blocks: AdapterTensorName.Blocks, _ store: any Store
    ) throws {
        var configuration = configuration
        var targets: [String]?
        if lora.exceptions.isEmpty {
            // The stated form of the scale, too.
            if source.usesRankStabilizedScale, source.rank == lora.rank,
                Float(source.scale) == lora.scale
            {
                configuration.usesRankStabilizedScale = true
                configuration.alpha = source.alpha
            }
        } else if let layers = evenLayers {
            configuration.layersToTransform = layers
        } else {
            configuration.layersToTransform = nil
            let names = matrices.map { "layers.\($0.layer).\($0.module)" }
            targets = names
            for (name, pair) in zip(names, matrices) {
                if pair.rank != lora.rank { configuration.rankPattern[name] = pair.rank }
                let alpha = Double(pair.scale) * Double(pair.rank)
                if alpha != configuration.alpha { configuration.alphaPattern[name] = alpha }
            }
        }
        try AdapterFiles.write(
            configuration: configuration, targets: targets,
            tensors: matrices.flatMap { [$0.a, $0.b] + ($0.magnitude.map { [$0] } ?? []) }
                .map { $0.renamed(blocks) }, to: path,
            in: store)
    }

    /// All modules get the largest rank and one scale: smaller ranks are filled up with zeros, another
    /// scale goes into B.
    private func writeMLX(
        to path: String, _ blocks: AdapterTensorName.Blocks, _ store: any Store
    ) throws {
        let rank = matrices.reduce(0) { max($0, $1.rank) }
        let scale = alpha / Double(lora.rank)
        var configuration = configuration
        configuration.rank = rank
        let tensors = matrices.flatMap { pair -> [SafetensorsWriter.Tensor] in
            let widened = pair.widened(to: rank)
            let factor = pair.scale == lora.scale ? 1 : Double(pair.scale) / scale
            let (a, b) = (widened.a, widened.b.multiplied(by: factor))
            return model.modulesInMLX(of: pair.module, in: pair.layer).flatMap { module, rows in
                [a.renamed(blocks, module), b.renamed(blocks, module).rows(rows)]
                    + (pair.magnitude.map { [$0.renamed(blocks, module).rows(rows)] } ?? [])
            }
        }
        try MLXAdapter.write(
            configuration: configuration, scale: scale,
            layerCount: model.configuration.layerCount, tensors: tensors, to: path, in: store)
    }

    /// A module's scale is alpha by its own rank; what is missing of its scale goes into B.
    private func writeGGUF(to path: String, _ store: any Store) throws {
        guard !lora.usesMagnitudes else { throw AdapterError.magnitudesInGGUF }
        let architecture = try model.adapterArchitecture()
        var written: [GGUFAdapter.Matrix] = []
        for pair in matrices {
            let held = model.adaptedTensors(of: pair.module, in: pair.layer)
            guard !held.isEmpty else {
                throw AdapterError.noGGUFNames(architecture: model.configuration.architecture)
            }
            // llama.cpp takes an alpha of 0 for a scale of 1.
            let isUsual = pair.scale == lora.scale && pair.rank == lora.rank && alpha != 0
            let scale = alpha == 0 ? 1 : alpha / Double(pair.rank)
            let b = pair.b.multiplied(by: isUsual ? 1 : Double(pair.scale) / scale)
            for (tensor, rows, headRows) in held {
                written.append(
                    .init(
                        weight: tensor, matrix: .a, shape: pair.a.shape, floats: pair.a.floats,
                        interleavedHeadRows: nil))
                let part = b.rows(rows)
                written.append(
                    .init(
                        weight: tensor, matrix: .b, shape: part.shape, floats: part.floats,
                        interleavedHeadRows: headRows))
            }
        }
        try GGUFAdapter.write(
            written, architecture: architecture, alpha: alpha, configuration: configuration,
            to: path, in: store)
    }
}

extension AdapterExport.Pair {
    /// The same product with matrices of a larger rank.
    fileprivate func widened(
        to rank: Int
    ) -> (a: SafetensorsWriter.Tensor, b: SafetensorsWriter.Tensor) {
        let own = self.rank
        guard own < rank else { return (a, b) }
        let (inputs, outputs) = (a.shape[1], b.shape[0])
        var wide = [Float](repeating: 0, count: outputs * rank)
        for row in 0..<outputs {
            for column in 0..<own { wide[row * rank + column] = b.floats[row * own + column] }
        }
        return (
            .init(
                name: a.name, shape: [rank, inputs],
                floats: a.floats + [Float](repeating: 0, count: (rank - own) * inputs)),
            .init(name: b.name, shape: [outputs, rank], floats: wide)
        )
    }
}

extension SafetensorsWriter.Tensor {
    /// `module`: one of `AdapterTensorName.modules`; nil: the same.
    fileprivate func renamed(
        _ blocks: AdapterTensorName.Blocks, _ module: String? = nil
    ) -> SafetensorsWriter.Tensor {
        guard let name = AdapterTensorName(self.name)?.with(blocks) else { return self }
        var tensor = self
        tensor.name = (module.map { name.with(module: $0) } ?? name).text
        return tensor
    }

    /// nil: all.
    fileprivate func rows(_ range: Range<Int>?) -> SafetensorsWriter.Tensor {
        guard let range else { return self }
        let columns = shape.count == 2 ? shape[1] : 1
        return .init(
            name: name, shape: [range.count] + shape.dropFirst(),
            floats: Array(floats[(range.lowerBound * columns)..<(range.upperBound * columns)]))
    }

    /// `factor` 1 leaves every bit.
    fileprivate func multiplied(by factor: Double) -> SafetensorsWriter.Tensor {
        guard factor != 1 else { return self }
        return .init(name: name, shape: shape, floats: floats.map { Float(Double($0) * factor) })
    }
}
