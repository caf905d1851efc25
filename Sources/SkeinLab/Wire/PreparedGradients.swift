import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinRows
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
    private let recipe: WorkRecipe
    private let prepared: [Prepared]

    init(codec: GradientCodec, count: Int, kinds: Int = 4) {
        recipe = Self.recipe(codec)
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

    /// The recipe of the run that is benchmarked; it has no model.
    static func recipe(_ codec: GradientCodec) -> WorkRecipe {
        WorkRecipe(model: noModel, configuration(codec))
    }

    /// In place of a model's SHA-256.
    static let noModel = [UInt8](repeating: 0, count: 32)

    /// The options of that run.
    static func configuration(_ codec: GradientCodec) -> TrainingConfiguration {
        var configuration = TrainingConfiguration.fixed
        configuration.gradientCodec = codec
        return configuration
    }

    /// The answer to a lease.
    func result(of lease: LeaseGrant) -> WorkResult {
        let prepared = prepared[Int(lease.key.index) % prepared.count]
        let tokens = lease.rows.reduce(0) { $0 + $1.ids.count }
        let lossTokens = lease.rows.reduce(0) { $0 + $1.targets.reduce(0) { $0 + $1.count } }
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient,
            tokens: UInt32(clamping: tokens), lossTokens: UInt32(clamping: lossTokens), correct: 0,
            lossSum: 2 * Double(lossTokens), digest: prepared.digest,
            inputs: WorkInputs(recipe, lease, rows: lease.rows.map { TokenizedRow($0) }).digest
                .bytes,
            payload: prepared.payload)
    }
}
