import SkeinTensors

extension DecoderPass {
    /// Final norm, head and cross-entropy, over only the rows that carry loss.
    ///
    /// Logits exist for a chunk of rows at a time. With `gradient`, the gradient of the last block's
    /// output is left in `memory.gradient`, [M, D] like that output.
    func head(gradient: Bool) -> BatchLoss {
        let width = model.width
        let rows = batch.lossRows.count
        RMSNorm.forward(
            residual(model.layerCount), weight: decoder.weights.finalNorm.base,
            epsilon: model.normEpsilon, tokens: rows, width: width, into: memory.lossNormed,
            inverse: memory.lossInverse)
        var loss = BatchLoss()
        for first in stride(from: 0, to: rows, by: DecoderWorkspace.headRows) {
            loss += chunk(first..<min(first + DecoderWorkspace.headRows, rows), gradient: gradient)
        }
        guard gradient else { return loss }
        memory.gradient.update(repeating: 0, count: rows * width)
        RMSNorm.backward(
            memory.lossNormedGradient, x: residual(model.layerCount),
            weight: decoder.weights.finalNorm.base, inverse: memory.lossInverse, tokens: rows,
            width: width, addingTo: memory.gradient)
        return loss
    }

    /// Logits, losses and, in `lossNormedGradient`, the gradient for some of the loss rows.
    private func chunk(_ rows: Range<Int>, gradient: Bool) -> BatchLoss {
        let vocabulary = model.vocabularySize
        let width = model.width
        let head = decoder.weights.head
        let input = operand(
            memory.lossNormed + rows.lowerBound * width, rows: rows.count, columns: width)
        forEachPanel { panel in
            head.forward(
                rows: panel, input, tokens: rows.count, into: memory.logits + panel.lowerBound,
                strideY: vocabulary, accumulating: false, tools: tools)
        }
        var loss = BatchLoss()
        for i in 0..<rows.count {
            let row = CrossEntropy.row(
                memory.logits + i * vocabulary, vocabulary: vocabulary,
                target: Int(batch.lossTargets[rows.lowerBound + i]), gradient: gradient)
            loss += BatchLoss(lossSum: row.loss, lossTokens: 1, correct: row.correct ? 1 : 0)
        }
        guard gradient else { return loss }
        let out = memory.lossNormedGradient + rows.lowerBound * width
        let rounded = roundedLogits(rows.count)
        forEachPanel { panel in
            let logits: Operand =
                rounded.map { .rounded($0[columns: panel]) }
                ?? .single(memory.logits + panel.lowerBound)
            head.backward(
                rows: panel, logits, strideDY: vocabulary, tokens: rows.count, into: out,
                accumulating: panel.lowerBound > 0, tools: tools)
        }
        return loss
    }

    /// The logits' gradients as bf16, in the same memory; nil with fp32.
    private func roundedLogits(_ rows: Int) -> RoundedRows? {
        compute == .fp32
            ? nil
            : RoundedRows(replacing: memory.logits, rows: rows, columns: model.vocabularySize)
    }

    /// The vocabulary in pieces of fixed height: resident and streamed heads give equal bits.
    func forEachPanel(_ body: (Range<Int>) -> Void) {
        let vocabulary = model.vocabularySize
        for first in stride(from: 0, to: vocabulary, by: DecoderWorkspace.headPanel) {
            body(first..<min(first + DecoderWorkspace.headPanel, vocabulary))
        }
    }
}
