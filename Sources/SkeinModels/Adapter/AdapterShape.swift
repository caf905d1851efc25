import SkeinFormats

/// What a LoRA configuration means on one model: which matrices exist, and where each lies in the
/// flat vector.
package struct AdapterShape: Sendable, Equatable {
    /// The two matrices of one adapted projection.
    struct Pair: Sendable, Equatable {
        /// Offset of A, [rank, in].
        let a: Int
        /// Offset of B, [out, rank].
        let b: Int
        let inputs: Int
        let outputs: Int
    }

    package let configuration: LoRAConfiguration
    package let layout: ParameterLayout
    /// Per layer, per `TargetModule`; nil where nothing is adapted.
    let pairs: [[Pair?]]

    package init(_ lora: LoRAConfiguration, model: ModelConfiguration) {
        configuration = lora
        var matrices: [(name: String, shape: [Int])] = []
        var pairs: [[Pair?]] = []
        var offset = 0
        for layer in 0..<model.layerCount {
            var row: [Pair?] = Array(repeating: nil, count: TargetModule.allCases.count)
            if lora.layers.contains(layer) {
                for module in lora.targets {
                    let (inputs, outputs) = module.dimensions(in: model)
                    let prefix =
                        "base_model.model.model.layers.\(layer).\(module.parent).\(module.name)"
                    matrices.append((prefix + ".lora_A.weight", [lora.rank, inputs]))
                    matrices.append((prefix + ".lora_B.weight", [outputs, lora.rank]))
                    row[module.rawValue] = Pair(
                        a: offset, b: offset + lora.rank * inputs, inputs: inputs,
                        outputs: outputs)
                    offset += lora.rank * (inputs + outputs)
                }
            }
            pairs.append(row)
        }
        layout = ParameterLayout(matrices)
        self.pairs = pairs
    }

    /// The lowest layer that carries an adapter; backward stops there. nil when there is none.
    var lowestLayer: Int? {
        pairs.firstIndex { $0.contains { $0 != nil } }
    }
}

extension TargetModule {
    /// Columns and rows of the projection's weight, [out, in].
    func dimensions(in model: ModelConfiguration) -> (inputs: Int, outputs: Int) {
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        switch self {
        case .query: return (model.width, queries)
        case .key, .value: return (model.width, keys)
        case .output: return (queries, model.width)
        case .gate, .up: return (model.width, model.feedForwardWidth)
        case .down: return (model.feedForwardWidth, model.width)
        }
    }
}
