import SkeinBasics

/// A model that asks for what the engine does not compute.
package enum EngineError: Error, Equatable {
    /// - path: the model's.
    /// - field: of `DecoderDesign`, `BlockDesign` or `Projection`, as spelled there.
    /// - layer: nil when it holds for the whole model.
    case notComputed(path: String, field: String, layer: Int?, found: String, computed: String)
}

extension EngineError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notComputed(let path, let field, let layer, let found, let computed):
            let place = layer.map { " of layer \($0)" } ?? ""
            return Explanation(
                what: "'\(field)'\(place) is \(found); Skein supports only \(computed)",
                place: path, remedy: "use a model without it", status: .badData)
        }
    }
}
