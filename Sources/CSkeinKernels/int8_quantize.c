#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_BODY "int8_quantize_body.h"
#include "elementwise_levels.h"

void skein_int8_quantize(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k,
    const float *factors, const struct skein_int8_rows *out) {
    SKEIN_AT(level, int8_quantize)(x, stride_x, rows, k, factors, out);
}

void skein_int8_turned_codes(
    enum skein_level level, float *w, size_t rows, size_t n, int8_t *codes, size_t stride,
    float *scales) {
    for (size_t first = 0; first < rows; first += SKEIN_INT8_TURN)
        SKEIN_AT(level, int8_turn_rows)(w + first * n, n);
    for (size_t r = 0; r < rows; r++)
        scales[r] = SKEIN_AT(level, int8_codes)(w + r * n, n, codes + r * stride);
}

void skein_int8_pack_columns(
    const int8_t *codes, size_t stride, size_t count, size_t k, uint8_t *p) {
    const size_t panel = skein_int8_panel(k), groups = panel / (4 * SKEIN_INT8_COLUMNS);
    for (size_t c = 0; c < count; c++, codes += stride) {
        uint8_t *out = p + c / SKEIN_INT8_COLUMNS * panel + c % SKEIN_INT8_COLUMNS * 4;
        for (size_t i = 0; i < groups; i++, out += 4 * SKEIN_INT8_COLUMNS) {
            uint32_t four;
            memcpy(&four, codes + 4 * i, 4);
            four ^= 0x80808080;
            memcpy(out, &four, 4);
        }
    }
}

/* Four rows of codes side by side, for one panel. */
static void interleave(
    const int8_t *restrict a, const int8_t *restrict b, const int8_t *restrict c,
    const int8_t *restrict d, size_t columns, uint8_t *restrict out) {
    for (size_t i = 0; i < columns; i++) {
        const uint32_t four = (uint32_t)(uint8_t)a[i] | (uint32_t)(uint8_t)b[i] << 8 |
                              (uint32_t)(uint8_t)c[i] << 16 | (uint32_t)(uint8_t)d[i] << 24;
        const uint32_t shifted = four ^ 0x80808080;
        memcpy(out + 4 * i, &shifted, 4);
    }
}

void skein_int8_pack_rows(
    const int8_t *codes, size_t stride, size_t rows, size_t n, uint8_t *p, size_t panel) {
    for (size_t i = 0; i < rows; i += 4, codes += 4 * stride, p += 4 * SKEIN_INT8_COLUMNS) {
        for (size_t column = 0; column < n; column += SKEIN_INT8_COLUMNS) {
            const int8_t *at = codes + column;
            const size_t left = n - column;
            interleave(
                at, at + stride, at + 2 * stride, at + 3 * stride,
                left < SKEIN_INT8_COLUMNS ? left : SKEIN_INT8_COLUMNS,
                p + column / SKEIN_INT8_COLUMNS * panel);
        }
    }
}
