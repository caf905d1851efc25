/// How many products of which shape ran: the work of a step. One per thread.
package final class MatMulTally {
    /// What computes a product.
    package enum Kind: Sendable {
        /// `MatMul`, fp32.
        case single
        /// `PackedMatrix`, bf16.
        case packed
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
