import SkeinTensors

extension DecoderPass {
    /// Fills the residual stream up to the last block's output.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func forward() -> Bool {
        guard let features else {
            embed()
            return forward(through: 0..<model.layerCount)
        }
        let first = decoder.frozenLayers
        residual(first).update(from: features, count: tokens * model.width)
        return forward(through: first..<model.layerCount)
    }

    /// Fills the residual stream from the first of these blocks' input to the last one's output.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func forward(through layers: Range<Int>) -> Bool {
        for layer in layers {
            if progress?.isAbandoned == true { return false }
            if layer == decoder.frozenLayers { roundFeatures() }
            blockForward(layer)
            progress?.finishLayer()
        }
        return true
    }

    /// The tokens' rows of the embedding and its adapter, with noise, times the family's factor.
    func embed() {
        let width = model.width
        for (t, token) in batch.tokens.enumerated() {
            decoder.weights.embedding.copyRow(Int(token), into: residual(0) + t * width)
        }
        adaptEmbedding()
        if let noise { add(noise) }
        let factor = model.design.embeddingMultiplier
        if factor != 1 { Rows.scale(residual(0), count: tokens * width, by: factor) }
    }

    /// x' = x + m norm(attention(norm(x))); x'' = x' + m norm(feedForward(norm(x'))), with the norms
    /// and the factor m that the design has.
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
        let norm = weights.vectors.beforeAttention
        let raw = weights.vectors.query == nil ? nil : kept.raw
        let input = normed(
            x, weight: norm, inverse: kept.inverseInput, rows: tokens,
            wantsSingle: has(.query, layer) || has(.key, layer) || has(.value, layer))
        let single = norm == nil ? x : memory.normed
        linear(.query, layer).forward(single, input, into: raw?.q ?? kept.q)
        linear(.key, layer).forward(single, input, into: raw?.k ?? kept.k)
        linear(.value, layer).forward(single, input, into: kept.v)
        attend(kept, layer)
        let attended = outputInput(layer)
        let rows = upperRows(layer)
        if isTrimmed(layer) {
            gather(kept.attended, columns: queryWidth, into: attended)
            gather(x, columns: model.width, into: kept.middle)
        } else {
            kept.middle.update(from: x, count: tokens * model.width)
        }
        add(
            .output, layer, attended, operand(attended, rows: rows, columns: queryWidth),
            norm: weights.vectors.afterAttention, kept.attentionBranch, rows: rows,
            to: kept.middle)
        feedForward(layer, again: again)
    }

    /// The upper half of a block, from its middle to its output.
    private func feedForward(_ layer: Int, again: Bool) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let rows = upperRows(layer)
        let vectors = weights.vectors
        let middle = normed(
            kept.middle, weight: vectors.beforeFeedForward, inverse: kept.inverseMiddle,
            rows: rows, wantsSingle: has(.gate, layer) || has(.up, layer))
        let single = vectors.beforeFeedForward == nil ? kept.middle : memory.normed
        gateAndUp(kept, layer, single, middle, rows: rows)
        if again && !has(.down, layer) && vectors.afterFeedForward == nil { return }
        let input = activate(kept, layer, rows: rows, wantsSingle: has(.down, layer))
        let y = residual(layer + 1)
        y.update(from: kept.middle, count: rows * model.width)
        add(
            .down, layer, memory.activated, input, norm: vectors.afterFeedForward,
            kept.feedForwardBranch, rows: rows, to: y)
    }

    /// y += m norm(W x): what attention or the feed-forward part adds to the residual stream.
    ///
    /// Shapes and ranges:
    ///   - x: the input as Float, and `operand` as the frozen weight takes it.
    ///   - norm: nil: none.
    ///   - branch: keeps W x, [rows, D], for the norm's backward pass.
    ///   - y: [rows, D].
    private func add(
        _ module: TargetModule, _ layer: Int, _ x: UnsafePointer<Float>, _ operand: Operand,
        norm: FloatBuffer?, _ branch: BatchMemory.Branch?, rows: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        let factor = model.design.blocks[layer].residualMultiplier
        let projection = linear(module, layer)
        guard let norm, let branch else {
            if factor == 1 {
                projection.forward(x, operand, into: y, accumulating: true)
            } else {
                projection.forward(x, operand, into: memory.normed)
                Rows.add(memory.normed, times: factor, count: rows * model.width, to: y)
            }
            return
        }
        projection.forward(x, operand, into: branch.output)
        RMSNorm.forward(
            branch.output, weight: norm.base, epsilon: model.normEpsilon, tokens: rows,
            width: model.width, into: memory.normed, inverse: branch.inverse)
        Rows.add(memory.normed, times: factor, count: rows * model.width, to: y)
    }

    /// The norm of x, [rows, D], or x itself without a weight, as frozen weights take it.
    ///
    /// `wantsSingle`: the norm also as Float, in `memory.normed`; with fp32 it always is.
    private func normed(
        _ x: UnsafePointer<Float>, weight: FloatBuffer?, inverse: UnsafeMutablePointer<Float>,
        rows: Int, wantsSingle: Bool
    ) -> Operand {
        let width = model.width
        guard let weight else { return operand(x, rows: rows, columns: width) }
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
