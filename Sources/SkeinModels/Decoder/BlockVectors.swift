import SkeinFormats
import SkeinTensors

/// The small frozen numbers of one block: the weights of its norms, and its biases.
package struct BlockVectors: Sendable {
    /// [D], before attention; nil: there is none.
    package let beforeAttention: FloatBuffer?
    /// [D], of what attention adds to the residual stream.
    package let afterAttention: FloatBuffer?
    /// [D], before the feed-forward part.
    package let beforeFeedForward: FloatBuffer?
    /// [D], of what the feed-forward part adds to the residual stream.
    package let afterFeedForward: FloatBuffer?
    /// [N] or [H * N], of queries.
    package let query: FloatBuffer?
    /// [N] or [G * N], of keys.
    package let key: FloatBuffer?
    /// [outputs] each, in the order of `BlockDesign.projections`.
    package let biases: [FloatBuffer?]

    /// Reads the vectors of a layer.
    ///
    /// - Throws: `FormatError` when a tensor is missing.
    package init(_ model: any WeightSource, layer: Int) throws {
        let design = model.configuration.design
        let block = design.blocks[layer]
        func norm(_ name: String?) throws -> FloatBuffer? {
            try name.map {
                try Self.norm(model, design.tensor($0 + ".weight", in: layer))
            }
        }
        beforeAttention = try norm(block.norms.beforeAttention)
        afterAttention = try norm(block.norms.afterAttention)
        beforeFeedForward = try norm(block.norms.beforeFeedForward)
        afterFeedForward = try norm(block.norms.afterFeedForward)
        query = try norm(block.headNorms?.query)
        key = try norm(block.headNorms?.key)
        biases = try block.projections.map { projection in
            guard projection.hasBias else { return nil }
            return Self.vector(
                try model.tensor(design.tensor(projection.name + ".bias", in: layer)))
        }
    }

    /// The weight of a norm, with what the family adds to the stored numbers.
    package static func norm(_ model: any WeightSource, _ name: String) throws -> FloatBuffer {
        let weight = vector(try model.tensor(name))
        let offset = model.configuration.design.normOffset
        if offset != 0 {
            for i in 0..<weight.count { weight.base[i] += offset }
        }
        return weight
    }

    private static func vector(_ view: TensorView) -> FloatBuffer {
        let buffer = FloatBuffer(count: view.elementCount)
        view.dequantize(rows: 0..<view.rows, into: buffer.base)
        return buffer
    }
}
