import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// A few gradients, packed once, that answer every lease of a benchmark.
///
/// Their numbers are made up: sums of uniform numbers, close to a bell curve, in blocks of
/// different magnitude, so that exponents take about as many bits as in a real gradient.
struct PreparedGradients: Sendable {
    private struct Prepared: Sendable {
        let payload: [UInt8]
        let digest: [UInt8]
    }

    let codec: GradientCodec
    let count: Int
    private let prepared: [Prepared]

    init(codec: GradientCodec, count: Int, kinds: Int = 4) {
        self.codec = codec
        self.count = count
        prepared = (0..<kinds).map { kind in
            var gradient = Self.gradient(count, kind)
            let payload = codec.pack(&gradient, seed: 0, step: 1, microBatch: kind)
            return Prepared(
                payload: payload, digest: GradientCodec.digest(of: gradient).bytes)
        }
    }

    private static func gradient(_ count: Int, _ kind: Int) -> [Float] {
        let random = AddressedRandom(seed: UInt64(kind), purpose: .benchmark)
        return (0..<count).map { place in
            let words = random.block(UInt32(truncatingIfNeeded: place))
            let sum = (0..<4).reduce(Float(-2)) { $0 + AddressedRandom.unitFloat(words[$1]) }
            // 4096 numbers, a small matrix, have one magnitude.
            return sum * Float(sign: .plus, exponent: -8 - place / 4096 % 4, significand: 1)
        }
    }

    /// The answer to a lease.
    func result(of lease: LeaseGrant) -> WorkResult {
        let prepared = prepared[Int(lease.key.index) % prepared.count]
        let tokens = lease.rows.reduce(0) { $0 + $1.ids.count }
        let lossTokens = lease.rows.reduce(0) { $0 + $1.targets.reduce(0) { $0 + $1.count } }
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient,
            tokens: UInt32(clamping: tokens), lossTokens: UInt32(clamping: lossTokens), correct: 0,
            lossSum: 2 * Double(lossTokens), digest: prepared.digest, payload: prepared.payload)
    }
}
