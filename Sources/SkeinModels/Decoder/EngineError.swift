import SkeinBasics

/// A model that asks for what the engine does not compute, or a compute type that the process does not.
package enum EngineError: Error, Equatable {
    /// - path: the model's.
    /// - field: of `DecoderDesign`, `BlockDesign` or `Projection`, as spelled there.
    /// - layer: nil when it holds for the whole model.
    case notComputed(path: String, field: String, layer: Int?, found: String, computed: String)
    /// On a CPU without fused multiply-add.
    ///
    /// - begun: what the process first computed with.
    case otherArithmetic(ComputeType, begun: ComputeType)
}

extension EngineError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notComputed(let path, let field, let layer, let found, let computed):
            let place = layer.map { " of layer \($0)" } ?? ""
            return Explanation(
                what: "'\(field)'\(place) is \(found); Skein supports only \(computed)",
                place: path, remedy: "use a model without it", status: .badData)
        case .otherArithmetic(let compute, let begun):
            return Explanation(
                what: "this process began with \(begun) and cannot go on with \(compute): without "
                    + "fused multiply-add (FMA), which this CPU lacks or SKEIN_CPU_LEVEL hides, "
                    + "int8 rounds otherwise than fp32 and bf16",
                place: "--compute \(compute)", remedy: "start a process for each compute type",
                status: .usage)
        }
    }
}
