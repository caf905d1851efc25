import CSkeinKernels

/// The levels of C kernels that this machine can run.
enum KernelLevel {
    static var all: [skein_level] {
        [SKEIN_PLAIN, SKEIN_AVX2, SKEIN_AVX512, SKEIN_AVX512BF16]
            .filter { $0.rawValue <= skein_level().rawValue }
    }
}
