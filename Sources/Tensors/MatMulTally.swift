/// How many products of which shape ran: what a step asks of the machine. One per thread.
public final class MatMulTally {
    /// What computes a product.
    public enum Kind: Sendable {
        /// `MatMul`, fp32.
        case single
        /// `PackedMatrix`, bf16.
        case packed
        /// `LowRank`, fp32.
        case thin
    }

    /// One kind of product.
    public struct Shape: Hashable, Sendable {
        public let kind: Kind
        public let m: Int
        public let n: Int
        public let k: Int
        public let transposedA: Bool
        public let transposedB: Bool

        public init(
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
        public var operations: Int { 2 * m * n * k }
    }

    public private(set) var counts: [Shape: Int] = [:]

    public init() {}

    public func add(_ shape: Shape) {
        counts[shape, default: 0] += 1
    }

    /// Floating-point operations of all products.
    public var operations: Int {
        counts.reduce(0) { $0 + $1.key.operations * $1.value }
    }
}
