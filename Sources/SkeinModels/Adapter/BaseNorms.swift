import SkeinFormats
import SkeinTensors

/// Lengths (Euclidean norms) of the rows of the frozen weights that an adapter with magnitudes adapts:
/// where the magnitudes begin, and a part of what they are divided by.
package struct BaseNorms: Sendable {
    /// Per layer, in the order of `BlockDesign.projections`: [out]; nil where nothing is adapted.
    private let layers: [[FloatBuffer?]]

    /// Reads the weights once, row by row.
    ///
    /// - Throws: `FormatError` when a tensor is missing.
    package init(model: any WeightSource, shape: AdapterShape) throws {
        let design = model.configuration.design
        layers = try zip(design.blocks, shape.pairs).enumerated().map { layer, block in
            try zip(block.0.projections, block.1).map { projection, pair in
                guard pair != nil else { return nil }
                return Self.norms(
                    of: try model.tensor(design.tensor(projection.name + ".weight", in: layer)))
            }
        }
    }

    /// Those of an adapter that has magnitudes; nil for any other.
    ///
    /// - Throws: as `init(model:shape:)`.
    package static func needed(_ shape: AdapterShape?, of model: ModelDirectory) throws
        -> BaseNorms?
    {
        guard let shape, shape.configuration.usesMagnitudes else { return nil }
        return try BaseNorms(model: model, shape: shape)
    }

    /// `index`: of `BlockDesign.projections`.
    func norms(_ layer: Int, _ index: Int) -> UnsafePointer<Float>? {
        layers[layer][index].map { UnsafePointer($0.base) }
    }

    private static func norms(of view: TensorView) -> FloatBuffer {
        let (rows, columns) = (view.rows, view.columns)
        let norms = FloatBuffer(count: rows)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: columns) { memory in
            guard let row = memory.baseAddress else { return }
            for index in 0..<rows {
                view.dequantize(rows: index..<(index + 1), into: row)
                norms.base[index] = Float(RowLength.squared(row, count: columns).squareRoot())
            }
        }
        return norms
    }
}
