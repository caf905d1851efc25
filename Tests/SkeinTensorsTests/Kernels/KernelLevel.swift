import CSkeinKernels

/// The levels of C kernels that this machine can run, the lowest first.
enum KernelLevel {
    static var all: [skein_level] {
        (SKEIN_PLAIN.rawValue...SKEIN_AVX512BF16.rawValue).map { skein_level($0) }
            .filter { skein_has_level($0) != 0 && $0.rawValue <= max(skein_level(), SKEIN_FUSED) }
    }

    /// The levels with fused multiply-add. They have the same bits in the kernels of rows, in fp32
    /// products and in int8 products.
    static var fused: [skein_level] { all.filter { $0.rawValue >= SKEIN_FUSED.rawValue } }

    /// The levels at which an instruction fuses. They have the same bits in all kernels. Arm has the
    /// instruction from `fused` on. At x86-64's `fused` a function takes its place, too slowly for
    /// bf16 products and text generation, which run the code of `plain` there.
    static var fusedByProcessor: [skein_level] {
        #if arch(arm64)
            return fused
        #else
            return fused.filter { $0.rawValue >= SKEIN_AVX2.rawValue }
        #endif
    }

    private static func max(_ a: skein_level, _ b: skein_level) -> UInt32 {
        Swift.max(a.rawValue, b.rawValue)
    }
}
