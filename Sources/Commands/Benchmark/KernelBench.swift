import Tensors

/// Makes the kernels; their buffers live as long as the kernels do.
struct KernelBench {
    let sizes: KernelSizes

    /// All kernels, in the order of the report.
    var kernels: [Kernel] {
        products + attention + elementwise + bytes
    }

    /// Measures every kernel, on the calling thread.
    func run(_ effort: Effort) -> [KernelResult] {
        kernels.map { KernelResult($0, effort) }
    }

    /// The square product that shows what sgemm reaches here at best.
    private static let square = 1024

    /// Forward (NT: y = x W^T) and backward (NN: dx = dy W) of each kind of projection.
    private var products: [Kernel] {
        let s = sizes
        let best = ProductReplay([.init(m: Self.square, n: Self.square, k: Self.square)])
        func kernel(_ part: String, m: Int, n: Int, k: Int, transposed: Bool) -> Kernel {
            let product = ProductReplay([.init(m: m, n: n, k: k, transposedB: transposed)])
            return Kernel(
                name: "sgemm \(transposed ? "NT" : "NN") \(part)", size: "\(m) x \(n) x \(k)",
                limit: .products(operations: product.operations, alone: best),
                run: { product.run() })
        }
        let projections = [
            ("q, o", s.width, s.width), ("k, v", s.keyValueWidth, s.width),
            ("gate, up", s.feedForward, s.width), ("down", s.width, s.feedForward),
            ("lora A", s.rank, s.width), ("lora B", s.width, s.rank),
        ].flatMap { part, outputs, inputs in
            [
                kernel(part, m: s.tokens, n: outputs, k: inputs, transposed: true),
                kernel(part, m: s.tokens, n: inputs, k: outputs, transposed: false),
            ]
        }
        return projections + [
            kernel("head", m: s.headRows, n: s.headPanel, k: s.width, transposed: true),
            kernel("head", m: s.headRows, n: s.width, k: s.headPanel, transposed: false),
        ]
    }

    /// One sequence of all tokens; the limit is its own products alone.
    private var attention: [Kernel] {
        let s = sizes
        let attention = Attention(
            heads: s.heads, keyValueHeads: s.keyValueHeads, headDimension: s.headDimension)
        let q = Operands.buffer(s.tokens * s.width, stream: 10)
        let k = Operands.buffer(s.tokens * s.keyValueWidth, stream: 11)
        let v = Operands.buffer(s.tokens * s.keyValueWidth, stream: 12)
        let dOut = Operands.buffer(s.tokens * s.width, stream: 13)
        let out = FloatBuffer(count: s.tokens * s.width)
        let dq = FloatBuffer(count: s.tokens * s.width)
        let dk = FloatBuffer(count: s.tokens * s.keyValueWidth)
        let dv = FloatBuffer(count: s.tokens * s.keyValueWidth)
        let logSumExp = FloatBuffer(count: s.heads * s.tokens)
        let scratch = FloatBuffer(count: Attention.scratchCount(keys: s.tokens))
        func forward(_ matMul: MatMul) {
            attention.forward(
                q: q.base, k: k.base, v: v.base, tokens: s.tokens, out: out.base,
                logSumExp: logSumExp.base, scratch: scratch.base, matMul: matMul)
        }
        func backward(_ matMul: MatMul) {
            attention.backward(
                q: q.base, k: k.base, v: v.base, out: out.base, dOut: dOut.base,
                logSumExp: logSumExp.base, tokens: s.tokens, dq: dq.base, dk: dk.base,
                dv: dv.base, scratch: scratch.base, matMul: matMul)
        }
        return [("attention forward", forward), ("attention backward", backward)].map {
            name, body in
            let tally = MatMulTally()
            body(MatMul(tally: tally))
            let matMul = MatMul()
            return Kernel(
                name: name,
                size: "\(s.tokens) x \(s.heads)/\(s.keyValueHeads) x \(s.headDimension)",
                limit: .products(
                    operations: tally.operations, alone: ProductReplay(tally.counts)),
                run: { body(matMul) })
        }
    }
}
