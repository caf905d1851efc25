import SkeinTensors

extension DecoderPass {
    /// Final norm, head and cross-entropy, over only the rows that carry loss.
    ///
    /// Logits exist for a chunk of rows at a time. With `gradient`, the gradient of the last block's
    /// output is left in `memory.gradient`, [M, D] like that output. `smoothing`: of the labels.
    func head(gradient: Bool, smoothing: Float = 0) -> BatchLoss {
        let width = model.width
        let rows = batch.lossRows.count
        let factor = model.design.logitsMultiplier
        prepareHead()
        let loss =
            if let pairs = batch.pairs {
                pairedHead(pairs, gradient: gradient)
            } else {
                lossRowChunks.reduce(into: BatchLoss()) {
                    $0 += chunk($1, gradient: gradient, smoothing: smoothing)
                }
            }
        guard gradient else { return loss }
        finishHeadAdapter()
        if factor != 1 { Rows.scale(memory.lossNormedGradient, count: rows * width, by: factor) }
        memory.gradient.update(repeating: 0, count: rows * width)
        RMSNorm.backward(
            memory.lossNormedGradient, x: residual(model.layerCount),
            weight: decoder.weights.finalNorm.base, inverse: memory.lossInverse, tokens: rows,
            width: width, addingTo: memory.gradient)
        return loss
    }

    /// The loss rows in pieces of which logits exist together.
    var lossRowChunks: [Range<Int>] {
        let rows = batch.lossRows.count
        return stride(from: 0, to: rows, by: DecoderWorkspace.headRows).map {
            $0..<min($0 + DecoderWorkspace.headRows, rows)
        }
    }

    /// The logits of all loss rows, [M, V].
    func logits() -> [Float] {
        let vocabulary = model.vocabularySize
        let rows = batch.lossRows.count
        prepareHead()
        var logits: [Float] = []
        logits.reserveCapacity(rows * vocabulary)
        for chunk in lossRowChunks {
            predict(chunk)
            let count = chunk.count * vocabulary
            if let cap = model.design.logitsSoftCap {
                SoftCap.forward(memory.logits, count: count, cap: cap)
            }
            logits += UnsafeBufferPointer(start: memory.logits, count: count)
        }
        return logits
    }

    /// The head's input: the loss rows after the final norm, in `lossNormed`.
    func prepareHead() {
        let rows = batch.lossRows.count
        RMSNorm.forward(
            residual(model.layerCount), weight: decoder.weights.finalNorm.base,
            epsilon: model.normEpsilon, tokens: rows, width: model.width,
            into: memory.lossNormed, inverse: memory.lossInverse)
        // The head is linear: its input is scaled in place of its many outputs.
        let factor = model.design.logitsMultiplier
        if factor != 1 { Rows.scale(memory.lossNormed, count: rows * model.width, by: factor) }
        prepareHeadAdapter()
    }

    /// Logits of some of the loss rows, before the soft cap.
    func predict(_ rows: Range<Int>) {
        let width = model.width
        let input = operand(
            memory.lossNormed + rows.lowerBound * width, rows: rows.count, columns: width)
        forEachPanel { panel in
            decoder.weights.head.forward(
                rows: panel, input, tokens: rows.count, into: memory.logits + panel.lowerBound,
                strideY: model.vocabularySize, accumulating: false, tools: tools)
        }
        adaptLogits(rows)
    }

    /// Logits, losses and, in `lossNormedGradient`, the gradient for some of the loss rows.
    private func chunk(_ rows: Range<Int>, gradient: Bool, smoothing: Float) -> BatchLoss {
        predict(rows)
        let losses = CrossEntropy.rows(
            memory.logits, vocabulary: model.vocabularySize, targets: batch.lossTargets[rows],
            gradient: gradient, softCap: model.design.logitsSoftCap, smoothing: smoothing)
        let loss = losses.reduce(into: BatchLoss()) {
            $0 += BatchLoss(lossSum: $1.loss, lossTokens: 1, correct: $1.correct ? 1 : 0)
        }
        if gradient { headBackward(rows) }
        return loss
    }

