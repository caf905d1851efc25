import SkeinTensors

extension DecoderPass {
    /// Fills the residual stream up to the last block's output.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func forward() -> Bool {
        embed()
        for layer in 0..<model.layerCount {
            if progress?.isAbandoned == true { return false }
            blockForward(layer)
            progress?.finishLayer()
        }
        return true
    }

    /// The tokens' rows of the embedding.
    func embed() {
        let width = model.width
        for (t, token) in batch.tokens.enumerated() {
            decoder.weights.embedding.copyRow(Int(token), into: residual(0) + t * width)
        }
    }

    /// x' = x + attention(norm(x)); x'' = x' + feedForward(norm(x')).
    ///
    /// In a trimmed block x' and x'' have only the rows that carry loss.
    ///
    /// Shapes and ranges:
    ///   - again: called by the backward pass to fill the shared activations; the block's output is
    ///     already known then, so the last product is skipped.
    func blockForward(_ layer: Int, again: Bool = false) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let x = residual(layer)
        let input = norm(
            x, weight: weights.inputNorm, inverse: kept.inverseInput, rows: tokens,
            wantsSingle: has(.query, layer) || has(.key, layer) || has(.value, layer))
        linear(.query, layer).forward(memory.normed, input, into: kept.q)
        linear(.key, layer).forward(memory.normed, input, into: kept.k)
        linear(.value, layer).forward(memory.normed, input, into: kept.v)
        attend(kept, layer)
        let attended = outputInput(layer)
        let rows = upperRows(layer)
        if isTrimmed(layer) {
            gather(kept.attended, columns: queryWidth, into: attended)
            gather(x, columns: model.width, into: kept.middle)
        } else {
            kept.middle.update(from: x, count: tokens * model.width)
        }
        linear(.output, layer).forward(
            attended, operand(attended, rows: rows, columns: queryWidth), into: kept.middle,
            accumulating: true)
        feedForward(layer, again: again)
    }

    /// The upper half of a block, from its middle to its output.
    private func feedForward(_ layer: Int, again: Bool) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let rows = upperRows(layer)
        let middle = norm(
            kept.middle, weight: weights.middleNorm, inverse: kept.inverseMiddle, rows: rows,
            wantsSingle: has(.gate, layer) || has(.up, layer))
        gateAndUp(kept, layer, middle, rows: rows)
        if again && !has(.down, layer) { return }
        let input = activate(kept, rows: rows, wantsSingle: has(.down, layer))
        let y = residual(layer + 1)
        y.update(from: kept.middle, count: rows * model.width)
        linear(.down, layer).forward(memory.activated, input, into: y, accumulating: true)
    }

    /// The norm of x, [rows, D], as frozen weights take it.
    ///
    /// `wantsSingle`: also as Float, in `memory.normed`; with fp32 it always is.
    private func norm(
        _ x: UnsafePointer<Float>, weight: FloatBuffer, inverse: UnsafeMutablePointer<Float>,
        rows: Int, wantsSingle: Bool
    ) -> Operand {
        let width = model.width
        // An odd row needs a zero after it, which only the other way writes.
        let direct = compute == .bf16 && width.isMultiple(of: 2)
        RMSNorm.forward(
            x, weight: weight.base, epsilon: model.normEpsilon, tokens: rows, width: width,
            into: wantsSingle || !direct ? memory.normed : nil,
            bf16: direct ? memory.rounded : nil, inverse: inverse)
        guard direct else { return operand(memory.normed, rows: rows, columns: width) }
        return .rounded(
            RoundedRows(
                base: memory.rounded, rows: rows, columns: width,
                stride: RoundedRows.stride(columns: width)))
    }
}
