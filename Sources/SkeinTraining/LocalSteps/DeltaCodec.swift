import SkeinBasics

/// How the change of parameters of a round is coded (`--delta-codec`): on its way from a logical
/// worker, and the average on its way back.
///
/// A pure function of the numbers and of their address (round, logical worker). What coding loses is
/// added to the same sender's next change (error feedback: Seide et al. 2014; Stich et al. 2018), and
/// is a part of the plan's state. So a lossy codec keeps the law: `train` codes, too.
package struct DeltaCodec: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Not rounded.
        case fp32
        /// As `GradientCodec.bf16`.
        case bf16
        /// As `GradientCodec.int8`.
        case int8
        /// The largest numbers, as `int8`; the others are 0.
        case topk
    }

    package let kind: Kind
    /// Share of the numbers that `topk` keeps.
    package let density: Double

    package init(_ kind: Kind, density: Double = 1.0 / 32) {
        self.kind = kind
        self.density = density
    }

    /// Where a change comes from: random numbers are addressed by it.
    struct Address {
        let seed: UInt64
        /// From 1.
        let round: Int
        /// The logical worker, from 0; the average's is the number of workers.
        let sender: Int
    }

    /// The most bytes that `pack` makes of `count` numbers.
    package func mostPackedBytes(count: Int) -> Int {
        guard let gradient else {
            return max(
                GradientCodec.fp32.mostPackedBytes(count: count),
                TopNumbers.mostPackedBytes(kept: TopNumbers.kept(density, of: count)))
        }
        return gradient.mostPackedBytes(count: count)
    }

    /// Rounds `values` in place and packs them. Numbers that are not finite are packed as they are,
    /// so that the run's check sees them.
    ///
    /// - Returns: bytes from which `unpack` makes the rounded numbers, bit for bit.
    func pack(_ values: inout [Float], _ address: Address) -> [UInt8] {
        guard let gradient else {
            guard GradientNorm.firstNotFinite(in: values) == nil else {
                return GradientCodec.packWhole(values, kind: .fp32)
            }
            return TopNumbers.pack(
                &values, kept: TopNumbers.kept(density, of: values.count), address)
        }
        return gradient.pack(
            &values, seed: address.seed, step: address.round, microBatch: address.sender)
    }

    /// Makes the rounded numbers from the bytes of `pack`, bit for bit.
    ///
    /// - Parameters:
    ///   - bytes: from anywhere.
    ///   - count: of the numbers, known to the receiver.
    /// - Returns: `count` numbers.
    /// - Throws: `CodecError`.
    package func unpack(_ bytes: [UInt8], count: Int) throws -> [Float] {
        guard let gradient else {
            return try TopNumbers.unpack(
                bytes, count: count, kept: TopNumbers.kept(density, of: count),
                limit: mostPackedBytes(count: count))
        }
        return try gradient.unpack(bytes, count: count)
    }

    /// The gradient codec that does the same; nil for `topk`.
    private var gradient: GradientCodec? {
        switch kind {
        case .fp32: .fp32
        case .bf16: .bf16
        case .int8: .int8
        case .topk: nil
        }
    }
}
