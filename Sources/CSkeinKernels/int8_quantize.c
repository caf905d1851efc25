#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_BODY "int8_quantize_body.h"
#include "elementwise_levels.h"

void skein_int8_quantize(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k,
    const float *factors, const struct skein_int8_rows *out) {
    SKEIN_AT(level, int8_quantize)(x, stride_x, rows, k, factors, out);
}

void skein_int8_pack_columns(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t k, uint8_t *p,
    float *scales, int8_t *codes) {
    const size_t panel = skein_int8_panel(k), groups = (k + 3) / 4;
    for (size_t c = 0; c < count; c++) {
        uint8_t *out = p + c / SKEIN_INT8_COLUMNS * panel + c % SKEIN_INT8_COLUMNS * 4;
        scales[c] = SKEIN_AT(level, int8_codes)(w + c * stride, k, codes);
        for (size_t i = 0; i < groups; i++, out += 4 * SKEIN_INT8_COLUMNS) {
            uint32_t four;
            memcpy(&four, codes + 4 * i, 4);
            four ^= 0x80808080;
            memcpy(out, &four, 4);
        }
    }
}

void skein_int8_pack_rows(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t n, uint8_t *p,
    size_t panel, float *scales, int8_t *codes) {
    const size_t row = (n + 3) / 4 * 4;
    for (size_t i = 0; i < count; i += 4, p += 4 * SKEIN_INT8_COLUMNS) {
        for (size_t j = 0; j < 4; j++) {
            if (i + j < count) {
                scales[i + j] = SKEIN_AT(level, int8_codes)(
                    w + (i + j) * stride, n, codes + j * row);
            } else {
                memset(codes + j * row, 0, n);
            }
        }
        for (size_t column = 0; column < n; column += SKEIN_INT8_COLUMNS) {
            const size_t left = n - column;
            const size_t columns = left < SKEIN_INT8_COLUMNS ? left : SKEIN_INT8_COLUMNS;
            uint8_t *restrict out = p + column / SKEIN_INT8_COLUMNS * panel;
            const int8_t *restrict in = codes + column;
            for (size_t c = 0; c < columns; c++)
                for (size_t j = 0; j < 4; j++) out[4 * c + j] = (uint8_t)in[j * row + c] ^ 0x80;
        }
    }
}
