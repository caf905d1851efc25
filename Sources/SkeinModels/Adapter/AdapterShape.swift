import SkeinFormats

/// What a LoRA configuration means for one model: which matrices exist, and where each is in the
/// flat vector.
package struct AdapterShape: Sendable, Equatable {
    /// The two matrices of one adapted projection, and its magnitudes.
    package struct Pair: Sendable, Equatable {
        package let module: TargetModule
        /// `Projection.address`; of the embedding and the head, which count as a layer after the last,
        /// 0 and 1.
        package let address: Int
        /// Offset of A, [rank, in].
        package let a: Int
        /// Offset of B, [out, rank].
        package let b: Int
        package let inputs: Int
        package let outputs: Int
        package let rank: Int
        package let scale: Float
        /// Offset of the magnitudes, [out]; nil: there are none.
        package let magnitude: Int?
        /// Whether an earlier pair of the layer has the same A: slices of one fused module.
        package let sharesA: Bool
    }

    package let configuration: LoRAConfiguration
    package let layout: ParameterLayout
    /// What is adapted, by the names in PEFT's files, such as "q_proj".
    package let modules: Set<String>
    /// Per layer, in the order of `BlockDesign.projections`; nil where nothing is adapted.
    package let pairs: [[Pair?]]
    /// The embedding's pair, A [rank, V] and B [D, rank]; nil: it is not adapted.
    package let embedding: Pair?
    /// The head's pair; nil: it is not adapted.
    package let head: Pair?

    package init(_ lora: LoRAConfiguration, model: ModelConfiguration) {
        configuration = lora
        var matrices: [(name: String, shape: [Int])] = []
        var modules: Set<String> = []
        var offset = 0
        func add(_ name: String, rank: Int, inputs: Int, outputs: Int, in layer: Int) -> Int {
            modules.formUnion(name.split(separator: ".").suffix(1).map { String($0) })
            let name = "base_model.model." + model.design.tensor(name, in: layer)
            matrices.append((name + ".lora_A.weight", [rank, inputs]))
            matrices.append((name + ".lora_B.weight", [outputs, rank]))
            if lora.usesMagnitudes {
                matrices.append((name + ".lora_magnitude_vector", [outputs]))
            }
            defer { offset += rank * (inputs + outputs) + (lora.usesMagnitudes ? outputs : 0) }
            return offset
        }
        pairs = model.design.blocks.enumerated().map { layer, block in
            // For fused modules that are adapted as a whole: the first slice and where A is.
            var fused: [String: (first: Projection, a: Int)] = [:]
            return block.projections.map { projection -> Pair? in
                if let module = projection.fused, let rows = projection.rows,
                    let strength = lora.strength(ofModuleOf: projection.module, in: layer)
                {
                    let known = fused[module]
                    let outputs = block.rows(ofFused: module)
                    let (first, a) =
                        known
                        ?? (
                            projection,
                            add(
                                module, rank: strength.rank, inputs: projection.inputs,
                                outputs: outputs, in: layer)
                        )
                    fused[module] = (first, a)
                    return Pair(
                        module: projection.module, address: first.address, a: a,
                        b: a + strength.rank * (projection.inputs + rows.lowerBound),
                        inputs: projection.inputs, outputs: projection.outputs,
                        rank: strength.rank, scale: strength.scale,
                        magnitude: lora.usesMagnitudes
                            ? a + strength.rank * (projection.inputs + outputs) + rows.lowerBound
                            : nil,
                        sharesA: known != nil)
                }
                guard let strength = lora.strength(of: projection.module, in: layer) else {
                    return nil
                }
                let a = add(
                    projection.name, rank: strength.rank, inputs: projection.inputs,
                    outputs: projection.outputs, in: layer)
                return Pair(
                    module: projection.module, address: projection.address, a: a,
                    b: a + strength.rank * projection.inputs, inputs: projection.inputs,
                    outputs: projection.outputs, rank: strength.rank, scale: strength.scale,
                    magnitude: lora.usesMagnitudes
                        ? a + strength.rank * (projection.inputs + projection.outputs) : nil,
                    sharesA: false)
            }
        }
        /// After all others: what has none keeps its bytes.
        func edge(_ target: TargetModule, _ module: EdgeTensorName.Module) -> Pair? {
            guard let strength = lora.strength(ofEdge: target) else { return nil }
            precondition(!lora.usesMagnitudes, "magnitudes of modules in blocks alone")
            modules.insert(module.rawValue)
            let (inputs, outputs) = model.sizes(of: target)
            let rank = strength.rank
            let name = EdgeTensorName(module: module, matrix: .a, blocks: model.adapterBlocks)
            matrices.append((name.text, [rank, inputs]))
            matrices.append((name.with(.b).text, [outputs, rank]))
            defer { offset += rank * (inputs + outputs) }
            return Pair(
                module: target, address: module == .embedding ? 0 : 1, a: offset,
                b: offset + rank * inputs, inputs: inputs, outputs: outputs, rank: rank,
                scale: strength.scale, magnitude: nil, sharesA: false)
        }
        embedding = edge(.embedding, .embedding)
        head = edge(.head, .head)
        self.modules = modules
        layout = ParameterLayout(matrices)
    }

    /// Whether the tokens' embedding is adapted: then the residual stream before the first block
    /// depends on the adapter, and backward goes down to it.
    package var hasEmbedding: Bool { embedding != nil }

    /// The pairs of `TargetModule.edges` that there are.
    var edges: [Pair] { [embedding, head].compactMap { $0 } }

    /// Tensors of a module: A, B and perhaps its magnitudes.
    var tensorsPerModule: Int { configuration.usesMagnitudes ? 3 : 2 }

    /// The lowest layer that backward goes through: the lowest that carries an adapter, or the first
    /// of all if the embedding does. nil when there is none.
    var lowestLayer: Int? {
        if hasEmbedding { return 0 }
        return pairs.firstIndex { $0.contains { $0 != nil } }
    }

    /// Blocks, from the first on, whose output depends on nothing that is trained. Never the last: it
    /// computes most of its rows only where they carry loss.
    package var frozenLayers: Int { min(lowestLayer ?? .max, pairs.count - 1) }

    /// The matrices of a projection; nil when it is not adapted.
    func pair(_ module: TargetModule, in layer: Int) -> Pair? {
        for case let pair? in pairs[layer] where pair.module == module { return pair }
        return nil
    }

    func has(_ module: TargetModule, in layer: Int) -> Bool { pair(module, in: layer) != nil }

    /// Whether it is adapted in any layer.
    func has(_ module: TargetModule) -> Bool {
        pairs.indices.contains { has(module, in: $0) }
    }
}
