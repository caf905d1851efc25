import Tensors

/// One projection with its adapter, for one micro-batch: y = W x + scale * B (A dropout(x)).
///
/// Letters: `T` tokens, `R` rank. W is frozen: it gets no gradient. A and B get the *sum* gradient
/// over the batch's tokens.
struct LoRALinear {
    /// The adapter's side of the projection.
    struct Adapter {
        /// [R, in].
        let a: UnsafePointer<Float>
        /// [out, R].
        let b: UnsafePointer<Float>
        let rank: Int
        let scale: Float
        let memory: BatchMemory.Adapted
        /// nil: nothing is dropped.
        let dropout: DropoutDraw?
    }

    let weight: WeightMatrix
    let adapter: Adapter?
    let tokens: Int
    /// Room for a streamed weight.
    let weights: UnsafeMutablePointer<Float>
    /// [T, in], room for dropped inputs.
    let dropped: UnsafeMutablePointer<Float>
    let matMul: MatMul

    /// y = beta * y + the projection of x.
    ///
    /// Shapes and ranges:
    ///   - x: [T, in].
    ///   - y: [T, out].
    func forward(
        _ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, beta: Float = 0
    ) {
        let (outputs, inputs) = (weight.rows, weight.columns)
        weight.withRows(0..<outputs, scratch: weights) { w in
            matMul(
                m: tokens, n: outputs, k: inputs, x, strideA: inputs, w, .transposed,
                strideB: inputs, into: y, strideC: outputs, beta: beta)
        }
        guard let adapter else { return }
        if let dropout = adapter.dropout {
            dropout.draw(into: adapter.memory.mask, columns: inputs)
        }
        let input = adapterInput(x, adapter)
        let rank = adapter.rank
        matMul(
            m: tokens, n: rank, k: inputs, input, strideA: inputs, adapter.a, .transposed,
            strideB: inputs, into: adapter.memory.reduced, strideC: rank)
        matMul(
            m: tokens, n: outputs, k: rank, adapter.memory.reduced, strideA: rank, adapter.b,
            .transposed, strideB: rank, into: y, strideC: outputs, alpha: adapter.scale, beta: 1)
    }

    /// dB = scale * dy^T (A dropout(x)), dA = (scale * dy B)^T dropout(x), and, when the input needs
    /// one, dx = beta * dx + dy W + dropout'(scale * dy B A).
    ///
    /// Shapes and ranges:
    ///   - dy: [T, out].
    ///   - x: [T, in], the forward input.
    ///   - dx: [T, in]; nil when nothing below is trained.
    ///   - reducedGradient: [T, R], scratch.
    ///   - dA: [R, in], overwritten; nil with no adapter.
    ///   - dB: [out, R], overwritten; nil with no adapter.
    func backward(
        _ dy: UnsafePointer<Float>, x: UnsafePointer<Float>,
        dx: UnsafeMutablePointer<Float>?, beta: Float,
        reducedGradient: UnsafeMutablePointer<Float>,
        dA: UnsafeMutablePointer<Float>?, dB: UnsafeMutablePointer<Float>?
    ) {
        let (outputs, inputs) = (weight.rows, weight.columns)
        if let dx {
            weight.withRows(0..<outputs, scratch: weights) { w in
                matMul(
                    m: tokens, n: inputs, k: outputs, dy, strideA: outputs, w, strideB: inputs,
                    into: dx, strideC: inputs, beta: beta)
            }
        }
        guard let adapter, let dA, let dB else { return }
        let rank = adapter.rank
        matMul(
            m: outputs, n: rank, k: tokens, dy, .transposed, strideA: outputs,
            adapter.memory.reduced, strideB: rank, into: dB, strideC: rank, alpha: adapter.scale)
        matMul(
            m: tokens, n: rank, k: outputs, dy, strideA: outputs, adapter.b, strideB: rank,
            into: reducedGradient, strideC: rank, alpha: adapter.scale)
        let input = adapterInput(x, adapter)
        matMul(
            m: rank, n: inputs, k: tokens, reducedGradient, .transposed, strideA: rank,
            input, strideB: inputs, into: dA, strideC: inputs)
        guard let dx else { return }
        if let dropout = adapter.dropout {
            matMul(
                m: tokens, n: inputs, k: rank, reducedGradient, strideA: rank, adapter.a,
                strideB: inputs, into: dropped, strideC: inputs)
            dropout.add(dropped, mask: adapter.memory.mask, columns: inputs, to: dx)
        } else {
            matMul(
                m: tokens, n: inputs, k: rank, reducedGradient, strideA: rank, adapter.a,
                strideB: inputs, into: dx, strideC: inputs, beta: 1)
        }
    }

    /// What A sees: x, or x with elements dropped (in `dropped`).
    private func adapterInput(
        _ x: UnsafePointer<Float>, _ adapter: Adapter
    ) -> UnsafePointer<Float> {
        guard let dropout = adapter.dropout else { return x }
        dropout.apply(x, mask: adapter.memory.mask, columns: weight.columns, into: dropped)
        return UnsafePointer(dropped)
    }
}

/// The dropout of one projection of one layer in one micro-batch: where its masks are addressed.
struct DropoutDraw {
    let dropout: Dropout
    let step: UInt32
    /// layer * 8 + module.
    let place: UInt32
    let offsets: [Int]
    let sequenceNumbers: [UInt32]

    /// Draws each sequence's mask at its own address: it is the same in whatever micro-batch.
    func draw(into mask: UnsafeMutablePointer<UInt8>, columns: Int) {
        let rowBytes = Dropout.maskBytes(columns)
        for (index, number) in sequenceNumbers.enumerated() {
            let rows = offsets[index + 1] - offsets[index]
            dropout.draw(
                into: mask + offsets[index] * rowBytes, count: rows * rowBytes * 8,
                step: step, sequence: number, place: place)
        }
    }

    func apply(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, columns: Int,
        into y: UnsafeMutablePointer<Float>
    ) {
        let rowBytes = Dropout.maskBytes(columns)
        for t in 0..<(offsets.last ?? 0) {
            dropout.apply(
                x + t * columns, mask: mask + t * rowBytes, count: columns, into: y + t * columns)
        }
    }

    func add(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, columns: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        let rowBytes = Dropout.maskBytes(columns)
        for t in 0..<(offsets.last ?? 0) {
            dropout.add(
                x + t * columns, mask: mask + t * rowBytes, count: columns, to: y + t * columns)
        }
    }
}
