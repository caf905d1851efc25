#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Functions that pass vectors are always inlined. */
#pragma clang diagnostic ignored "-Wpsabi"

/* Steps of k between two fetches of a cache line of the next panel. */
#ifndef FETCH_EVERY
#define FETCH_EVERY 16
#endif

struct tile {
    const float *x, *w;
    float *y;
    size_t row_x, step_x;
    size_t second; /* floats from the first vector of w to the second */
    size_t step_w, stride_y, depth;
    int accumulate;
};

/* What a causal mask leaves out of a panel. */
struct mask {
    enum skein_causal causal;
    ptrdiff_t edge; /* for its first row, relative to the panel; one further for each row */
};

/* What it leaves out for rows, k and columns from some on. */
static struct mask mask_of(
    const struct skein_product *product, size_t row, size_t k, size_t column) {
    const ptrdiff_t r = (ptrdiff_t)row - (ptrdiff_t)k, seen = product->seen;
    struct mask mask = {product->causal, 0};
    if (mask.causal == SKEIN_CAUSAL_RESULT) mask.edge = seen + (ptrdiff_t)row - (ptrdiff_t)column;
    else mask.edge = mask.causal == SKEIN_CAUSAL_ROWS ? seen + r : r - seen + 1;
    return mask;
}

/* Steps of k that the tile of `row` needs, a tile lying within GRAIN rows; the first step is
   `*begin`. All tiles of GRAIN rows get the same answer, at every level: a zero more or less makes a
   difference beside infinity. */
enum { GRAIN = 12 };
static size_t needed(struct mask mask, size_t row, size_t depth, size_t *begin) {
    *begin = 0;
    const ptrdiff_t first = mask.edge + (ptrdiff_t)(row / GRAIN * GRAIN), end = first + GRAIN - 1;
    if (mask.causal == SKEIN_CAUSAL_ROWS && end < (ptrdiff_t)depth) return end > 0 ? (size_t)end : 0;
    if (mask.causal == SKEIN_CAUSAL_COLUMNS && first > 0) {
        *begin = (size_t)first < depth ? (size_t)first : depth;
        return depth - *begin;
    }
    return depth;
}

/* Cache lines to be packed next: `rows` times `lines`, `burst` of them at a time. */
struct ahead {
    const char *at;
    size_t rows, lines, done, stride, burst;
};

INLINE void fetch(struct ahead *a) {
    for (size_t i = 0; i < a->burst && a->rows > 0; i++) {
        __builtin_prefetch(a->at + 64 * a->done, 0, 2);
        if (++a->done < a->lines) continue;
        a->done = 0;
        a->rows--;
        a->at += a->stride;
    }
}

/* What is packed after the panel before `column`, while `tiles` pass over that panel; nothing at
   the end of a row of panels. */
static struct ahead next_panel(
    const struct skein_product *product, size_t k, size_t depth, size_t column, size_t tiles) {
    if (column >= product->n) return (struct ahead){0};
    const size_t left = product->n - column;
    const size_t columns = left < SKEIN_PRODUCT_COLUMNS ? left : SKEIN_PRODUCT_COLUMNS;
    const size_t rows = product->transposed ? columns : depth;
    const size_t floats = product->transposed ? depth : columns;
    const float *w = product->transposed ? product->w + column * product->stride_w + k
                                         : product->w + k * product->stride_w + column;
    const size_t lines = (floats + 15) / 16;
    const size_t times = tiles * ((depth + FETCH_EVERY - 1) / FETCH_EVERY);
    return (struct ahead){
        .at = (const char *)w, .rows = rows, .lines = lines,
        .stride = product->stride_w * sizeof(float), .burst = rows * lines / (times + 1) + 1};
}

typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(4), may_alias));
typedef double v8d __attribute__((vector_size(64)));

/* out[k][64] = w[c, k] for 16 c and 16 k. */
INLINE void transpose16(const float *w, size_t stride, float *out) {
    v16 r[16], t[16];
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) r[i] = *(const v16u *)(w + (size_t)i * stride);
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 2) {
        t[i] = __builtin_shufflevector(
            r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
        t[i + 1] = __builtin_shufflevector(
            r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 4) {
#pragma clang loop unroll(full)
        for (int j = 0; j < 2; j++) {
            r[i + 2 * j] = (v16)__builtin_shufflevector(
                (v8d)t[i + j], (v8d)t[i + j + 2], 0, 8, 2, 10, 4, 12, 6, 14);
            r[i + 2 * j + 1] = (v16)__builtin_shufflevector(
                (v8d)t[i + j], (v8d)t[i + j + 2], 1, 9, 3, 11, 5, 13, 7, 15);
        }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
#pragma clang loop unroll(full)
        for (int j = 0; j < 2; j++) {
            t[8 * j + i] = (v16)__builtin_shufflevector(
                (v8d)r[8 * j + i], (v8d)r[8 * j + i + 4], 0, 1, 4, 5, 8, 9, 12, 13);
            t[8 * j + i + 4] = (v16)__builtin_shufflevector(
                (v8d)r[8 * j + i], (v8d)r[8 * j + i + 4], 2, 3, 6, 7, 10, 11, 14, 15);
        }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
        /* Lanes i % 4 and 8 + i % 4, or those 4 further on. */
        const v16 even = (v16)__builtin_shufflevector(
            (v8d)t[i], (v8d)t[i + 8], 0, 1, 4, 5, 8, 9, 12, 13);
        const v16 odd = (v16)__builtin_shufflevector(
            (v8d)t[i], (v8d)t[i + 8], 2, 3, 6, 7, 10, 11, 14, 15);
        *(v16u *)(out + i * SKEIN_PRODUCT_COLUMNS) = even;
        *(v16u *)(out + (i + 8) * SKEIN_PRODUCT_COLUMNS) = odd;
    }
}

#define LEVEL plain
#define LANES 4
#define ROWS 4
#define WIDE 0
#define FUSED 0
#include "product_body.h"

#define LEVEL fused
#define LANES 4
#if defined(__aarch64__)
#define ROWS 12
#else
#define ROWS 4
#endif
#define WIDE 0
#define FUSED 1
#include "product_body.h"

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define LEVEL avx2
#define LANES 8
#define ROWS 6
#define WIDE 0
#define FUSED 1
#include "product_body.h"
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#define LEVEL avx512
#define LANES 16
#define ROWS 12
#define WIDE 6
#define FUSED 1
#include "product_body.h"
#pragma clang attribute pop
#endif

void skein_multiply(enum skein_level level, const struct skein_product *product, float *scratch) {
    if (product->rows == 0 || product->n == 0) return;
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512) {
        product_avx512(product, scratch);
        return;
    }
    if (level >= SKEIN_AVX2) {
        product_avx2(product, scratch);
        return;
    }
#endif
    if (level < SKEIN_FUSED) __builtin_trap();
    product_fused(product, scratch);
}

void skein_multiply_panel(enum skein_level level, const struct skein_panel *panel) {
    struct ahead nothing = {0};
    const struct mask none = {SKEIN_CAUSAL_NONE, 0};
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512) {
        panel_avx512(panel, none, &nothing);
        return;
    }
    if (level >= SKEIN_AVX2) {
        panel_avx2(panel, none, &nothing);
        return;
    }
#endif
    (level >= SKEIN_FUSED ? panel_fused : panel_plain)(panel, none, &nothing);
}
