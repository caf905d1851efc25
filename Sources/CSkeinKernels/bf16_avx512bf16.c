#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "bf16_levels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))), \
    apply_to = function)

enum { ROWS = 12 };

struct tile {
    const uint16_t *x, *p;
    float *y;
    size_t stride_x, stride_y, pairs;
    __mmask16 left, right;
    int accumulate;
    uint16_t *rounded; /* NULL: sums go to y */
    size_t stride_rounded;
};

static inline __attribute__((always_inline)) __m512bh pair_of(const char *x) {
    int32_t pair;
    memcpy(&pair, x, sizeof pair);
    return (__m512bh)_mm512_set1_epi32(pair);
}

/* R rows x 32 columns in 2 R accumulators. The order of sums is the same for each R. */
static inline __attribute__((always_inline)) void tile_of(const int R, const struct tile *t) {
    __m512 sum[ROWS][2];
    float *y = t->y;
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        if (t->accumulate) {
            sum[r][0] = _mm512_maskz_loadu_ps(t->left, y + (size_t)r * t->stride_y);
            sum[r][1] = _mm512_maskz_loadu_ps(t->right, y + (size_t)r * t->stride_y + 16);
        } else {
            sum[r][0] = sum[r][1] = _mm512_setzero_ps();
        }
    }
    const char *p = (const char *)t->p;
    const size_t stride = t->stride_x * sizeof(uint16_t);
    const char *x[4];
    for (int i = 0; i < 4; i++) x[i] = (const char *)t->x + (size_t)i * 3 * stride;
    for (size_t pairs = t->pairs; pairs > 0; pairs--) {
        const __m512bh left = (__m512bh)_mm512_load_si512(p);
        const __m512bh right = (__m512bh)_mm512_load_si512(p + 64);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            const __m512bh pair = pair_of(x[r / 3] + (size_t)(r % 3) * stride);
            sum[r][0] = _mm512_dpbf16_ps(sum[r][0], left, pair);
            sum[r][1] = _mm512_dpbf16_ps(sum[r][1], right, pair);
        }
        p += 128;
        for (int i = 0; i < 4; i++) x[i] += 4;
    }
    if (t->rounded != NULL) {
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            uint16_t *out = t->rounded + (size_t)r * t->stride_rounded;
            const __m256i left = (__m256i)_mm512_cvtneps_pbh(sum[r][0]);
            const __m256i right = (__m256i)_mm512_cvtneps_pbh(sum[r][1]);
            _mm256_mask_storeu_epi16(out, t->left, left);
            _mm256_mask_storeu_epi16(out + 16, t->right, right);
        }
        return;
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        _mm512_mask_storeu_ps(y + (size_t)r * t->stride_y, t->left, sum[r][0]);
        _mm512_mask_storeu_ps(y + (size_t)r * t->stride_y + 16, t->right, sum[r][1]);
    }
}

#define TILE(R) \
    static __attribute__((noinline)) void tile_##R(const struct tile *t) { tile_of(R, t); }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)
#undef TILE

static void (*const tiles[])(const struct tile *) = {
    tile_1, tile_2, tile_3, tile_4,  tile_5,  tile_6,
    tile_7, tile_8, tile_9, tile_10, tile_11, tile_12,
};

void skein_bf16_multiply_avx512bf16(const struct skein_bf16_product *product) {
    const size_t pairs = (product->k + 1) / 2;
    const size_t blocks = (product->rows + ROWS - 1) / ROWS;
    size_t first = 0;
    do {
        const size_t count = skein_bf16_block(pairs - first);
        for (size_t column = 0; column < product->n; column += SKEIN_BF16_COLUMNS) {
            const size_t columns = product->n - column;
            struct tile t = {
                .p = product->p + column / SKEIN_BF16_COLUMNS * product->panel + first * 64,
                .stride_x = product->stride_x,
                .stride_y = product->stride_y,
                .pairs = count,
                .left = (__mmask16)(columns >= 16 ? 0xffff : (1u << columns) - 1),
                .right = (__mmask16)(
                    columns >= 32 ? 0xffff : columns <= 16 ? 0 : (1u << (columns - 16)) - 1),
                .accumulate = product->accumulate || first > 0,
                .stride_rounded = product->stride_rounded,
            };
            const int rounds = product->rounded != NULL && first + count == pairs;
            for (size_t b = 0; b < blocks; b++) {
                const size_t row = b * ROWS, left = product->rows - row;
                t.x = product->x + row * product->stride_x + 2 * first;
                t.y = product->y + row * product->stride_y + column;
                if (rounds) t.rounded = product->rounded + row * product->stride_rounded + column;
                tiles[(left < ROWS ? left : ROWS) - 1](&t);
            }
        }
        first += count;
    } while (first < pairs);
}

#pragma clang attribute pop
#endif
