#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "bf16_levels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)

/* 16 floats to elements, each in the low half of its lane: see `rounded` in bf16_pack.c. */
INLINE __m512i rounded16(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
    const __mmask16 nan = _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(0x7f800000));
    const __mmask16 tiny = _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(0x00800000));
    const __m512i high = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    __m512i out = _mm512_srli_epi32(up, 16);
    out = _mm512_mask_or_epi32(out, nan, high, _mm512_set1_epi32(0x40));
    return _mm512_mask_and_epi32(out, tiny, high, _mm512_set1_epi32(0x8000));
}

INLINE __m512i pair_avx512(__m512 low, __m512 high) {
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi32_epi16(rounded16(low))),
        _mm512_cvtepi32_epi16(rounded16(high)), 1);
}

/* Elements 0, 16, 1, 17, ... 15, 31. */
INLINE __m512i alternating(void) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i second = _mm512_add_epi32(lane, _mm512_set1_epi32(16));
    return _mm512_or_si512(lane, _mm512_slli_epi32(second, 16));
}

/* 16 x 16 lanes of 32 bits. */
INLINE void transpose(__m512i r[16]) {
    __m512i t[16];
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

#define LEVEL avx512
#define PAIR pair_avx512
#include "bf16_pack_body.h"
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))), \
    apply_to = function)

/* VCVTNE2PS2BF16 always flushes subnormal numbers and does not look at the rounding mode. */
INLINE __m512i pair_avx512bf16(__m512 low, __m512 high) {
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

#define LEVEL avx512bf16
#define PAIR pair_avx512bf16
#include "bf16_pack_body.h"
#pragma clang attribute pop
#endif
