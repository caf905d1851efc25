/* Sixteen floats at a time: the vocabulary of the row kernels, written once and compiled for each
   level.

   Included once per level (no guard) with
     FN(name)      the name of a function at this level
     SKEIN_FUSES   1: multiply-add rounds once; 0: a multiplication and an addition
     SKEIN_ZMM     1: sixteen lanes are one register, with mask registers
     SKEIN_BF16    1: there is an instruction that rounds to bf16
   A vector is two registers of AVX2, four of SSE2 or NEON: the order of every sum is the same. */

#ifndef SKEIN_LANES_ONCE
#define SKEIN_LANES_ONCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Vectors wider than a level's registers pass between functions that are always inlined: there
   is no call whose convention could differ. */
#pragma clang diagnostic ignored "-Wpsabi"

typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef double f64x16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef int32_t i32x16 __attribute__((ext_vector_type(16)));
typedef uint32_t u32x16 __attribute__((ext_vector_type(16)));
typedef uint16_t u16x16 __attribute__((ext_vector_type(16)));
typedef uint64_t u64x8 __attribute__((ext_vector_type(8)));
typedef uint8_t u8x8 __attribute__((ext_vector_type(8)));
typedef uint32_t u32x8 __attribute__((ext_vector_type(8)));
typedef int8_t i8x16 __attribute__((ext_vector_type(16)));

#define INLINE static inline __attribute__((always_inline, unused))
#define UNROLL _Pragma("clang loop unroll(full)")
#endif

/* `n` numbers, 1 <= n <= 16; the lanes above hold 0. With a constant 16 only the first branch
   remains. */
INLINE f32x16 FN(get)(const float *x, size_t n) {
    f32x16 v;
    if (n == 16) {
        memcpy(&v, x, sizeof v);
        return v;
    }
#if SKEIN_ZMM
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
#else
    v = 0;
    memcpy(&v, x, n * sizeof(float));
    return v;
#endif
}

INLINE void FN(put)(float *x, f32x16 v, size_t n) {
    if (n == 16) {
        memcpy(x, &v, sizeof v);
        return;
    }
#if SKEIN_ZMM
    _mm512_mask_storeu_ps(x, (__mmask16)((1u << n) - 1), v);
#else
    memcpy(x, &v, n * sizeof(float));
#endif
}

INLINE f32x16 FN(get_bf16)(const uint16_t *x, size_t n) {
    u16x16 v = 0;
    memcpy(&v, x, n * sizeof(uint16_t));
    return (f32x16)(__builtin_convertvector(v, u32x16) << 16);
}

/* Rounded to nearest, ties to even; a NaN keeps its sign and upper bits and becomes quiet. */
INLINE u16x16 FN(rounded)(f32x16 v) {
#if SKEIN_ZMM
    const __m512i bits = (__m512i)v;
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __m512i sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    sum = _mm512_mask_add_epi32(sum, odd, sum, _mm512_set1_epi32(1));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    sum = _mm512_mask_or_epi32(sum, nan, bits, _mm512_set1_epi32(0x400000));
    return (u16x16)_mm512_cvtepi32_epi16(_mm512_srli_epi32(sum, 16));
#else
    const u32x16 bits = (u32x16)v, upper = bits >> 16;
    const u32x16 rounded = (bits + 0x7fff + (upper & 1)) >> 16;
    const u32x16 chosen = (bits & 0x7fffffff) > 0x7f800000 ? (upper | 0x40) : rounded;
    return __builtin_convertvector(chosen, u16x16);
#endif
}

INLINE void FN(put_bf16)(uint16_t *x, f32x16 v, size_t n) {
#if SKEIN_BF16
    /* The processor's own conversion gives the same bits, except that it makes zeros of subnormal
       numbers, which are rare. */
    u16x16 half = (u16x16)_mm512_cvtneps_pbh(v);
    if (__builtin_expect(_mm512_fpclass_ps_mask(v, 0x20), 0)) half = FN(rounded)(v);
#else
    const u16x16 half = FN(rounded)(v);
#endif
    memcpy(x, &half, n * sizeof(uint16_t));
}

/* a * b + c */
INLINE f32x16 FN(fma)(f32x16 a, f32x16 b, f32x16 c) {
#if SKEIN_FUSES
    return __builtin_elementwise_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* The larger of each pair of lanes; `b` when `a` is NaN. */
INLINE f32x16 FN(larger)(f32x16 a, f32x16 b) { return a > b ? a : b; }

/* Sixteen bits of a mask of which `n` belong to the row, from element i = 0 of `mask` on. */
INLINE unsigned FN(mask_bits)(const uint8_t *mask, size_t n) {
    return n > 8 ? mask[0] | (unsigned)mask[1] << 8 : mask[0];
}

/* v where the bit is 1, otherwise 0 (even for NaN). */
INLINE f32x16 FN(kept)(unsigned bits, f32x16 v) {
#if SKEIN_ZMM
    return _mm512_maskz_mov_ps((__mmask16)bits, v);
#else
    const i32x16 bit = {1,      2,      4,      8,      1 << 4,  1 << 5,  1 << 6,  1 << 7,
                        1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const i32x16 all = (int32_t)bits;
    return (f32x16)((i32x16)v & ((all & bit) == bit));
#endif
}

/* The sum of the lanes in a fixed order: halves first. */
INLINE float FN(sum)(f32x16 v) {
    const f32x8 eight = v.lo + v.hi;
    const f32x4 four = eight.lo + eight.hi;
    const f32x2 two = four.lo + four.hi;
    return two.x + two.y;
}

/* The sums of eight vectors, each in the order of `sum`, 24 instructions instead of 64. */
INLINE f32x8 FN(sum_of_eight)(const f32x16 *v) {
    f32x16 halves[4], quarters[2];
    UNROLL for (int i = 0; i < 4; i++) {
        const f32x16 a = v[2 * i], b = v[2 * i + 1];
        halves[i] = __builtin_shufflevector(
            a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
            + __builtin_shufflevector(
                a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
    UNROLL for (int i = 0; i < 2; i++) {
        const f32x16 a = halves[2 * i], b = halves[2 * i + 1];
        quarters[i] = __builtin_shufflevector(
            a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
            + __builtin_shufflevector(
                a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    }
    /* Four lanes of vectors 0, 1, 2, 3 and of 4, 5, 6, 7: pairs of 0, 4, 1, 5, 2, 6, 3, 7. */
    const f32x16 a = quarters[0], b = quarters[1];
    const f32x16 pairs =
        __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
        + __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    return __builtin_shufflevector(pairs, pairs, 0, 4, 8, 12, 2, 6, 10, 14)
        + __builtin_shufflevector(pairs, pairs, 1, 5, 9, 13, 3, 7, 11, 15);
}
