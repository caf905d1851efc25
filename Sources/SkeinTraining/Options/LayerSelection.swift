/// Which layers of the model carry an adapter (`--layers`).
package enum LayerSelection: Sendable, Equatable {
    case all
    /// The last N layers, as mlx-lm counts them.
    case last(Int)
    /// From one layer to another, both included, counted from 0.
    case range(ClosedRange<Int>)

    /// Reads `all`, `16` (the last 16 layers) or `8-23` (layers 8 to 23); nil for any other text.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if let count = Int(text), count > 0 {
            self = .last(count)
        } else {
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false)
            guard bounds.count == 2, let first = Int(bounds[0]), let last = Int(bounds[1]),
                first >= 0, first <= last
            else { return nil }
            self = .range(first...last)
        }
    }

    package var text: String {
        switch self {
        case .all: "all"
        case .last(let count): String(count)
        case .range(let range): "\(range.lowerBound)-\(range.upperBound)"
        }
    }

    /// The layers of a model of `layerCount` layers.
    ///
    /// - Throws: `TrainingError.layersOutOfRange`.
    package func range(layerCount: Int) throws -> Range<Int> {
        switch self {
        case .all: return 0..<layerCount
        case .last(let count) where count <= layerCount: return (layerCount - count)..<layerCount
        case .range(let range) where range.upperBound < layerCount: return Range(range)
        default:
            throw TrainingError.layersOutOfRange(layers: text, layerCount: layerCount)
        }
    }
}
