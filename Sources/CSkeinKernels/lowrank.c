#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_BODY "lowrank_body.h"
#include "elementwise_levels.h"

void skein_lowrank_reduce(
    enum skein_level level, const float *x, size_t tokens, size_t columns, const float *a,
    size_t stride_a, size_t rank, float scale, const uint8_t *mask, float kept_scale,
    float *reduced) {
    SKEIN_AT(level, lowrank_reduce)
    (x, tokens, columns, a, stride_a, rank, scale, mask, kept_scale, reduced);
}

void skein_lowrank_expand(
    enum skein_level level, const float *reduced, size_t tokens, size_t rank, const float *a,
    size_t stride_a, size_t columns, const uint8_t *mask, float kept_scale, float *y,
    size_t stride_y) {
    SKEIN_AT(level, lowrank_expand)
    (reduced, tokens, rank, a, stride_a, columns, mask, kept_scale, y, stride_y);
}

void skein_lowrank_outer(
    enum skein_level level, const float *reduced, size_t tokens, size_t rank, const float *x,
    size_t columns, const uint8_t *mask, float kept_scale, float *d) {
    SKEIN_AT(level, lowrank_outer)(reduced, tokens, rank, x, columns, mask, kept_scale, d);
}

/* Four by four: the baseline's registers hold that, and memory is the limit beyond. */
void skein_transpose(const float *x, size_t rows, size_t columns, float *out) {
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        const float *const in = x + i * columns;
        size_t j = 0;
        for (; j + 4 <= columns; j += 4) {
            f32x4 v[4];
            for (int r = 0; r < 4; r++) memcpy(&v[r], in + r * columns + j, sizeof v[r]);
            const f32x4 a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
            const f32x4 b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
            const f32x4 c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
            const f32x4 d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
            v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
            v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
            v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
            v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
            for (int r = 0; r < 4; r++) memcpy(out + (j + r) * rows + i, &v[r], sizeof v[r]);
        }
        for (; j < columns; j++) {
            for (size_t r = 0; r < 4; r++) out[j * rows + i + r] = in[r * columns + j];
        }
    }
    for (; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) out[j * rows + i] = x[i * columns + j];
    }
}
