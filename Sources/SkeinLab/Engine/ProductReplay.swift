import SkeinBasics
import SkeinModels
import SkeinTensors

/// The matrix products of some work and nothing else: what this machine gives for their shapes.
///
/// Every shape runs as often as it was counted, on operands of its sizes without gaps between rows.
/// They stay in the cache, where a training step fetches other weights for each layer; so the rate
/// is an upper limit, so a share of it is not flattering.
struct ProductReplay: Sendable {
    /// Equal products: op(A) [m, k] times op(B) [k, n].
    struct Product: Sendable, Equatable {
        var m: Int
        var n: Int
        var k: Int
        var transposedA = false
        var transposedB = false
        var kind = MatMulTally.Kind.single
        var count = 1

        /// Floating-point operations of all of them.
        var operations: Int { 2 * m * n * k * count }

        fileprivate var sortKey: [Int] {
            [m, n, k, transposedA ? 1 : 0, transposedB ? 1 : 0, kind.rawValue]
        }
    }

    let products: [Product]
    private let a: FloatBuffer
    private let b: FloatBuffer
    private let c: FloatBuffer
    /// Room for `a` as bf16.
    private let rounded: FloatBuffer
    /// op(B) by its shape, for products in bf16.
    private let packed: [[Int]: PackedMatrix]
    /// op(B) by its shape, for products in int8.
    private let quantized: [[Int]: QuantizedWeight]

    /// Makes operands for one thread.
    ///
    /// - Throws: `PackedMatrixError` when the system has no memory left.
    init(_ products: [Product]) throws {
        self.products = products
        a = Operands.buffer(products.reduce(0) { max($0, $1.m * $1.k) }, stream: 0)
        b = Operands.buffer(products.reduce(0) { max($0, $1.k * $1.n) }, stream: 1)
        c = Operands.buffer(products.reduce(0) { max($0, $1.m * $1.n) }, stream: 2)
        rounded = FloatBuffer(
            count: products.reduce(0) {
                max(
                    $0, RoundedRows.bytes(rows: $1.m, columns: $1.k) / 4,
                    QuantizedRows.bytes(rows: $1.m, columns: $1.k) / 4)
            })
        var packed: [[Int]: PackedMatrix] = [:]
        for product in products
        where product.kind == .packed && packed[[product.k, product.n]] == nil {
            let matrix = try PackedMatrix(outputs: product.n, inputs: product.k, for: .forward)
            matrix.pack(b.base, first: 0, count: product.n)
            packed[[product.k, product.n]] = matrix
        }
        self.packed = packed
        var quantized: [[Int]: QuantizedWeight] = [:]
        for product in products
        where product.kind == .quantized && quantized[[product.k, product.n]] == nil {
            let weight = try QuantizedWeight(outputs: product.n, inputs: product.k)
            let room = FloatBuffer(
                count: QuantizedWeight.packingBytes(rows: product.n, inputs: product.k) / 4)
            // Packing overwrites what it packs, and pads it.
            let copy = Operands.buffer((product.n + 63) / 64 * 64 * product.k, stream: 1)
            weight.pack(copy.base, first: 0, count: product.n, scratch: room.base)
            quantized[[product.k, product.n]] = weight
        }
        self.quantized = quantized
    }

    /// The counted products, sorted so that equal ones follow each other.
    ///
    /// - Throws: `PackedMatrixError` when the system has no memory left.
    init(_ counts: [MatMulTally.Shape: Int]) throws {
        let products = counts.map { shape, count in
            Product(
                m: shape.m, n: shape.n, k: shape.k, transposedA: shape.transposedA,
                transposedB: shape.transposedB, kind: shape.kind, count: count)
        }
        try self.init(products.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) })
    }

    /// About the bytes of one thread's operands for the products with a model's weights: the widest
    /// weight, which is the head's in most models, and in bf16 that weight as it is multiplied.
    static func bytes(_ model: ModelConfiguration, _ compute: ComputeType) -> Int {
        let widest = max(model.vocabularySize, model.feedForwardWidth)
        let weight = MemoryLayout<Float>.size * model.width * widest
        return compute == .fp32 ? weight : weight + weight / 2
    }

    /// Floating-point operations of one run.
    var operations: Int { products.reduce(0) { $0 + $1.operations } }

    /// Computes every product, on the calling thread.
    func run() {
        let matMul = MatMul()
        for product in products {
            if let matrix = packed[[product.k, product.n]], product.kind == .packed {
                run(product, matrix)
                continue
            }
            if let weight = quantized[[product.k, product.n]], product.kind == .quantized {
                run(product, weight)
                continue
            }
            for _ in 0..<product.count {
                matMul(
                    m: product.m, n: product.n, k: product.k,
                    a.base, product.transposedA ? .transposed : .plain,
                    strideA: product.transposedA ? product.m : product.k,
                    b.base, product.transposedB ? .transposed : .plain,
                    strideB: product.transposedB ? product.k : product.n,
                    into: c.base, strideC: product.n)
            }
        }
    }

    private func run(_ product: Product, _ matrix: PackedMatrix) {
        let x = RoundedRows(
            rounding: a.base, stride: product.k, rows: product.m, columns: product.k,
            in: rounded.base)
        for _ in 0..<product.count {
            matrix.multiply(x, into: c.base, stride: product.n)
        }
    }

    private func run(_ product: Product, _ weight: QuantizedWeight) {
        let x = QuantizedRows(
            quantizing: a.base, stride: product.k, rows: product.m, columns: product.k,
            in: rounded.base)
        for _ in 0..<product.count {
            weight.forward(
                rows: 0..<product.n, x, into: c.base, stride: product.n, accumulating: false)
        }
    }
}

extension MatMulTally.Kind {
    /// What computes the products with weights.
    init(_ compute: ComputeType) {
        switch compute {
        case .fp32: self = .single
        case .bf16: self = .packed
        case .int8: self = .quantized
        }
    }

    /// As `--compute` has it.
    var computeName: String {
        switch self {
        case .single, .thin: ComputeType.fp32.rawValue
        case .packed: ComputeType.bf16.rawValue
        case .quantized: ComputeType.int8.rawValue
        }
    }
}

/// Numbers to compute with: neither zeros nor so small that a processor takes longer for them.
enum Operands {
    /// `count` floats in -1 ..< 1, a function of `stream`.
    static func buffer(_ count: Int, stream: UInt32) -> FloatBuffer {
        let buffer = FloatBuffer(count: count)
        let random = AddressedRandom(seed: 0, purpose: .benchmark)
        for start in stride(from: 0, to: count, by: 4) {
            let words = random.block(UInt32(truncatingIfNeeded: start / 4), stream)
            for i in start..<min(start + 4, count) {
                buffer.base[i] = 2 * AddressedRandom.unitFloat(words[i - start]) - 1
            }
        }
        return buffer
    }
}
