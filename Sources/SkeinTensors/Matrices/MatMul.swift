import CSkeinKernels
import CSkeinOpenBLAS

/// Matrix products, C = op(A) op(B) or C += op(A) op(B), row-major, in fp32 on the calling thread.
///
/// With fused multiply-add (AVX2, AVX-512, Arm) our own kernel computes
/// (CSkeinKernels/include/product.h): an element of C is a sum of chains of fused multiply-adds
/// over k, so its bits depend only on its row of A and column of B, on every such processor. With
/// AVX-512 it is also 4 to 20 % faster than OpenBLAS, which does not know that B is a weight; with
/// AVX2 mostly 7 % slower to 6 % faster (docs/decisions/0008). Elsewhere OpenBLAS computes, on one
/// thread, because its bits vary with the thread count; they also depend on shapes and core type.
///
/// The only importer of CSkeinOpenBLAS. Not Sendable: each thread owns one, with its scratch.
package struct MatMul {
    /// Whether an operand is used as stored or transposed.
    package enum Operand { case plain, transposed }

    /// What a causal mask leaves out, where query i sees the first `seen` + i keys: our own kernel may
    /// leave it out, too.
    package enum Causal {
        case none
        /// Numbers of row i of C from `seen` + i on are not wanted: they may stay, or become any.
        case result(seen: Int)
        /// Numbers of stored row i of A from `seen` + i on are zeros.
        case left(seen: Int)
    }

    /// Counts products when a benchmark asks for it.
    package var tally: MatMulTally?
    /// The calling thread's place among those that help each other; nil: it is alone.
    package private(set) var place: WorkSharing.Place?
    /// Floats of scratch that a product of our own needs.
    static let scratchCount = Int(SKEIN_PRODUCT_SCRATCH)
    private let scratch = FloatBuffer(count: scratchCount)
    /// Replaces the process's level in tests.
    private let level: skein_level?

    package init(tally: MatMulTally? = nil) {
        self.init(tally: tally, level: nil)
    }

    init(tally: MatMulTally? = nil, level: skein_level?) {
        self.tally = tally
        self.level = level
    }

    /// The same for a thread at `place`, with the same scratch.
    package func sharing(_ place: WorkSharing.Place?) -> MatMul {
        var copy = self
        copy.place = place
        return copy
    }

    /// Whether products are chains of fused multiply-adds, not OpenBLAS's.
    package static var isOwn: Bool { isOwn(at: skein_level()) }

    private static func isOwn(at level: skein_level) -> Bool {
        level.rawValue >= SKEIN_FUSED.rawValue
    }

    /// Shapes and ranges:
    ///   - m: rows of C and of op(A).
    ///   - n: columns of C and of op(B).
    ///   - k: columns of op(A), rows of op(B).
    ///   - a: op(A) is [m, k]; `strideA` floats from one stored row to the next.
    ///   - b: op(B) is [k, n]; `strideB` floats from one stored row to the next.
    ///   - c: [m, n]; `strideC` floats from one row to the next.
    ///   - accumulating: whether sums are added to what C holds.
    ///   - causal: what need not be computed.
    package func callAsFunction(
        m: Int, n: Int, k: Int,
        _ a: UnsafePointer<Float>, _ opA: Operand = .plain, strideA: Int,
        _ b: UnsafePointer<Float>, _ opB: Operand = .plain, strideB: Int,
        into c: UnsafeMutablePointer<Float>, strideC: Int, accumulating: Bool = false,
        causal: Causal = .none
    ) {
        if m == 0 || n == 0 { return }
        if let tally {
            // As many multiplications as there are pairs of a query and a key that it sees.
            let mean = { (seen: Int) in seen + ((opA == .plain ? m : k) - 1) / 2 }
            let (rows, columns, depth) =
                switch causal {
                case .none: (m, n, k)
                case .result(let seen): (m, min(n, mean(seen)), k)
                case .left(let seen) where opA == .plain: (m, n, min(k, mean(seen)))
                case .left(let seen): (min(m, mean(seen)), n, k)
                }
            tally.add(
                MatMulTally.Shape(
                    kind: .single, m: rows, n: columns, k: depth, transposedA: opA == .transposed,
                    transposedB: opB == .transposed))
        }
        let level = level ?? skein_level()
        guard Self.isOwn(at: level) else {
            Self.sgemm(
                m: m, n: n, k: k, a, opA, strideA: strideA, b, opB, strideB: strideB, into: c,
                strideC: strideC, accumulating: accumulating)
            return
        }
        let (mask, seen) =
            switch causal {
            case .none: (SKEIN_CAUSAL_NONE, 0)
            case .result(let seen): (SKEIN_CAUSAL_RESULT, seen)
            case .left(let seen):
                (opA == .plain ? SKEIN_CAUSAL_ROWS : SKEIN_CAUSAL_COLUMNS, seen)
            }
        var product = skein_product(
            x: a, row_x: opA == .plain ? strideA : 1, step_x: opA == .plain ? 1 : strideA, w: b,
            stride_w: strideB, transposed: opB == .plain ? 0 : 1, y: c, stride_y: strideC, rows: m,
            n: n, k: k, accumulate: accumulating ? 1 : 0, causal: mask, seen: seen)
        if let place, place.isWorthSharing(columns: n, operations: 2 * m * n * k) {
            share(product, level, place)
        } else {
            skein_multiply(level, &product, scratch.base)
        }
    }

    private func share(_ product: skein_product, _ level: skein_level, _ place: WorkSharing.Place) {
        place.run(columns: product.n) { columns, scratch in
            let first = columns.lowerBound
            var part = product
            part.w += product.transposed != 0 ? first * product.stride_w : first
            part.y += first
            part.n = columns.count
            if part.causal == SKEIN_CAUSAL_RESULT { part.seen -= first }
            skein_multiply(level, &part, scratch)
        }
    }

    /// The same by OpenBLAS, on any processor.
    static func sgemm(
        m: Int, n: Int, k: Int,
        _ a: UnsafePointer<Float>, _ opA: Operand = .plain, strideA: Int,
        _ b: UnsafePointer<Float>, _ opB: Operand = .plain, strideB: Int,
        into c: UnsafeMutablePointer<Float>, strideC: Int, accumulating: Bool = false
    ) {
        holdOneThread
        cblas_sgemm(
            CblasRowMajor, opA == .plain ? CblasNoTrans : CblasTrans,
            opB == .plain ? CblasNoTrans : CblasTrans,
            Int32(m), Int32(n), Int32(k), 1, a, Int32(strideA), b, Int32(strideB),
            accumulating ? 1 : 0, c, Int32(strideC))
    }

    private static let holdOneThread: Void = openblas_set_num_threads(1)

    /// Version and build options of the loaded OpenBLAS.
    package static var libraryConfiguration: String { String(cString: openblas_get_config()) }

    /// The kernels that the loaded OpenBLAS chose for this CPU, e.g. "SkylakeX".
    package static var coreType: String { String(cString: openblas_get_corename()) }
}
