import CSkeinKernels

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
        }
    }
}
