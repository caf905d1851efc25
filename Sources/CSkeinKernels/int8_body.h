/* Blocks of 64 numbers as 8-bit levels, at one level of the processor. Divisions, conversions and
   comparisons are exact or rounded once, and nothing is summed: all levels give the same bits. */

#include "philox_body.h"

/* 32 uniform numbers in [0, 1) with 24 random bits: eight blocks of four words, in their order. */
INLINE void FN(uniform)(const u64x8 *w, f32x16 out[2]) {
    const u32x8 a = __builtin_convertvector(w[0], u32x8), b = __builtin_convertvector(w[1], u32x8);
    const u32x8 c = __builtin_convertvector(w[2], u32x8), d = __builtin_convertvector(w[3], u32x8);
    const u64x8 ab = (u64x8)__builtin_shufflevector(
        a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const u64x8 cd = (u64x8)__builtin_shufflevector(
        c, d, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const u32x16 words[2] = {
        (u32x16)__builtin_shufflevector(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11),
        (u32x16)__builtin_shufflevector(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15)};
    UNROLL for (int i = 0; i < 2; i++)
        out[i] = __builtin_convertvector((i32x16)(words[i] >> 8), f32x16) * 0x1p-24f;
}

/* One block; its scale, 0 for a block that became zeros, NaN for one that stays as it is because a
   number in it is not finite. */
INLINE float FN(int8_block)(
    float *x, int8_t *levels, uint32_t key0, uint32_t key1, uint64_t index, uint32_t a,
    uint32_t b) {
    const i32x16 sign = (int32_t)0x80000000;
    f32x16 v[4];
    i32x16 most = 0;
    UNROLL for (int i = 0; i < 4; i++) {
        v[i] = FN(get)(x + 16 * i, 16);
        const i32x16 magnitude = (i32x16)v[i] & ~sign;
        most = magnitude > most ? magnitude : most;
    }
    const int32_t bits = __builtin_reduce_max(most);
    if (bits >= 0x7f800000) return __builtin_nanf("");
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    const float scale = largest / 127;
    /* A subnormal scale has too few bits to bring 127 back to the largest value. */
    if (scale < 0x1p-126f) {
        memset(x, 0, 64 * sizeof(float));
        if (levels) memset(levels, 0, 64);
        return 0;
    }
    const u64x8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    u64x8 w[2][4];
    UNROLL for (int j = 0; j < 2; j++) {
        w[j][0] = lanes + (index * 16 + (uint64_t)(8 * j));
        w[j][1] = (uint64_t)a;
        w[j][2] = (uint64_t)b;
        w[j][3] = 0;
    }
    FN(philox)(w, key0, key1);
    UNROLL for (int j = 0; j < 2; j++) {
        f32x16 u[2];
        FN(uniform)(w[j], u);
        UNROLL for (int i = 0; i < 2; i++) {
            const f32x16 shifted = v[2 * j + i] / scale + u[i];
            i32x16 level = __builtin_convertvector(__builtin_elementwise_floor(shifted), i32x16);
            level = level > 127 ? 127 : level;
            level = level < -127 ? -127 : level;
            FN(put)(x + 32 * j + 16 * i, __builtin_convertvector(level, f32x16) * scale, 16);
            if (levels) {
                const i8x16 narrow = __builtin_convertvector(level, i8x16);
                memcpy(levels + 32 * j + 16 * i, &narrow, sizeof narrow);
            }
        }
    }
    return scale;
}

static void FN(int8_round)(
    float *x, size_t count, uint32_t key0, uint32_t key1, uint32_t a, uint32_t b, int8_t *levels,
    float *scales) {
    const size_t whole = count / 64;
    for (size_t i = 0; i < whole; i++) {
        const float scale = FN(int8_block)(
            x + 64 * i, levels ? levels + 64 * i : NULL, key0, key1, i, a, b);
        if (scales) scales[i] = scale;
    }
    const size_t rest = count - 64 * whole;
    if (rest == 0) return;
    /* Zeros do not change the other numbers of their block. */
    float last[64] = {0};
    int8_t last_levels[64];
    memcpy(last, x + 64 * whole, rest * sizeof(float));
    const float scale = FN(int8_block)(last, last_levels, key0, key1, whole, a, b);
    if (scales) scales[whole] = scale;
    if (scale != scale) return;
    memcpy(x + 64 * whole, last, rest * sizeof(float));
    if (levels) memcpy(levels + 64 * whole, last_levels, rest);
}
