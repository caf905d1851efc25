import SkeinTensors

// DoRA (Liu et al. 2024): y = g * (W x + scale * B (A dropout(x))) with a gain g for each row of W,
// g = m / ||W + scale * B A||. As there (section 4.3) and in PEFT, the length takes no part in the
// gradient. The frozen product is of x as it is, with dropout on the adapter's path alone, as in
// mlx-lm and torchtune; PEFT without dropout is the same. Checked against central differences in
// `DoRATests` and against PEFT in `FamilyNumbersTests`.
extension LoRALinear {
    /// The magnitudes of a projection.
    struct Magnitude {
        /// m, [out].
        let values: UnsafePointer<Float>
        /// Lengths of W's rows, [out].
        let base: UnsafePointer<Float>
        let memory: BatchMemory.Magnitude
    }

    /// The lengths of the rows of W + scale * B A, and the gains.
    ///
    /// A W^T is a product of W like any other, whose tokens are the rows of A: it works for every way
    /// in which weights are held, and costs as much as R tokens.
    func measure(_ adapter: Adapter, _ magnitude: Magnitude) {
        let (outputs, inputs, rank) = (weight.rows, weight.columns, adapter.rank)
        weight.forward(
            rows: 0..<outputs, operand(adapter.a, rows: rank, columns: inputs), tokens: rank,
            into: transposed, strideY: outputs, accumulating: false, tools: tools)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: outputs * rank) { memory in
            guard let gram = memory.baseAddress else { return }
            RowLength.gram(
                a: adapter.a, b: adapter.b, rank: rank, inputs: inputs, outputs: outputs,
                into: gram)
            for row in 0..<outputs {
                let length = RowLength.merged(
                    base: magnitude.base[row], b: adapter.b + row * rank,
                    product: transposed + row, stride: outputs, gram: gram + row * rank,
                    rank: rank, scale: adapter.scale)
                magnitude.memory.lengths[row] = length
                magnitude.memory.gains[row] = RowLength.gain(
                    magnitude: magnitude.values[row], length: length)
            }
        }
    }

    /// y = g * product, or y += it.
    func scale(
        _ product: UnsafePointer<Float>, by gains: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>, accumulating: Bool
    ) {
        let outputs = weight.rows
        for row in 0..<rows {
            let (from, to) = (product + row * outputs, y + row * outputs)
            if accumulating {
                for i in 0..<outputs { to[i] += gains[i] * from[i] }
            } else {
                for i in 0..<outputs { to[i] = gains[i] * from[i] }
            }
        }
    }

    /// From the gradient of y to those of the magnitudes, dm = sum over rows of dy * product / length,
    /// and of the product, g * dy.
    ///
    /// Shapes and ranges:
    ///   - dy: [T, out].
    ///   - dm: [out], overwritten.
    /// - Returns: [T, out], in `scaledGradient`.
    func unscaled(
        _ dy: UnsafePointer<Float>, _ magnitude: Magnitude, dm: UnsafeMutablePointer<Float>
    ) -> UnsafePointer<Float> {
        let outputs = weight.rows
        let (product, gains) = (magnitude.memory.product, magnitude.memory.gains)
        withUnsafeTemporaryAllocation(of: Double.self, capacity: outputs) { memory in
            guard let sums = memory.baseAddress else { return }
            sums.update(repeating: 0, count: outputs)
            for row in 0..<rows {
                let (from, made) = (dy + row * outputs, product + row * outputs)
                let to = scaledGradient + row * outputs
                for i in 0..<outputs {
                    sums[i] += Double(from[i]) * Double(made[i])
                    to[i] = gains[i] * from[i]
                }
            }
            for i in 0..<outputs {
                let length = magnitude.memory.lengths[i]
                dm[i] = length > 0 ? Float(sums[i] / Double(length)) : 0
            }
        }
        return UnsafePointer(scaledGradient)
    }

    /// Rows of A as the frozen weight takes them.
    private func operand(_ a: UnsafePointer<Float>, rows: Int, columns: Int) -> Operand {
        switch weight.input {
        case .single: .single(a)
        case .rounded:
            .rounded(
                RoundedRows(
                    rounding: a, stride: columns, rows: rows, columns: columns, in: roundedA))
        case .quantized:
            .quantized(
                QuantizedRows(
                    quantizing: a, stride: columns, rows: rows, columns: columns,
                    in: roundedA))
        }
    }
}
