#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The numbers stay small and neither zero nor subnormal, however long the chains are. */
static const float one_factor = 0x1.5p-10f, other_factor = 0x1.3p-10f;

#define LOOP(NAME, LANES, CHAINS, STEP)                                        \
    static size_t NAME(size_t rounds) {                                        \
        typedef float floats __attribute__((vector_size(LANES * 4)));          \
        volatile float from[2] = {one_factor, other_factor};                   \
        const floats x = from[0] - (floats){}, w = from[1] - (floats){};       \
        floats sum[CHAINS];                                                    \
        for (int i = 0; i < CHAINS; i++) sum[i] = (float)i - (floats){};       \
        for (size_t r = 0; r < rounds; r++) {                                  \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; i++) \
                sum[i] = STEP(sum[i], x, w);                                   \
        }                                                                      \
        for (int i = 1; i < CHAINS; i++) sum[0] += sum[i];                     \
        volatile float used = sum[0][0] + sum[0][LANES - 1];                   \
        (void)used;                                                            \
        return rounds * CHAINS * LANES * 2;                                    \
    }

#define ROUND_TWICE(sum, x, w) ((sum) * (x) + (w))
#define ROUND_ONCE(sum, x, w) __builtin_elementwise_fma(x, w, sum)

LOOP(fp32_plain, 4, 12, ROUND_TWICE)

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
LOOP(fp32_avx2, 8, 12, ROUND_ONCE)
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
LOOP(fp32_avx512, 16, 24, ROUND_ONCE)
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))), apply_to = function)
#define ROUND_PAIRS(sum, x, w) ((floats)_mm512_dpbf16_ps((__m512)(sum), (__m512bh)(x), (__m512bh)(w)))
LOOP(bf16_avx512bf16, 16, 24, ROUND_PAIRS)
#pragma clang attribute pop
#endif

size_t skein_peak_fp32(enum skein_level level, size_t rounds) {
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512) return fp32_avx512(rounds);
    if (level >= SKEIN_AVX2) return fp32_avx2(rounds);
#endif
    (void)level;
    return fp32_plain(rounds);
}

size_t skein_peak_bf16(enum skein_level level, size_t rounds) {
#if defined(__x86_64__)
    /* A vector holds twice as many bf16 numbers as floats. */
    if (level >= SKEIN_AVX512BF16) return 2 * bf16_avx512bf16(rounds);
#endif
    return skein_peak_fp32(level, rounds);
}
