/// Where a shell gets its random bytes: the system, or the seed of a simulation.
struct Randomness: Sendable {
    /// Returns that many random bytes.
    let bytes: @Sendable (Int) throws(NodeError) -> [UInt8]

    static let system = Randomness(bytes: SystemRandomness.bytes)

    /// A number from 0 up to 1 (exclusive), for jitter.
    ///
    /// - Throws: `NodeError.systemRefused`.
    func fraction() throws(NodeError) -> Double {
        let word = try bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(word >> 11) / Double(UInt64(1) << 53)
    }
}
