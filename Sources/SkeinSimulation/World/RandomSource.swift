/// Random bytes of one process.
final class RandomSource: @unchecked Sendable {
    // Sendable: used on the world's thread alone.
    private var random: SplitMix

    init(_ seed: UInt64) { random = SplitMix(state: seed) }

    func bytes(_ count: Int) -> [UInt8] { random.bytes(count) }
}
