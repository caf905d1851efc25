#pragma STDC FP_CONTRACT OFF

#include "CKernels.h"

#include <string.h>

/* To the nearest, ties to even; subnormal numbers to zero, NaN stays NaN. */
static inline uint16_t rounded(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    if (magnitude < 0x00800000) return (uint16_t)(bits >> 16 & 0x8000);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void round_row(const float *x, size_t k, uint16_t *out) {
    for (size_t i = 0; i < k; i++) out[i] = rounded(x[i]);
}

/* One panel from rows w[count <= 32, k], pairs of k from `first` on. */
static void pack_panel(
    const float *w, size_t stride, size_t count, size_t first, size_t k, uint16_t *p) {
    for (size_t i = first; i < k; i += 2) {
        for (size_t c = 0; c < SKEIN_BF16_COLUMNS; c++) {
            const float *pair = w + c * stride + i;
            p[i * 32 + c * 2] = c < count ? rounded(pair[0]) : 0;
            p[i * 32 + c * 2 + 1] = c < count && i + 1 < k ? rounded(pair[1]) : 0;
        }
    }
}

/* One pair of k from rows a and b (or zeros), columns from `first` on. */
static void pack_pair(
    const float *a, const float *b, size_t first, size_t n, uint16_t *p, size_t panel) {
    for (size_t column = first; column < n; column += SKEIN_BF16_COLUMNS, p += panel) {
        for (size_t c = 0; c < SKEIN_BF16_COLUMNS; c++) {
            p[c * 2] = column + c < n ? rounded(a[column + c]) : 0;
            p[c * 2 + 1] = column + c < n && b ? rounded(b[column + c]) : 0;
        }
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)

/* 16 rounded numbers, each in the low half of its lane. */
static inline __attribute__((always_inline)) __m512i rounded16(__m512i bits) {
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

static size_t round_row_avx512(const float *x, size_t k, uint16_t *out) {
    size_t i = 0;
    for (; i + 16 <= k; i += 16)
        _mm256_storeu_si256(
            (__m256i *)(out + i), _mm512_cvtepi32_epi16(rounded16(_mm512_loadu_si512(x + i))));
    return i;
}

/* 16 x 16 lanes of 32 bits. */
static inline __attribute__((always_inline)) void transpose(__m512i r[16]) {
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

/* 32 rows, 32 k at a time; returns the k that are done. */
static size_t pack_panel_avx512(const float *w, size_t stride, size_t k, uint16_t *p) {
    size_t i = 0;
    for (; i + 32 <= k; i += 32) {
        for (size_t half = 0; half < 2; half++) {
            __m512i r[16];
#pragma clang loop unroll(full)
            for (int c = 0; c < 16; c++) {
                const float *row = w + (half * 16 + (size_t)c) * stride + i;
                const __m512i a = rounded16(_mm512_loadu_si512(row));
                const __m512i b = rounded16(_mm512_loadu_si512(row + 16));
                r[c] = _mm512_inserti64x4(
                    _mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)), _mm512_cvtepi32_epi16(b), 1);
            }
            transpose(r);
#pragma clang loop unroll(full)
            for (size_t pair = 0; pair < 16; pair++)
                _mm512_storeu_si512(p + i * 32 + pair * 64 + half * 32, r[pair]);
        }
    }
    return i;
}

/* Two rows, 32 columns at a time; returns the columns that are done. */
static size_t pack_pair_avx512(
    const float *a, const float *b, size_t n, uint16_t *p, size_t panel) {
    size_t column = 0;
    for (; column + 32 <= n; column += 32, p += panel) {
        for (size_t half = 0; half < 32; half += 16) {
            const __m512i even = rounded16(_mm512_loadu_si512(a + column + half));
            const __m512i odd = rounded16(_mm512_loadu_si512(b + column + half));
            _mm512_storeu_si512(
                p + half * 2, _mm512_or_si512(even, _mm512_slli_epi32(odd, 16)));
        }
    }
    return column;
}

#pragma clang attribute pop
#endif

void skein_bf16_round_rows(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k, uint16_t *out,
    size_t stride_out) {
    for (size_t r = 0; r < rows; r++, x += stride_x, out += stride_out) {
        size_t done = 0;
#if defined(__x86_64__)
        if (level >= SKEIN_AVX512) done = round_row_avx512(x, k, out);
#endif
        round_row(x + done, k - done, out + done);
        if (k % 2 == 1) out[k] = 0;
    }
    (void)level;
}

void skein_bf16_pack_columns(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t k, uint16_t *p) {
    for (size_t c = 0; c < count; c += SKEIN_BF16_COLUMNS, p += skein_bf16_panel(k)) {
        const size_t columns = count - c < SKEIN_BF16_COLUMNS ? count - c : SKEIN_BF16_COLUMNS;
        size_t done = 0;
#if defined(__x86_64__)
        if (level >= SKEIN_AVX512 && columns == SKEIN_BF16_COLUMNS)
            done = pack_panel_avx512(w + c * stride, stride, k, p);
#endif
        pack_panel(w + c * stride, stride, columns, done, k, p);
    }
    (void)level;
}

void skein_bf16_pack_rows(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t n, uint16_t *p,
    size_t panel) {
    for (size_t i = 0; i < count; i += 2, p += 2 * SKEIN_BF16_COLUMNS) {
        const float *a = w + i * stride, *b = i + 1 < count ? a + stride : NULL;
        size_t done = 0;
#if defined(__x86_64__)
        if (level >= SKEIN_AVX512 && b) done = pack_pair_avx512(a, b, n, p, panel);
#endif
        pack_pair(a, b, done, n, p + done / SKEIN_BF16_COLUMNS * panel, panel);
    }
    (void)level;
}
