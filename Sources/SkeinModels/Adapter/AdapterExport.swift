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
    let alpha: Double
    /// Matrices by layer and module.
    let matrices: [Pair]
    /// Those of the embedding and the head.
    let edges: [Edge]

    /// A and B of the embedding or the head.
    struct Edge {
        let name: EdgeTensorName
        let scale: Float
        let a: SafetensorsWriter.Tensor
        let b: SafetensorsWriter.Tensor

        var rank: Int { a.shape[0] }
    }

    /// A and B of one module.
    struct Pair {
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
    ///   - path: of the folder or file.
    ///   - blocks: what names of weights begin with; nil: as in the base model.
    ///   - store: where it is written.
    /// - Throws: `AdapterError`, `FileError`.
    package func write(
        _ format: any AdapterFormat, to path: String, blocks: AdapterTensorName.Blocks? = nil,
        in store: any Store = DiskStore()
    ) throws {
        try format.check(
            usesMagnitudes: lora.usesMagnitudes, edges: edges.map(\.name.module), of: model)
        try format.write(
            self, to: path, blocks: blocks ?? model.configuration.adapterBlocks, in: store)
    }

    var lora: LoRAConfiguration { parameters.shape.configuration }

    var configuration: AdapterConfiguration {
        let isWhole =
            lora.layers.isEmpty || lora.layers == 0..<model.configuration.layerCount
        return AdapterConfiguration(
            rank: lora.rank, alpha: alpha, dropout: Double(source.dropout),
            targetModules: Array(parameters.shape.modules),
            layersToTransform: isWhole ? nil : Array(lora.layers),
            baseModelName: source.baseModelName, revision: source.revision,
            usesMagnitudes: lora.usesMagnitudes, origin: source.origin)
    }
}
