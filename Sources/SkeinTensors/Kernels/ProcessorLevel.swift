import CSkeinKernels

/// Which of a processor's instructions the kernels use; each level includes those below it, except
/// that x86-64 includes no level of Arm above `fused`, and AVX-512 does not include AVX-VNNI.
package enum ProcessorLevel: String, Sendable, CaseIterable {
    /// What every machine has; no fused multiply-add.
    case plain
    /// Fused multiply-add: Arm; elsewhere in software, slowly.
    case fused
    /// Arm with SDOT (FEAT_DotProd).
    case dotprod
    /// Arm with USMMLA (FEAT_I8MM).
    case i8mm
    /// AVX2, FMA, F16C.
    case avx2
    /// AVX2 with VPDPBUSD of 256 bits.
    case avxvnni
    /// AVX-512 F, BW, DQ and VL.
    case avx512
    /// AVX-512 with VPDPBUSD of 512 bits.
    case avx512vnni
    /// The same with VDPBF16PS.
    case avx512bf16

    private var kernel: skein_level {
        switch self {
        case .plain: SKEIN_PLAIN
        case .fused: SKEIN_FUSED
        case .dotprod: SKEIN_DOTPROD
        case .i8mm: SKEIN_I8MM
        case .avx2: SKEIN_AVX2
        case .avxvnni: SKEIN_AVXVNNI
        case .avx512: SKEIN_AVX512
        case .avx512vnni: SKEIN_AVX512VNNI
        case .avx512bf16: SKEIN_AVX512BF16
        }
    }

    /// The level in use.
    package static var current: ProcessorLevel {
        allCases.last { $0.kernel.rawValue <= skein_level().rawValue } ?? .plain
    }

    /// Uses this level, or the highest below it that exists. Call before anything computes.
    package func use() {
        _ = skein_use_level(kernel)
    }
}
