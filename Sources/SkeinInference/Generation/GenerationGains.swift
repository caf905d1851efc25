import SkeinModels
import SkeinTensors

/// What rows of a packed weight's products are multiplied by with an adapter that has magnitudes.
enum GenerationGains {
    /// Rows that are unpacked together.
    private static let blockRows = 64

    /// The gains of each layer's projections, and the adapter's numbers with B's rows times them.
    ///
    /// Reads every row of the weights once; without magnitudes it does nothing.
    static func all(
        _ weights: GenerationWeights, _ adapter: AdapterShape, _ parameters: [Float]
    ) -> (gains: [[FloatBuffer?]], parameters: [Float]) {
        var values = parameters
        let gains = zip(weights.blocks, adapter.pairs).map { block, pairs in
            zip(block.projections, pairs).map { weight, pair -> FloatBuffer? in
                guard let pair, let gains = of(weight, pair, parameters) else { return nil }
                for row in 0..<pair.outputs {
                    for k in 0..<pair.rank {
                        values[pair.b + row * pair.rank + k] *= gains.base[row]
                    }
                }
                return gains
            }
        }
        return (gains, values)
    }

    /// m / ||W + s B A|| of each row; nil without magnitudes.
    private static func of(
        _ weight: InterleavedMatrix, _ pair: AdapterShape.Pair, _ parameters: [Float]
    ) -> FloatBuffer? {
        guard let magnitude = pair.magnitude else { return nil }
        let gains = FloatBuffer(count: pair.outputs)
        let (columns, rank) = (pair.inputs, pair.rank)
        let scratchCount = InterleavedMatrix.scratchCount
        let floats =
            pair.outputs * rank + blockRows * (columns + rank) + scratchCount
        parameters.withUnsafeBufferPointer { values in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: floats) { memory in
                guard let values = values.baseAddress, let gram = memory.baseAddress else { return }
                let rows = gram + pair.outputs * rank
                let products = rows + blockRows * columns
                let scratch = products + blockRows * rank
                let (a, b) = (values + pair.a, values + pair.b)
                RowLength.gram(
                    a: a, b: b, rank: rank, inputs: columns, outputs: pair.outputs, into: gram)
                for first in stride(from: 0, to: pair.outputs, by: blockRows) {
                    let count = min(blockRows, pair.outputs - first)
                    for i in 0..<count {
                        weight.copyRow(first + i, into: rows + i * columns, scratch: scratch)
                    }
                    LowRank.reduce(
                        rows, tokens: count, columns: columns, by: a, rank: rank, into: products)
                    for i in 0..<count {
                        let base = RowLength.squared(rows + i * columns, count: columns)
                        let length = RowLength.merged(
                            base: Float(base.squareRoot()), b: b + (first + i) * rank,
                            product: products + i * rank, stride: 1,
                            gram: gram + (first + i) * rank, rank: rank, scale: pair.scale)
                        gains.base[first + i] = RowLength.gain(
                            magnitude: values[magnitude + first + i], length: length)
                    }
                }
            }
        }
        return gains
    }
}