    /// The gradient of the head's input for some of the loss rows, from that of their logits, which is in
    /// `memory.logits`.
    func headBackward(_ rows: Range<Int>) {
        let vocabulary = model.vocabularySize
        let out = memory.lossNormedGradient + rows.lowerBound * model.width
        // Before the logits' gradients are rounded.
        headAdapterBackward(rows)
        let rounded = roundedLogits(rows.count)
        forEachPanel { panel in
            let logits: Operand =
                rounded.map { .rounded($0[columns: panel]) }
                ?? .single(memory.logits + panel.lowerBound)
            decoder.weights.head.backward(
                rows: panel, logits, strideDY: vocabulary, tokens: rows.count, into: out,
                accumulating: panel.lowerBound > 0, tools: tools)
        }
        addHeadAdapterInput(rows, to: out)
    }

    /// The logits' gradients as bf16, in the same memory; nil unless that is computed with.
    private func roundedLogits(_ rows: Int) -> RoundedRows? {
        compute == .bf16
            ? RoundedRows(replacing: memory.logits, rows: rows, columns: model.vocabularySize)
            : nil
    }

    /// The vocabulary in pieces of fixed height: resident and streamed heads give equal bits.
    func forEachPanel(_ body: (Range<Int>) -> Void) {
        let vocabulary = model.vocabularySize
        for first in stride(from: 0, to: vocabulary, by: DecoderWorkspace.headPanel) {
            body(first..<min(first + DecoderWorkspace.headPanel, vocabulary))
        }
    }
}

// The rows that matter: from the last block's attention on, only those that carry loss.
extension DecoderPass {
    /// Whether the upper half of a block has only the loss rows: what the last block makes of any
    /// other row is not read.
    func isTrimmed(_ layer: Int) -> Bool { layer == model.layerCount - 1 }

    /// Rows of a block from its middle on.
    func upperRows(_ layer: Int) -> Int { isTrimmed(layer) ? batch.lossRows.count : tokens }

    /// What the output projection of a block reads.
    func outputInput(_ layer: Int) -> UnsafeMutablePointer<Float> {
        isTrimmed(layer) ? memory.lossAttended : block(layer).attended
    }

    /// The loss rows of x, [T, columns], one after the other.
    func gather(
        _ x: UnsafePointer<Float>, columns: Int, into y: UnsafeMutablePointer<Float>
    ) {
        for (i, row) in batch.lossRows.enumerated() {
            (y + i * columns).update(from: x + row * columns, count: columns)
        }
    }

    /// Moves the rows that `gather` collected back to their tokens; all others become zero.
    ///
    /// In place, last row first: a row only ever moves down.
    func scatter(_ x: UnsafeMutablePointer<Float>, columns: Int) {
        var end = tokens
        for (i, row) in batch.lossRows.enumerated().reversed() {
            (x + (row + 1) * columns).update(repeating: 0, count: (end - row - 1) * columns)
            if row > i { (x + row * columns).update(from: x + i * columns, count: columns) }
            end = row
        }
        x.update(repeating: 0, count: end * columns)
    }

    /// x as the frozen weights take it: unchanged, or rounded or quantized in `memory.rounded`.
    func operand(_ x: UnsafePointer<Float>, rows: Int, columns: Int) -> Operand {
        switch compute {
        case .fp32: return .single(x)
        case .bf16:
            return .rounded(
                RoundedRows(
                    rounding: x, stride: columns, rows: rows, columns: columns,
                    in: memory.rounded))
        case .int8:
            return .quantized(
                QuantizedRows(
                    quantizing: x, stride: columns, rows: rows, columns: columns,
                    in: memory.rounded))
        }
    }

    /// A gradient as the frozen weights take it. It is quantized by the weight, whose scales it is
    /// multiplied with before.
    func gradientOperand(_ dy: UnsafePointer<Float>, rows: Int, columns: Int) -> Operand {
        compute == .int8 ? .single(dy) : operand(dy, rows: rows, columns: columns)
    }

    /// Numbers that are already rounded, [rows, F].
    func activations(_ x: UnsafePointer<UInt16>, rows: Int) -> Operand {
        let columns = model.feedForwardWidth
        return .rounded(
            RoundedRows(
                base: x, rows: rows, columns: columns,
                stride: RoundedRows.stride(columns: columns)))
    }
}
