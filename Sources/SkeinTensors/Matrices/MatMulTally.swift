import CSkeinKernels

/// How many products of which shape ran: the work of a step. One per thread.
package final class MatMulTally {
    /// What computes a product.
    package enum Kind: Int, Sendable {
        /// `MatMul`, fp32.
        case single
        /// `PackedMatrix`, bf16.
        case packed
        /// `QuantizedWeight`, 8-bit integers.
        case quantized
        /// `LowRank`, fp32.
        case thin
    }

    /// One kind of product.
    package struct Shape: Hashable, Sendable {
        package let kind: Kind
        package let m: Int
        package let n: Int
        package let k: Int
        package let transposedA: Bool
        package let transposedB: Bool

        package init(
            kind: Kind, m: Int, n: Int, k: Int, transposedA: Bool = false,
            transposedB: Bool = false
        ) {
            self.kind = kind
            self.m = m
            self.n = n
            self.k = k
            self.transposedA = transposedA
            self.transposedB = transposedB
        }

        /// Multiplications and additions of one product.
        package var operations: Int { 2 * m * n * k }
    }

    package private(set) var counts: [Shape: Int] = [:]

    package init() {}

    package func add(_ shape: Shape) {
        counts[shape, default: 0] += 1
    }

    /// Floating-point operations of all products.
    package var operations: Int {
        counts.reduce(0) { $0 + $1.key.operations * $1.value }
    }
}

/// What a thread's registers allow: the multiply-adds of products without their memory accesses,
/// which limits every product (CSkeinKernels/include/peak.h).
package enum RegisterPeak {
    /// Some milliseconds: long enough for a clock, short enough to alternate with what is measured.
    private static let rounds = 400_000

    /// Multiplies and adds on the calling thread, by the instruction that products of this kind use.
    ///
    /// - Returns: the number of floating-point operations.
    @discardableResult
    package static func run(_ kind: MatMulTally.Kind) -> Int {
        switch kind {
        case .single, .thin: skein_peak_fp32(skein_level(), rounds)
        case .packed: skein_peak_bf16(skein_level(), rounds)
        case .quantized: skein_peak_int8(skein_level(), rounds)
        }
    }
}
