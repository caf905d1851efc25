#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "bf16_levels.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

size_t skein_bf16_panel(size_t k) { return (k + 1) / 2 * 2 * SKEIN_BF16_COLUMNS; }

size_t skein_bf16_bytes(size_t k, size_t n) {
    return (n + SKEIN_BF16_COLUMNS - 1) / SKEIN_BF16_COLUMNS * skein_bf16_panel(k) *
           sizeof(uint16_t);
}

/* To the nearest, ties to even; subnormal numbers to zero, NaN stays NaN. Without branches, so that
   the compiler can vectorize it. */
INLINE uint16_t rounded(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t magnitude = bits & 0x7fffffff;
    uint32_t out = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    out = magnitude > 0x7f800000 ? (bits >> 16 | 0x40) : out;
    out = magnitude < 0x00800000 ? (bits >> 16 & 0x8000) : out;
    return (uint16_t)out;
}

INLINE void round_row(const float *restrict x, size_t k, uint16_t *restrict out) {
    for (size_t i = 0; i < k; i++) out[i] = rounded(x[i]);
}

/* One panel from rows w[count <= 32, k], pairs of k from `first` on, by way of rounded rows. */
INLINE void pack_panel(
    const float *w, size_t stride, size_t count, size_t first, size_t k, uint16_t *p) {
    enum { DEPTH = 64 };
    uint16_t rows[SKEIN_BF16_COLUMNS][DEPTH];
    for (size_t i = first; i < k; i += DEPTH) {
        const size_t depth = k - i < DEPTH ? k - i : DEPTH;
        for (size_t c = 0; c < count; c++) {
            round_row(w + c * stride + i, depth, rows[c]);
            if (depth % 2 == 1) rows[c][depth] = 0;
        }
        for (size_t c = count; c < SKEIN_BF16_COLUMNS; c++) memset(rows[c], 0, sizeof rows[c]);
        for (size_t d = 0; d < depth; d += 2)
            for (size_t c = 0; c < SKEIN_BF16_COLUMNS; c++)
                memcpy(p + ((i + d) * SKEIN_BF16_COLUMNS + c * 2), rows[c] + d, 4);
    }
}

/* One pair of k from rows a and b (zeros when there is none), columns from `first` on. */
INLINE void pack_pair(
    const float *restrict a, const float *restrict b, size_t first, size_t n,
    uint16_t *restrict p, size_t panel) {
    for (size_t column = first; column < n; column += SKEIN_BF16_COLUMNS, p += panel) {
        const size_t left = n - column;
        const size_t columns = left < SKEIN_BF16_COLUMNS ? left : SKEIN_BF16_COLUMNS;
        uint16_t even[SKEIN_BF16_COLUMNS] = {0}, odd[SKEIN_BF16_COLUMNS] = {0};
        round_row(a + column, columns, even);
        if (b) round_row(b + column, columns, odd);
        for (size_t c = 0; c < SKEIN_BF16_COLUMNS; c++) {
            p[c * 2] = even[c];
            p[c * 2 + 1] = odd[c];
        }
    }
}

static void round_row_plain(const float *x, size_t k, uint16_t *out) { round_row(x, k, out); }

static void pack_panel_plain(
    const float *w, size_t stride, size_t count, size_t first, size_t k, uint16_t *p) {
    pack_panel(w, stride, count, first, k, p);
}

static void pack_pair_plain(
    const float *a, const float *b, size_t first, size_t n, uint16_t *p, size_t panel) {
    pack_pair(a, b, first, n, p, panel);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void round_row_avx2(
    const float *x, size_t k, uint16_t *out) {
    round_row(x, k, out);
}

__attribute__((target("avx2"))) static void pack_panel_avx2(
    const float *w, size_t stride, size_t count, size_t first, size_t k, uint16_t *p) {
    pack_panel(w, stride, count, first, k, p);
}

__attribute__((target("avx2"))) static void pack_pair_avx2(
    const float *a, const float *b, size_t first, size_t n, uint16_t *p, size_t panel) {
    pack_pair(a, b, first, n, p, panel);
}
#else
#define round_row_avx2 round_row_plain
#define pack_panel_avx2 pack_panel_plain
#define pack_pair_avx2 pack_pair_plain
#endif

void skein_bf16_round_rows(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k, uint16_t *out,
    size_t stride_out) {
    for (size_t r = 0; r < rows; r++, x += stride_x, out += stride_out) {
        size_t done = 0;
#if defined(__x86_64__)
        if (level >= SKEIN_AVX512BF16) done = skein_bf16_round_row_avx512bf16(x, k, out);
        else if (level >= SKEIN_AVX512) done = skein_bf16_round_row_avx512(x, k, out);
#endif
        (level >= SKEIN_AVX2 ? round_row_avx2 : round_row_plain)(x + done, k - done, out + done);
        if (k % 2 == 1) out[k] = 0;
    }
}

void skein_bf16_pack_columns(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t k, uint16_t *p) {
    for (size_t c = 0; c < count; c += SKEIN_BF16_COLUMNS, p += skein_bf16_panel(k)) {
        const size_t columns = count - c < SKEIN_BF16_COLUMNS ? count - c : SKEIN_BF16_COLUMNS;
        const float *rows = w + c * stride;
        size_t done = 0;
#if defined(__x86_64__)
        if (columns == SKEIN_BF16_COLUMNS) {
            if (level >= SKEIN_AVX512BF16)
                done = skein_bf16_pack_panel_avx512bf16(rows, stride, k, p);
            else if (level >= SKEIN_AVX512)
                done = skein_bf16_pack_panel_avx512(rows, stride, k, p);
        }
#endif
        (level >= SKEIN_AVX2 ? pack_panel_avx2 : pack_panel_plain)(
            rows, stride, columns, done, k, p);
    }
}

void skein_bf16_pack_rows(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t n, uint16_t *p,
    size_t panel) {
    for (size_t i = 0; i < count; i += 2, p += 2 * SKEIN_BF16_COLUMNS) {
        const float *a = w + i * stride, *b = i + 1 < count ? a + stride : NULL;
        size_t done = 0;
#if defined(__x86_64__)
        if (level >= SKEIN_AVX512BF16 && b)
            done = skein_bf16_pack_pair_avx512bf16(a, b, n, p, panel);
        else if (level >= SKEIN_AVX512 && b)
            done = skein_bf16_pack_pair_avx512(a, b, n, p, panel);
#endif
        (level >= SKEIN_AVX2 ? pack_pair_avx2 : pack_pair_plain)(
            a, b, done, n, p + done / SKEIN_BF16_COLUMNS * panel, panel);
    }
}
