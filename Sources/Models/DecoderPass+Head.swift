import Formats
import Tensors

extension DecoderPass {
    /// Final norm, head and cross-entropy, over the rows that carry loss and no other.
    ///
    /// Logits exist for a chunk of rows at a time. With `gradient`, the gradient of the last block's
    /// output is left in `memory.gradient`; it is zero in all other rows.
    func head(gradient: Bool) -> BatchLoss {
        let width = model.width
        let hidden = residual(model.layerCount)
        for (i, row) in batch.lossRows.enumerated() {
            (memory.lossHidden + i * width).update(from: hidden + row * width, count: width)
        }
        let rows = batch.lossRows.count
        RMSNorm.forward(
            memory.lossHidden, weight: decoder.weights.finalNorm.base,
            epsilon: model.normEpsilon, tokens: rows, width: width, into: memory.lossNormed,
            inverse: memory.lossInverse)
        var loss = BatchLoss()
        for first in stride(from: 0, to: rows, by: DecoderWorkspace.headRows) {
            loss += chunk(first..<min(first + DecoderWorkspace.headRows, rows), gradient: gradient)
        }
        if gradient { headBackward(rows) }
        return loss
    }

    /// Logits, losses and, in `lossNormedGradient`, the gradient of some of the loss rows.
    private func chunk(_ rows: Range<Int>, gradient: Bool) -> BatchLoss {
        let vocabulary = model.vocabularySize
        let width = model.width
        let head = decoder.weights.head
        let normed = memory.lossNormed + rows.lowerBound * width
        forEachPanel { panel in
            head.withRows(panel, scratch: memory.weights) { w in
                matMul(
                    m: rows.count, n: panel.count, k: width, normed, strideA: width,
                    w, .transposed, strideB: width, into: memory.logits + panel.lowerBound,
                    strideC: vocabulary)
            }
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
        forEachPanel { panel in
            head.withRows(panel, scratch: memory.weights) { w in
                matMul(
                    m: rows.count, n: width, k: panel.count, memory.logits + panel.lowerBound,
                    strideA: vocabulary, w, strideB: width, into: out, strideC: width,
                    beta: panel.lowerBound == 0 ? 0 : 1)
            }
        }
        return loss
    }

    /// The vocabulary in pieces of fixed height: resident and streamed heads give the same bits.
    func forEachPanel(_ body: (Range<Int>) -> Void) {
        let vocabulary = model.vocabularySize
        for first in stride(from: 0, to: vocabulary, by: DecoderWorkspace.headPanel) {
            body(first..<min(first + DecoderWorkspace.headPanel, vocabulary))
        }
    }

    /// Through the final norm and back to the tokens' places.
    private func headBackward(_ rows: Int) {
        let width = model.width
        memory.lossGradient.update(repeating: 0, count: rows * width)
        RMSNorm.backward(
            memory.lossNormedGradient, x: memory.lossHidden,
            weight: decoder.weights.finalNorm.base, inverse: memory.lossInverse, tokens: rows,
            width: width, addingTo: memory.lossGradient)
        memory.gradient.update(repeating: 0, count: tokens * width)
        for (i, row) in batch.lossRows.enumerated() {
            (memory.gradient + row * width).update(
                from: memory.lossGradient + i * width, count: width)
        }
    }
}
