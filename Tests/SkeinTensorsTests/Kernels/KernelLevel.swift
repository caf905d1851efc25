import CSkeinKernels

/// The levels of C kernels that this machine can run.
enum KernelLevel {
    static var all: [skein_level] {
        (SKEIN_PLAIN.rawValue...SKEIN_AVX512BF16.rawValue).map { skein_level($0) }
            .filter { skein_has_level($0) != 0 && $0.rawValue <= max(skein_level(), SKEIN_FUSED) }
    }

    /// Those with fused multiply-add, which have the same bits.
    static var fused: [skein_level] { all.filter { $0.rawValue >= SKEIN_FUSED.rawValue } }

    private static func max(_ a: skein_level, _ b: skein_level) -> UInt32 {
        Swift.max(a.rawValue, b.rawValue)
    }
}
