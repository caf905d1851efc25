import SkeinTensors

/// One projection with its adapter, for one micro-batch: y = W x + scale * B (A dropout(x)).
///
/// Letters: `T` rows, `R` rank. W is frozen: it gets no gradient. A and B get the *sum* gradient
/// over the rows.
struct LoRALinear {
    /// The adapter's side of the projection.
    struct Adapter {
        /// [R, in].
        let a: UnsafePointer<Float>
        /// [out, R].
        let b: UnsafePointer<Float>
        let rank: Int
        let scale: Float
        /// nil: the product is added as it is.
        let magnitude: Magnitude?
        let memory: BatchMemory.Adapted
        /// nil: nothing is dropped.
        let dropout: DropoutDraw?

        /// The mask for A's input.
        var mask: LowRank.Mask? {
            dropout.map { LowRank.Mask(memory.mask, keptScale: $0.dropout.keptScale) }
        }
    }

    let weight: WeightMatrix
    /// [out]; nil: none.
    let bias: FloatBuffer?
    let adapter: Adapter?
    let rows: Int
    /// [R, out], room for B or its gradient transposed.
    let transposed: UnsafeMutablePointer<Float>
    /// [T, R], scratch.
    let reducedGradient: UnsafeMutablePointer<Float>
    /// [T, out], scratch for a gradient with magnitudes.
    let scaledGradient: UnsafeMutablePointer<Float>
    /// [R, in] with padded rows, scratch for magnitudes with a bf16 or int8 weight.
    let roundedA: UnsafeMutablePointer<UInt16>
    let tools: WeightMatrix.Tools

    /// Whether the result is more than the product with the frozen weight, which alone can be given
    /// as bf16.
    var addsToProduct: Bool { bias != nil || adapter != nil }

    /// y = the projection of x, or y += it.
    ///
    /// Shapes and ranges:
    ///   - x: [T, in]; only read when there is an adapter.
    ///   - operand: x as the frozen weight takes it.
    ///   - y: [T, out].
    ///   - rounded: receives y as bf16 instead; only with a bf16 weight and nothing added to it.
    func forward(
        _ x: UnsafePointer<Float>, _ operand: Operand, into y: UnsafeMutablePointer<Float>,
        accumulating: Bool = false, rounded: UnsafeMutablePointer<UInt16>? = nil
    ) {
        let outputs = weight.rows
        precondition(rounded == nil || !addsToProduct, "adapters and biases add to floats")
        if let adapter, let magnitude = adapter.magnitude {
            // The product by itself: its gradient is that of the magnitudes.
            measure(adapter, magnitude)
            let product = magnitude.memory.product
            weight.forward(
                rows: 0..<outputs, operand, tokens: rows, into: product, strideY: outputs,
                accumulating: false, tools: tools)
            add(adapter, x, to: product)
            scale(product, by: magnitude.memory.gains, into: y, accumulating: accumulating)
            if let bias { Rows.add(bias: bias.base, tokens: rows, width: outputs, to: y) }
            return
        }
        guard addsToProduct else {
            weight.forward(
                rows: 0..<outputs, operand, tokens: rows, into: y, strideY: outputs,
                accumulating: accumulating, rounded: rounded, tools: tools)
            return
        }
        if let adapter { reduce(adapter, x) }
        for range in parts {
            weight.forward(
                rows: range, operand, tokens: rows, into: y + range.lowerBound,
                strideY: outputs, accumulating: accumulating, tools: tools)
            if let bias { Rows.add(bias: bias.base, tokens: rows, width: outputs, to: y) }
            if let adapter { expand(adapter, to: y, range) }
        }
    }

    /// dB = scale * dy^T (A dropout(x)), dA = (scale * dy B)^T dropout(x), and, with an operand,
    /// dx = dy W + dropout'(scale * dy B A), or dx += it.
    ///
    /// Shapes and ranges:
    ///   - dy: [T, out].
    ///   - operand: dy as the frozen weight takes it; nil when nothing below is trained.
    ///   - x: [T, in], the forward input.
    ///   - dx: [T, in]; untouched without an operand.
    ///   - rounded: receives dx as bf16 instead; only with a bf16 weight and no adapter.
    ///   - dA: [R, in], overwritten or, with `addingToA`, added to; nil without an adapter.
    ///   - dB: [out, R], overwritten; nil without an adapter.
    ///
    /// With magnitudes, dy is the gradient of the product before it is scaled (`unscaled`).
    func backward(
        _ dy: UnsafePointer<Float>, _ operand: Operand?, x: UnsafePointer<Float>,
        dx: UnsafeMutablePointer<Float>, accumulating: Bool,
        rounded: UnsafeMutablePointer<UInt16>? = nil,
        dA: UnsafeMutablePointer<Float>?, addingToA: Bool = false,
        dB: UnsafeMutablePointer<Float>?
    ) {
        let (outputs, inputs) = (weight.rows, weight.columns)
        if let operand {
            weight.backward(
                rows: 0..<outputs, operand, strideDY: outputs, tokens: rows, into: dx,
                accumulating: accumulating,
                rounded: rounded, tools: tools)
        }
        guard let adapter, let dA, let dB else { return }
        precondition(rounded == nil, "an adapter adds to floats")
        let rank = adapter.rank
        LowRank.transpose(adapter.b, rows: outputs, columns: rank, into: transposed)
        LowRank.reduce(
            dy, tokens: rows, columns: outputs, by: transposed, rank: rank, scale: adapter.scale,
            into: reducedGradient)
        LowRank.outer(
            adapter.memory.reduced, tokens: rows, rank: rank, with: dy, columns: outputs,
            into: transposed)
        LowRank.transpose(transposed, rows: rank, columns: outputs, into: dB)
        // Whose A is shared adds to what the first that has it has written.
        LowRank.outer(
            reducedGradient, tokens: rows, rank: rank, with: x, columns: inputs,
            mask: adapter.mask, into: addingToA ? transposed : dA)
        if addingToA { Rows.add(transposed, times: 1, count: rank * inputs, to: dA) }
        count(outputs, 2 * rank)
        count(inputs, rank)
        if operand != nil {
            count(inputs, rank)
            LowRank.expand(
                reducedGradient, tokens: rows, rank: rank, by: adapter.a, columns: inputs,
                mask: adapter.mask, addingTo: dx)
        }
    }

    /// Adds a thin product over all rows to a benchmark's tally.
    func count(_ columns: Int, _ rank: Int) {
        tools.matMul.tally?.add(MatMulTally.Shape(kind: .thin, m: rows, n: rank, k: columns))
    }
}
