#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
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
#if defined(__aarch64__)
LOOP(fp32_fused, 4, 24, ROUND_ONCE)
#endif

/* Likewise sums of integers; PRODUCTS is how many each sum takes at once. A factor would stay the same
   in all rounds, and the compiler would multiply once before them: SAME hides from it that it does. */
#define SUMS(NAME, BYTES, CHAINS, PRODUCTS, STEP)                              \
    static size_t NAME(size_t rounds) {                                        \
        typedef unsigned ints __attribute__((vector_size(BYTES)));             \
        volatile unsigned from[2] = {0x01030205, 0x07040106};                  \
        ints x = from[0] - (ints){};                                           \
        const ints w = from[1] - (ints){};                                     \
        ints sum[CHAINS];                                                      \
        for (int i = 0; i < CHAINS; i++) sum[i] = (unsigned)i - (ints){};      \
        for (size_t r = 0; r < rounds; r++) {                                  \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; i++) { \
                SAME(x);                                                       \
                sum[i] = STEP(sum[i], x, w);                                   \
            }                                                                  \
        }                                                                      \
        for (int i = 1; i < CHAINS; i++) sum[0] += sum[i];                     \
        volatile unsigned used = sum[0][0] + sum[0][BYTES / 4 - 1];            \
        (void)used;                                                            \
        return rounds * CHAINS * (BYTES / 4) * PRODUCTS * 2;                   \
    }

#if defined(__x86_64__)
#define SAME(x) __asm__("" : "+v"(x))
#define PAIRS(sum, x, w) ((sum) + (ints)_mm_madd_epi16((__m128i)(x), (__m128i)(w)))
SUMS(int8_plain, 16, 12, 2, PAIRS)
#undef PAIRS
#elif defined(__aarch64__)
#define SAME(x) __asm__("" : "+w"(x))
#define HALF(x) vget_low_s8((int8x16_t)(x))
#define PAIRS(sum, x, w) ((ints)vpadalq_s16((int32x4_t)(sum), vmull_s8(HALF(x), HALF(w))))
SUMS(int8_plain, 16, 12, 2, PAIRS)
#undef PAIRS
#undef HALF

#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#define FOURS(sum, x, w) ((ints)vdotq_s32((int32x4_t)(sum), (int8x16_t)(x), (int8x16_t)(w)))
SUMS(int8_dotprod, 16, 24, 4, FOURS)
#undef FOURS
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#define EIGHTS(sum, x, w) ((ints)vusmmlaq_s32((int32x4_t)(sum), (uint8x16_t)(x), (int8x16_t)(w)))
SUMS(int8_i8mm, 16, 24, 8, EIGHTS)
#undef EIGHTS
#pragma clang attribute pop
#else
/* Here a sum is a factor, too, so that there is nothing to hide. */
#define SAME(x) (void)0
#define MULTIPLIED(sum, x, w) ((sum) * (x) + (w))
SUMS(int8_plain, 16, 12, 1, MULTIPLIED)
#endif

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
LOOP(fp32_avx2, 8, 12, ROUND_ONCE)
#define PAIRS(sum, x, w) ((sum) + (ints)_mm256_madd_epi16((__m256i)(x), (__m256i)(w)))
SUMS(int8_avx2, 32, 12, 2, PAIRS)
#undef PAIRS
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#define FOURS(sum, x, w) ((ints)_mm256_dpbusd_avx_epi32((__m256i)(sum), (__m256i)(x), (__m256i)(w)))
SUMS(int8_avxvnni, 32, 12, 4, FOURS)
#undef FOURS
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
LOOP(fp32_avx512, 16, 24, ROUND_ONCE)
#define PAIRS(sum, x, w) ((sum) + (ints)_mm512_madd_epi16((__m512i)(x), (__m512i)(w)))
SUMS(int8_avx512, 64, 24, 2, PAIRS)
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))), apply_to = function)
#define FOURS(sum, x, w) ((ints)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(x), (__m512i)(w)))
SUMS(int8_avx512vnni, 64, 24, 4, FOURS)
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
#if defined(__aarch64__)
    if (level >= SKEIN_FUSED) return fp32_fused(rounds);
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

size_t skein_peak_int8(enum skein_level level, size_t rounds) {
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512VNNI) return int8_avx512vnni(rounds);
    if (level >= SKEIN_AVX512) return int8_avx512(rounds);
    if (level >= SKEIN_AVXVNNI) return int8_avxvnni(rounds);
    if (level >= SKEIN_AVX2) return int8_avx2(rounds);
#elif defined(__aarch64__)
    if (level >= SKEIN_I8MM) return int8_i8mm(rounds);
    if (level >= SKEIN_DOTPROD) return int8_dotprod(rounds);
#endif
    (void)level;
    return int8_plain(rounds);
}
