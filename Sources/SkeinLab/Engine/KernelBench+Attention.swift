import SkeinModels
import SkeinTensors

extension KernelBench {
    /// Attention over one sequence of all tokens: causal, with a window of a quarter of them, and
    /// with a soft cap; in fp32 and bf16.
    var attention: [Kernel] {
        let operands = AttentionOperands(sizes)
        let shapes = [
            ("", shape()), (" window", shape(window: max(1, sizes.tokens / 4))),
            (" soft cap", shape(softCap: 50)),
        ]
        return shapes.flatMap { single($0.0, $0.1, operands) }
            + shapes.flatMap { rounded($0.0, $0.1, operands) }
    }

    private func shape(window: Int? = nil, softCap: Float? = nil) -> AttentionShape {
        AttentionShape(
            heads: sizes.heads, keyValueHeads: sizes.keyValueHeads,
            headDimension: sizes.headDimension, window: window, softCap: softCap)
    }

    /// In fp32: the limit is that of the products, with the pairs that a query sees.
    private func single(
        _ name: String, _ shape: AttentionShape, _ o: AttentionOperands
    ) -> [Kernel] {
        let attention = Attention(shape)
        let scratch = FloatBuffer(count: attention.scratchCount(tokens: o.tokens))
        func forward(_ matMul: MatMul) {
            attention.forward(
                q: o.q.base, k: o.k.base, v: o.v.base, tokens: o.tokens, out: o.out.base,
                logSumExp: o.logSumExp.base, scratch: scratch.base, matMul: matMul)
        }
        func backward(_ matMul: MatMul) {
            attention.backward(
                q: o.q.base, k: o.k.base, v: o.v.base, out: o.out.base, dOut: o.dOut.base,
                logSumExp: o.logSumExp.base, tokens: o.tokens, dq: o.dq.base, dk: o.dk.base,
                dv: o.dv.base, scratch: scratch.base, matMul: matMul)
        }
        return [("forward", forward), ("backward", backward)].map { way, body in
            let tally = MatMulTally()
            body(MatMul(tally: tally))
            let matMul = MatMul()
            return Kernel(
                name: "attention\(name) \(way)", size: o.size(shape),
                limit: .products(operations: tally.operations, .single), run: { body(matMul) })
        }
    }

    /// In bf16: the limit is that of the products, with only what a query sees.
    private func rounded(
        _ name: String, _ shape: AttentionShape, _ o: AttentionOperands
    ) -> [Kernel] {
        let attention = RoundedAttention(shape)
        let scratch = FloatBuffer(count: attention.scratchCount(tokens: o.tokens))
        let forward = {
            attention.forward(
                q: o.q.base, k: o.k.base, v: o.v.base, tokens: o.tokens, out: o.out.base,
                logSumExp: o.logSumExp.base, scratch: scratch.base)
        }
        let backward = {
            attention.backward(
                q: o.q.base, k: o.k.base, v: o.v.base, out: o.out.base, dOut: o.dOut.base,
                logSumExp: o.logSumExp.base, tokens: o.tokens, dq: o.dq.base, dk: o.dk.base,
                dv: o.dv.base, scratch: scratch.base)
        }
        forward()
        let product = 2 * shape.headDimension * shape.heads * shape.pairs(tokens: o.tokens)
        return [("forward", 2, forward), ("backward", 5, backward)].map { way, products, body in
            Kernel(
                name: "bf16 attention\(name) \(way)", size: o.size(shape),
                limit: .products(operations: products * product, .packed), run: body)
        }
    }
}

/// What attention reads and writes.
private struct AttentionOperands {
    let tokens: Int
    let q, k, v, dOut, out, dq, dk, dv, logSumExp: FloatBuffer

    init(_ s: KernelSizes) {
        tokens = s.tokens
        let (queries, keys) = (s.tokens * s.heads * s.headDimension, s.tokens * s.keyValueWidth)
        q = Operands.buffer(queries, stream: 10)
        k = Operands.buffer(keys, stream: 11)
        v = Operands.buffer(keys, stream: 12)
        dOut = Operands.buffer(queries, stream: 13)
        out = FloatBuffer(count: queries)
        dq = FloatBuffer(count: queries)
        dk = FloatBuffer(count: keys)
        dv = FloatBuffer(count: keys)
        logSumExp = FloatBuffer(count: s.heads * s.tokens)
    }

    func size(_ shape: AttentionShape) -> String {
        "\(tokens) x \(shape.heads)/\(shape.keyValueHeads) x \(shape.headDimension)"
    }
}
