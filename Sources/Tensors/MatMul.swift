import COpenBLAS

/// Matrix products, C = alpha * op(A) op(B) + beta * C, row-major, by OpenBLAS on the calling thread.
///
/// The only importer of COpenBLAS. OpenBLAS is held at one thread: it gives other bits for other
/// thread counts, and two callers at once are as fast as one call on two threads. So a product's bits
/// depend on its operands and shape alone (and on the core type, which the fingerprint names).
public struct MatMul {
    /// Whether an operand is used as it lies in memory or transposed.
    public enum Operand { case plain, transposed }

    /// Counts products when a benchmark asks for it.
    public var tally: MatMulTally?

    public init(tally: MatMulTally? = nil) {
        self.tally = tally
        MatMul.holdOneThread
    }

    private static let holdOneThread: Void = openblas_set_num_threads(1)

    /// Shapes and ranges:
    ///   - m: rows of C and of op(A).
    ///   - n: columns of C and of op(B).
    ///   - k: columns of op(A), rows of op(B).
    ///   - a: op(A) is [m, k]; `strideA` floats from one stored row to the next.
    ///   - b: op(B) is [k, n]; `strideB` floats from one stored row to the next.
    ///   - c: [m, n]; `strideC` floats from one row to the next.
    @inline(__always)
    public func callAsFunction(
        m: Int, n: Int, k: Int,
        _ a: UnsafePointer<Float>, _ opA: Operand = .plain, strideA: Int,
        _ b: UnsafePointer<Float>, _ opB: Operand = .plain, strideB: Int,
        into c: UnsafeMutablePointer<Float>, strideC: Int,
        alpha: Float = 1, beta: Float = 0
    ) {
        if m == 0 || n == 0 { return }
        if let tally {
            tally.add(
                MatMulTally.Shape(
                    kind: .sgemm, m: m, n: n, k: k, transposedA: opA == .transposed,
                    transposedB: opB == .transposed))
        }
        cblas_sgemm(
            CblasRowMajor, opA == .plain ? CblasNoTrans : CblasTrans,
            opB == .plain ? CblasNoTrans : CblasTrans,
            Int32(m), Int32(n), Int32(k), alpha, a, Int32(strideA), b, Int32(strideB),
            beta, c, Int32(strideC))
    }

    /// Version and build options of the loaded OpenBLAS.
    public static var libraryConfiguration: String { String(cString: openblas_get_config()) }

    /// The kernels that the loaded OpenBLAS chose for this CPU, e.g. "SkylakeX".
    public static var coreType: String { String(cString: openblas_get_corename()) }
}
