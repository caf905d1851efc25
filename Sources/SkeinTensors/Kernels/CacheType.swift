import CSkeinKernels

/// How keys and values are held while text is generated.
///
/// A number's rounding depends on nothing but itself (bf16), or on the numbers of its own head and
/// token (int8, one scale for each), so that it does not matter who wrote it together with what.
package enum CacheType: String, Sendable, CaseIterable {
    case fp32
    case bf16
    case int8

    var kernel: skein_cache_type {
        switch self {
        case .fp32: SKEIN_CACHE_F32
        case .bf16: SKEIN_CACHE_BF16
        case .int8: SKEIN_CACHE_INT8
        }
    }
}
