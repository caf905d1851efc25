/// What a LoRA configuration means for one model: which matrices exist, and where each is in the
/// flat vector.
package struct AdapterShape: Sendable, Equatable {
    /// The two matrices of one adapted projection.
    struct Pair: Sendable, Equatable {
        let module: TargetModule
        /// `Projection.address`.
        let address: Int
        /// Offset of A, [rank, in].
        let a: Int
        /// Offset of B, [out, rank].
        let b: Int
        let inputs: Int
        let outputs: Int
        /// Whether an earlier pair of the layer has the same A: slices of one fused module.
        let sharesA: Bool
    }

    package let configuration: LoRAConfiguration
    package let layout: ParameterLayout
    /// Per layer, in the order of `BlockDesign.projections`; nil where nothing is adapted.
    let pairs: [[Pair?]]

    package init(_ lora: LoRAConfiguration, model: ModelConfiguration) {
        configuration = lora
        var matrices: [(name: String, shape: [Int])] = []
        var offset = 0
        pairs = model.design.blocks.enumerated().map { layer, block in
            block.projections.map { projection in
                guard lora.layers.contains(layer), lora.targets.contains(projection.module)
                else { return nil }
                let name = "base_model.model." + model.design.tensor(projection.name, in: layer)
                let (inputs, outputs) = (projection.inputs, projection.outputs)
                matrices.append((name + ".lora_A.weight", [lora.rank, inputs]))
                matrices.append((name + ".lora_B.weight", [outputs, lora.rank]))
                let pair = Pair(
                    module: projection.module, address: projection.address, a: offset,
                    b: offset + lora.rank * inputs, inputs: inputs, outputs: outputs)
                offset += lora.rank * (inputs + outputs)
                return pair
            }
        }
        layout = ParameterLayout(matrices)
    }

    /// The lowest layer that carries an adapter; backward stops there. nil when there is none.
    var lowestLayer: Int? {
        pairs.firstIndex { $0.contains { $0 != nil } }
    }

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
