import SkeinTensors

// LoRA on the embedding: row t of the residual stream begins as E[token] + scale * B A[:, token], as
// in PEFT's `Embedding`, which drops nothing. A gets gradient in the columns of the batch's tokens.
extension DecoderPass {
    private var embedding: AdapterShape.Pair? {
        parameters == nil ? nil : decoder.adapter?.embedding
    }

    /// Adds scale * B A[:, token] to the tokens' rows of the embedding.
    func adaptEmbedding() {
        guard let embedding, let parameters else { return }
        let (rank, reduced) = (embedding.rank, memory.edges.embedded)
        for (t, token) in batch.tokens.enumerated() {
            let column = parameters + embedding.a + Int(token)
            for k in 0..<rank {
                reduced[t * rank + k] = embedding.scale * column[k * embedding.inputs]
            }
        }
        LowRank.transpose(
            parameters + embedding.b, rows: model.width, columns: rank, into: memory.transposed)
        LowRank.expand(
            reduced, tokens: tokens, rank: rank, by: memory.transposed, columns: model.width,
            addingTo: residual(0))
    }

    /// Gradients of the embedding's A and B from that of the first block's input, in
    /// `memory.gradient`, which is scaled.
    ///
    /// A token's column is a sum over its places in their order, so the bits do not depend on threads.
    func embeddingBackward(into gradient: UnsafeMutablePointer<Float>) {
        guard let embedding, let parameters else { return }
        let (rank, width) = (embedding.rank, model.width)
        let factor = model.design.embeddingMultiplier
        if factor != 1 { Rows.scale(memory.gradient, count: tokens * width, by: factor) }
        LowRank.transpose(
            parameters + embedding.b, rows: width, columns: rank, into: memory.transposed)
        LowRank.reduce(
            memory.gradient, tokens: tokens, columns: width, by: memory.transposed, rank: rank,
            scale: embedding.scale, into: memory.reducedGradient)
        LowRank.outer(
            memory.edges.embedded, tokens: tokens, rank: rank, with: memory.gradient,
            columns: width, into: memory.transposed)
        LowRank.transpose(
            memory.transposed, rows: rank, columns: width, into: gradient + embedding.b)
        let dA = gradient + embedding.a
        dA.update(repeating: 0, count: rank * embedding.inputs)
        for (t, token) in batch.tokens.enumerated() {
            for k in 0..<rank {
                dA[k * embedding.inputs + Int(token)] += memory.reducedGradient[t * rank + k]
            }
        }
    }
}

// LoRA on the head: logits = W x + scale * B (A dropout(x)). With a tied head W is the embedding, and
// neither adapter changes the other's weight, as in PEFT. The factor of the logits, which is that of
// x, holds for both.
extension DecoderPass {
    private var headPair: AdapterShape.Pair? { parameters == nil ? nil : decoder.adapter?.head }

    /// What all loss rows share: B transposed, the masks of x, a gradient of zeros.
    func prepareHeadAdapter() {
        guard let pair = headPair, let parameters else { return }
        LowRank.transpose(
            parameters + pair.b, rows: pair.outputs, columns: pair.rank,
            into: memory.edges.transposed)
        headDraw(pair)?.draw(into: memory.edges.mask, columns: model.width)
        guard let headGradient else { return }
        (headGradient + pair.a).update(repeating: 0, count: pair.rank * pair.inputs)
        (headGradient + pair.b).update(repeating: 0, count: pair.rank * pair.outputs)
    }

    /// Adds scale * B (A dropout(x)) to the logits of some of the loss rows.
    func adaptLogits(_ rows: Range<Int>) {
        guard let pair = headPair, let parameters else { return }
        LowRank.reduce(
            memory.lossNormed + rows.lowerBound * model.width, tokens: rows.count,
            columns: model.width, by: parameters + pair.a, rank: pair.rank, scale: pair.scale,
            mask: headMask(rows), into: memory.edges.reduced)
        LowRank.expand(
            memory.edges.reduced, tokens: rows.count, rank: pair.rank, by: memory.edges.transposed,
            columns: pair.outputs, addingTo: memory.logits)
    }

    /// Adds some loss rows' part of the gradients of A and B, from the gradient of their logits, which
    /// is in `memory.logits`; that of x is left, by rank, in `memory.reducedGradient`.
    ///
    /// The gradient of B is summed transposed, [R, V], until `finishHeadAdapter`.
    func headAdapterBackward(_ rows: Range<Int>) {
        guard let pair = headPair, let headGradient else { return }
        let (rank, width) = (pair.rank, model.width)
        LowRank.reduce(
            memory.logits, tokens: rows.count, columns: pair.outputs, by: memory.edges.transposed,
            rank: rank, scale: pair.scale, into: memory.reducedGradient)
        LowRank.outer(
            memory.edges.reduced, tokens: rows.count, rank: rank, with: memory.logits,
            columns: pair.outputs, into: memory.edges.outer)
        Rows.add(
            memory.edges.outer, times: 1, count: rank * pair.outputs, to: headGradient + pair.b)
        LowRank.outer(
            memory.reducedGradient, tokens: rows.count, rank: rank,
            with: memory.lossNormed + rows.lowerBound * width, columns: width,
            mask: headMask(rows), into: memory.transposed)
        Rows.add(memory.transposed, times: 1, count: rank * width, to: headGradient + pair.a)
    }

    /// Adds what flows back through the adapter to the gradient of some of the loss rows' x.
    func addHeadAdapterInput(_ rows: Range<Int>, to out: UnsafeMutablePointer<Float>) {
        guard let pair = headPair, let parameters, headGradient != nil else { return }
        LowRank.expand(
            memory.reducedGradient, tokens: rows.count, rank: pair.rank, by: parameters + pair.a,
            columns: model.width, mask: headMask(rows), addingTo: out)
    }

    /// Gives the gradient of B its form, [V, R].
    func finishHeadAdapter() {
        guard let pair = headPair, let headGradient else { return }
        memory.edges.outer.update(from: headGradient + pair.b, count: pair.rank * pair.outputs)
        LowRank.transpose(
            memory.edges.outer, rows: pair.rank, columns: pair.outputs, into: headGradient + pair.b)
    }

    /// The dropout of x; its place is that of a layer after the last, which no other module has.
    private func headDraw(_ pair: AdapterShape.Pair) -> DropoutDraw? {
        dropout.map {
            DropoutDraw(
                dropout: $0.dropout, step: $0.step,
                place: UInt32(model.layerCount * 8 + pair.address), offsets: batch.offsets,
                sequenceNumbers: batch.sequenceNumbers, rows: batch.lossRows)
        }
    }

    private func headMask(_ rows: Range<Int>) -> LowRank.Mask? {
        dropout.map {
            LowRank.Mask(
                memory.edges.mask + rows.lowerBound * Dropout.maskBytes(model.width),
                keptScale: $0.dropout.keptScale)
        }
    }
}
