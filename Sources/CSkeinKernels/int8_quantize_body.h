/* Numbers as 8-bit integers with one scale, at one level of the processor. Each sum of two numbers and
   each product is rounded once, in a stated order, and integers are summed: all levels give the same
   bits. */

/* The Walsh-Hadamard transform of 64 numbers: sums and differences of all, without a division by 8. */
INLINE void FN(int8_turn)(f32x16 v[4]) {
    /* Products with these are exact. */
    const float m = -1;
    const f32x16 one = {1, m, 1, m, 1, m, 1, m, 1, m, 1, m, 1, m, 1, m};
    const f32x16 two = {1, 1, m, m, 1, 1, m, m, 1, 1, m, m, 1, 1, m, m};
    const f32x16 four = {1, 1, 1, 1, m, m, m, m, 1, 1, 1, 1, m, m, m, m};
    const f32x16 eight = {1, 1, 1, 1, 1, 1, 1, 1, m, m, m, m, m, m, m, m};
    UNROLL for (int i = 0; i < 4; i++) {
        v[i] = FN(fma)(v[i], one, __builtin_shufflevector(
            v[i], v[i], 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
        v[i] = FN(fma)(v[i], two, __builtin_shufflevector(
            v[i], v[i], 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
        v[i] = FN(fma)(v[i], four, __builtin_shufflevector(
            v[i], v[i], 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
        v[i] = FN(fma)(v[i], eight, __builtin_shufflevector(
            v[i], v[i], 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    }
    const f32x16 a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
}

/* What numbers, the largest of which has these bits, are multiplied with to lie between -127 and 127;
   0 for zeros and for what is not finite. `scale` turns them back, and an eighth of the transform. */
INLINE float FN(int8_factor)(int32_t bits, float *scale) {
    float most;
    memcpy(&most, &bits, sizeof most);
    if (bits >= 0x7f800000) *scale = __builtin_nanf("");
    else *scale = most < 0x1p-100f ? 0 : most / 127 * 0x1p-3f;
    return bits >= 0x7f800000 || most < 0x1p-100f ? 0 : 127 / most;
}

/* The largest |x| of some lanes as bits, which are in the order of the numbers; NaN is above infinity. */
INLINE i32x16 FN(int8_larger)(i32x16 most, f32x16 v) {
    const i32x16 magnitude = 0x7fffffff;
    return __builtin_elementwise_max(most, (i32x16)v & magnitude);
}

/* 1.5 * 2^23: added to a number below 2^22, it leaves the nearest integer in the lowest bits. */
#define SKEIN_ROUNDER 12582912.0f

/* v, between -127 and 127, as integers. */
INLINE i32x16 FN(int8_near)(f32x16 v) {
    return (i32x16)(v + SKEIN_ROUNDER) - (int32_t)0x4b400000;
}

INLINE void FN(int8_put)(int8_t *q, i32x16 level, size_t n) {
    const i8x16 narrow = __builtin_convertvector(level, i8x16);
    memcpy(q, &narrow, n);
}

/* 64 numbers, of which `count` are in memory and the others are zeros, turned. */
INLINE void FN(int8_turned)(const float *x, const float *factors, size_t count, f32x16 v[4]) {
    UNROLL for (size_t i = 0; i < 4; i++) {
        const size_t at = 16 * i;
        const size_t n = count == 64 || count >= at + 16 ? 16 : count > at ? count - at : 0;
        v[i] = n == 0 ? (f32x16)0 : FN(get)(x + at, n);
    }
    FN(int8_turn)(v);
    if (factors) UNROLL for (size_t i = 0; i < 4; i++) v[i] *= FN(get)(factors + 16 * i, 16);
}

/* A block of `turns` times 64 numbers, of which `count` are in memory; its scale. `sum`: 128 sum of
   q. */
INLINE float FN(int8_block_of)(
    const size_t turns, const float *x, const float *factors, size_t count, int8_t *q,
    int32_t *sum) {
    f32x16 v[8];
    UNROLL for (size_t i = 0; i < turns; i++) {
        const size_t at = 64 * i, n = count == 64 * turns || count - at > 64 ? 64 : count - at;
        FN(int8_turned)(x + at, factors ? factors + at : NULL, n, v + 4 * i);
    }
    i32x16 most = 0, sums = 0;
    UNROLL for (size_t i = 0; i < 4 * turns; i++) most = FN(int8_larger)(most, v[i]);
    float scale;
    const float factor = FN(int8_factor)(__builtin_reduce_max(most), &scale);
    /* Not multiplied by 0: that would leave NaN. */
    if (factor == 0) {
        memset(q, 0, 64 * turns);
        *sum = 0;
        return scale;
    }
    UNROLL for (size_t i = 0; i < 4 * turns; i++) {
        const i32x16 level = FN(int8_near)(v[i] * factor);
        sums += level;
        FN(int8_put)(q + 16 * i, level, 16);
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
                2, from + at, factors ? factors + at : NULL, SKEIN_INT8_BLOCK, q + at, sums + b);
        }
        if (whole < blocks) {
            const size_t at = whole * SKEIN_INT8_BLOCK;
            const float *const some = factors ? factors + at : NULL;
            scales[whole] = k - at > SKEIN_INT8_TURN
                ? FN(int8_block_of)(2, from + at, some, k - at, q + at, sums + whole)
                : FN(int8_block_of)(1, from + at, some, k - at, q + at, sums + whole);
        }
    }
}

/* The transform over 64 rows of n numbers, in place. */
static void FN(int8_turn_rows)(float *w, size_t n) {
    for (size_t distance = 1; distance < 64; distance *= 2) {
        for (size_t r = 0; r < 64; r++) {
            if (r & distance) continue;
            float *const a = w + r * n, *const b = w + (r + distance) * n;
            for (size_t i = 0; i < n; i += 16) {
                const size_t count = n - i < 16 ? n - i : 16;
                const f32x16 x = FN(get)(a + i, count), y = FN(get)(b + i, count);
                FN(put)(a + i, x + y, count);
                FN(put)(b + i, x - y, count);
            }
        }
    }
}

/* One row as it is; its scale. */
static float FN(int8_codes)(const float *w, size_t count, int8_t *codes) {
    i32x16 most = 0;
    for (size_t i = 0; i < count; i += 16)
        most = FN(int8_larger)(most, FN(get)(w + i, count - i < 16 ? count - i : 16));
    float scale;
    const float factor = FN(int8_factor)(__builtin_reduce_max(most), &scale);
    if (factor == 0) memset(codes, 0, count);
    for (size_t i = 0; factor != 0 && i < count; i += 16) {
        const size_t n = count - i < 16 ? count - i : 16;
        FN(int8_put)(codes + i, FN(int8_near)(FN(get)(w + i, n) * factor), n);
    }
    return scale;
}
