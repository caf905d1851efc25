import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTensors

/// Makes the kernels; their buffers live as long as the kernels do.
package struct KernelBench {
    let sizes: KernelSizes

    /// All kernels, in the order of the report.
    ///
    /// - Throws: `PackedMatrixError` when the system has no memory left.
    var kernels: [Kernel] {
        get throws { try products + attention + elementwise + bytes }
    }

    /// Measures every kernel, on the calling thread.
    ///
    /// - Throws: as `kernels`.
    func run(_ effort: Effort) throws -> [KernelResult] {
        try kernels.map { KernelResult($0, effort) }
    }

    /// Forward (y = x W^T) and backward (dx = dy W) of each kind of projection, in fp32 and bf16.
    private var products: [Kernel] {
        get throws {
            let s = sizes
            let shapes = [
                ("q, o", s.tokens, s.width, s.width),
                ("k, v", s.tokens, s.keyValueWidth, s.width),
                ("gate, up", s.tokens, s.feedForward, s.width),
                ("down", s.tokens, s.width, s.feedForward),
                ("head", s.headRows, s.headPanel, s.width),
            ]
            func kernel(_ part: String, _ product: ProductReplay.Product) throws -> Kernel {
                let replay = try ProductReplay([product])
                let way = product.transposedB ? "forward" : "backward"
                return Kernel(
                    name: "\(product.kind.computeName) \(part) \(way)",
                    size: "\(product.m) x \(product.n) x \(product.k)",
                    limit: .products(operations: replay.operations, product.kind),
                    bare: product.kind == .single && MatMul.isOwn
                        ? BareProduct(m: product.m, n: product.n, k: product.k) : nil,
                    run: { replay.run() })
            }
            let wide = try [MatMulTally.Kind.single, .packed, .quantized].flatMap { kind in
                try shapes.flatMap { part, rows, outputs, inputs in
                    [
                        try kernel(
                            part,
                            .init(m: rows, n: outputs, k: inputs, transposedB: true, kind: kind)),
                        try kernel(part, .init(m: rows, n: inputs, k: outputs, kind: kind)),
                    ]
                }
            }
            return wide + thin
        }
    }

    /// LoRA's products at the model's width.
    private var thin: [Kernel] {
        let (tokens, width, rank) = (sizes.tokens, sizes.width, sizes.rank)
        let x = Operands.buffer(tokens * width, stream: 14)
        let a = Operands.buffer(rank * width, stream: 15)
        let reduced = Operands.buffer(tokens * rank, stream: 16)
        let sum = FloatBuffer(count: rank * width)
        func kernel(_ name: String, _ run: @escaping () -> Void) -> Kernel {
            Kernel(
                name: "LoRA \(name)", size: "\(tokens) x \(width) x \(rank)",
                limit: .products(operations: 2 * tokens * width * rank, .thin), run: run)
        }
        return [
            kernel("reduce") {
                LowRank.reduce(
                    x.base, tokens: tokens, columns: width, by: a.base, rank: rank,
                    into: reduced.base)
            },
            kernel("expand") {
                LowRank.expand(
                    reduced.base, tokens: tokens, rank: rank, by: a.base, columns: width,
                    addingTo: x.base)
            },
            kernel("outer") {
                LowRank.outer(
                    reduced.base, tokens: tokens, rank: rank, with: x.base, columns: width,
                    into: sum.base)
            },
        ]
    }
}

extension KernelBench {
    /// Measures every kernel alone on one thread.
    package static func report(tokens: Int) throws -> BenchReport {
        let sizes = KernelSizes(tokens: tokens)
        var results: [KernelResult] = []
        try DecoderThreads(threadCount: 1).forEach(1) { _, _, _ in
            Result { try KernelBench(sizes: sizes).run(.kernels) }
        } receive: { _, measured in
            results = try measured.get()
        }
        return BenchReport(
            .current(),
            [
                ("tokens", .integer(tokens)), ("threads", .integer(1)),
                ("kernels", .list(results.map(\.json))),
            ],
            [
                "one thread, sizes of SmolLM2-135M; the limit of a product is a loop in registers,",
                "the limit of the others a copy that reads and writes as many bytes; the bare tile is",
                "the same fp32 product with its right factor packed before",
            ], [KernelResult.heading] + results.map(\.cells), leftColumns: 2)
    }
}
