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
    /// Those of the embedding and the head.
    private let edges: [Edge]

    /// A and B of the embedding or the head.
    fileprivate struct Edge {
        let name: EdgeTensorName
        let scale: Float
        let a: SafetensorsWriter.Tensor
        let b: SafetensorsWriter.Tensor

        var rank: Int { a.shape[0] }
    }

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
        edges = Self.edges(of: parameters)
    }

    private static func edges(of parameters: AdapterParameters) -> [Edge] {
        let pairs = parameters.shape.edges
        let tensors = parameters.shape.layout.tensors(parameters.values).suffix(2 * pairs.count)
        return zip(pairs, stride(from: tensors.startIndex, to: tensors.endIndex, by: 2)).map {
            pair, index in
            guard let name = EdgeTensorName(tensors[index].name) else {
                preconditionFailure("\(tensors[index].name) is not of its own adapter")
            }
            return Edge(
                name: name, scale: pair.scale, a: tensors[index], b: tensors[index + 1])
        }
    }

    /// Refuses a format in which an adapter of a tied embedding or head would change both: mlx-lm's
    /// embedding is its head, with the adapter, and llama.cpp finds the same matrices for both.
    ///
    /// - Throws: `AdapterError.tiedEdge`.
    private func refuseTiedEdges(_ format: String) throws(AdapterError) {
        guard model.configuration.tiedEmbeddings, let edge = edges.first else { return }
        throw .tiedEdge(module: edge.name.module.rawValue, format: format)
    }

    private static func pairs(
        of parameters: AdapterParameters, _ model: ModelConfiguration
    ) -> [Pair] {
        let tensors = parameters.shape.layout.tensors(parameters.values).dropLast(
            2 * parameters.shape.edges.count)
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
        for edge in edges {
            guard edge.rank == lora.rank, edge.scale == lora.scale else { return nil }
        }
        return Set(modules.values).count == 1 ? modules.keys.sorted() : nil
    }

    private var configuration: AdapterConfiguration {
        let isWhole =
            lora.layers.isEmpty || lora.layers == 0..<model.configuration.layerCount
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
            let named =
                matrices.map { ("layers.\($0.layer).\($0.module)", $0.rank, $0.scale) }
                + edges.map { ($0.name.module.rawValue, $0.rank, $0.scale) }
            targets = named.map(\.0)
            for (name, rank, scale) in named {
                if rank != lora.rank { configuration.rankPattern[name] = rank }
                let alpha = Double(scale) * Double(rank)
                if alpha != configuration.alpha { configuration.alphaPattern[name] = alpha }
            }
        }
        try AdapterFiles.write(
            configuration: configuration, targets: targets,
            tensors: matrices.flatMap { [$0.a, $0.b] + ($0.magnitude.map { [$0] } ?? []) }
                .map { $0.renamed(blocks) } + edges.flatMap { $0.renamed(blocks) }, to: path,
            in: store)
    }

    /// All modules get the largest rank and one scale: smaller ranks are filled up with zeros, another
    /// scale goes into B.
    private func writeMLX(
        to path: String, _ blocks: AdapterTensorName.Blocks, _ store: any Store
    ) throws {
        try refuseTiedEdges("MLX")
        let rank = edges.reduce(matrices.reduce(0) { max($0, $1.rank) }) { max($0, $1.rank) }
        let scale = alpha / Double(lora.rank)
        var configuration = configuration
        configuration.rank = rank
        let tensors = matrices.flatMap { pair -> [SafetensorsWriter.Tensor] in
            let (a, b) = widened(pair.a, pair.b, to: rank, scale: pair.scale)
            return model.modulesInMLX(of: pair.module, in: pair.layer).flatMap { module, rows in
                [a.renamed(blocks, module), b.renamed(blocks, module).rows(rows)]
                    + (pair.magnitude.map { [$0.renamed(blocks, module).rows(rows)] } ?? [])
            }
        }
        // MLX keeps the text model of a multimodal one as older files call it.
        let outer: AdapterTensorName.Blocks = blocks == .text ? .text : .outer
        let outside = edges.flatMap { edge in
            let (a, b) = widened(edge.a, edge.b, to: rank, scale: edge.scale)
            return Edge(name: edge.name, scale: edge.scale, a: a, b: b).renamed(outer)
        }
        try MLXAdapter.write(
            configuration: configuration, scale: scale,
            layerCount: model.configuration.layerCount, tensors: tensors + outside, to: path,
            in: store)
    }

    /// The same product at the adapter's own scale with matrices of a larger rank.
    private func widened(
        _ a: SafetensorsWriter.Tensor, _ b: SafetensorsWriter.Tensor, to rank: Int, scale: Float
    ) -> (a: SafetensorsWriter.Tensor, b: SafetensorsWriter.Tensor) {
        let wide = a.widened(with: b, to: rank)
        let own = alpha / Double(lora.rank)
        let factor = scale == lora.scale ? 1 : Double(scale) / own
        return (wide.a, wide.b.multiplied(by: factor))
    }

    /// A module's scale is alpha by its own rank; what is missing of its scale goes into B.
    private func writeGGUF(to path: String, _ store: any Store) throws {
        guard !lora.usesMagnitudes else { throw AdapterError.magnitudesInGGUF }
        try refuseTiedEdges("GGUF")
        let architecture = try model.adapterArchitecture()
        var written: [GGUFAdapter.Matrix] = []
        for pair in matrices {
            let held = model.adaptedTensors(of: pair.module, in: pair.layer)
            guard !held.isEmpty else {
                throw AdapterError.noGGUFNames(architecture: model.configuration.architecture)
            }
            let b = pair.b.multiplied(by: ggufFactor(rank: pair.rank, scale: pair.scale))
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
        for edge in edges {
            guard let weight = model.adaptedTensor(of: edge.name.module) else {
                throw AdapterError.noGGUFNames(architecture: model.configuration.architecture)
            }
            // llama.cpp looks the rows of tokens up in A.
            let a = edge.name.module == .embedding ? edge.a.transposed() : edge.a
            let b = edge.b.multiplied(by: ggufFactor(rank: edge.rank, scale: edge.scale))
            for (matrix, tensor) in [(AdapterTensorName.Matrix.a, a), (.b, b)] {
                written.append(
                    .init(
                        weight: weight, matrix: matrix, shape: tensor.shape, floats: tensor.floats,
                        interleavedHeadRows: nil))
            }
        }
        try GGUFAdapter.write(
            written, architecture: architecture, alpha: alpha, configuration: configuration,
            to: path, in: store)
    }

    /// What B is multiplied by in a GGUF file, whose scale is alpha by each module's own rank.
    private func ggufFactor(rank: Int, scale: Float) -> Double {
        // llama.cpp takes an alpha of 0 for a scale of 1.
        if scale == lora.scale, rank == lora.rank, alpha != 0 { return 1 }
        return Double(scale) / (alpha == 0 ? 1 : alpha / Double(rank))
    }
}

extension AdapterExport.Edge {
    /// A and B under the names of a model whose blocks are named so.
    fileprivate func renamed(_ blocks: AdapterTensorName.Blocks) -> [SafetensorsWriter.Tensor] {
        [(AdapterTensorName.Matrix.a, a), (.b, b)].map { matrix, tensor in
            var tensor = tensor
            tensor.name = name.with(blocks).with(matrix).text
            return tensor
        }
    }
}
