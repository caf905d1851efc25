/* Numbers as 8-bit integers with one scale, at one level of the processor. Products by one number,
   sums with one number and comparisons are rounded once or exact, and integers are summed: all levels
   give the same bits. */

/* `n` numbers times their factors. */
INLINE f32x16 FN(int8_get)(const float *x, const float *factors, size_t n) {
    return factors ? FN(get)(x, n) * FN(get)(factors, n) : FN(get)(x, n);
}

/* max |x factors| as bits, which are in the order of the numbers; NaN is above infinity. */
INLINE int32_t FN(int8_most)(const float *x, const float *factors, size_t count) {
    const i32x16 magnitude = 0x7fffffff;
    i32x16 most[2] = {0, 0};
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        UNROLL for (int j = 0; j < 2; j++) {
            const size_t at = i + 16 * (size_t)j;
            const f32x16 v = FN(int8_get)(x + at, factors ? factors + at : NULL, 16);
            most[j] = __builtin_elementwise_max(most[j], (i32x16)v & magnitude);
        }
    }
    for (; i < count; i += 16) {
        const size_t n = count - i < 16 ? count - i : 16;
        const f32x16 v = FN(int8_get)(x + i, factors ? factors + i : NULL, n);
        most[0] = __builtin_elementwise_max(most[0], (i32x16)v & magnitude);
    }
    return __builtin_reduce_max(__builtin_elementwise_max(most[0], most[1]));
}

/* What x is multiplied with to lie between -127 and 127; 0 for zeros. `scale` turns it back. */
INLINE float FN(int8_factor)(int32_t bits, float *scale) {
    float most;
    memcpy(&most, &bits, sizeof most);
    if (bits >= 0x7f800000) *scale = __builtin_nanf("");
    else *scale = most < 0x1p-100f ? 0 : most / 127;
    return bits >= 0x7f800000 || most < 0x1p-100f ? 0 : 127 / most;
}

/* 1.5 * 2^23: added to a number below 2^22, it leaves the nearest integer in the lowest bits. */
#define SKEIN_ROUNDER 12582912.0f

/* v, between -127 and 127, as integers q. */
INLINE i32x16 FN(int8_near)(f32x16 v) {
    return (i32x16)(v + SKEIN_ROUNDER) - (int32_t)0x4b400000;
}

INLINE void FN(int8_put)(int8_t *q, i32x16 level, size_t n) {
    const i8x16 narrow = __builtin_convertvector(level, i8x16);
    memcpy(q, &narrow, n);
}

/* A block of `count` numbers; its scale. `sum`: 128 sum of q. */
INLINE float FN(int8_block_of)(
    const float *x, const float *factors, size_t count, int8_t *q, int32_t *sum) {
    const i32x16 magnitude = 0x7fffffff;
    f32x16 v[SKEIN_INT8_BLOCK / 16];
    i32x16 most = 0, sums = 0;
    UNROLL for (size_t i = 0; i < SKEIN_INT8_BLOCK / 16; i++) {
        const size_t at = 16 * i;
        const size_t n = count == SKEIN_INT8_BLOCK || count >= at + 16 ? 16 : count > at ? count - at : 0;
        v[i] = n == 0 ? (f32x16)0 : FN(int8_get)(x + at, factors ? factors + at : NULL, n);
        most = __builtin_elementwise_max(most, (i32x16)v[i] & magnitude);
    }
    float scale;
    const float factor = FN(int8_factor)(__builtin_reduce_max(most), &scale);
    /* Not multiplied by 0: that would leave NaN. */
    if (factor == 0) {
        memset(q, 0, count);
        *sum = 0;
        return scale;
    }
    UNROLL for (size_t i = 0; i < SKEIN_INT8_BLOCK / 16; i++) {
        const size_t at = 16 * i;
        const size_t n = count == SKEIN_INT8_BLOCK || count >= at + 16 ? 16 : count > at ? count - at : 0;
        const i32x16 level = FN(int8_near)(v[i] * factor);
        sums += level;
        if (n > 0) FN(int8_put)(q + at, level, n);
    }
    *sum = 128 * __builtin_reduce_add(sums);
    return scale;
}

static void FN(int8_quantize)(
    const float *x, size_t stride_x, size_t rows, size_t k, const float *factors,
    const struct skein_int8_rows *out) {
    const size_t blocks = skein_int8_blocks(k), whole = k / SKEIN_INT8_BLOCK;
    for (size_t r = 0; r < rows; r++) {
        const float *const from = x + r * stride_x;
        int8_t *const q = out->q + r * out->stride;
        float *const scales = out->scales + r * blocks;
        int32_t *const sums = out->sums + r * blocks;
        for (size_t b = 0; b < whole; b++) {
            const size_t at = b * SKEIN_INT8_BLOCK;
            scales[b] = FN(int8_block_of)(
                from + at, factors ? factors + at : NULL, SKEIN_INT8_BLOCK, q + at, sums + b);
        }
        if (whole < blocks) {
            const size_t at = whole * SKEIN_INT8_BLOCK;
            scales[whole] = FN(int8_block_of)(
                from + at, factors ? factors + at : NULL, k - at, q + at, sums + whole);
        }
        for (size_t i = k; i < (k + 3) / 4 * 4; i++) q[i] = 0;
    }
}

/* One row of weights, padded with zeros to a multiple of 4; its scale. */
static float FN(int8_codes)(const float *w, size_t count, int8_t *codes) {
    float scale;
    const float factor = FN(int8_factor)(FN(int8_most)(w, NULL, count), &scale);
    if (factor == 0) memset(codes, 0, count);
    for (size_t i = 0; factor != 0 && i < count; i += 16) {
        const size_t n = count - i < 16 ? count - i : 16;
        FN(int8_put)(codes + i, FN(int8_near)(FN(get)(w + i, n) * factor), n);
    }
    for (size_t i = count; i < (count + 3) / 4 * 4; i++) codes[i] = 0;
    return scale;
}
