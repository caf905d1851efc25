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

INLINE void FN(int8_put)(int8_t *q, i32x16 level, size_t n) {
    const i8x16 narrow = __builtin_convertvector(level, i8x16);
    memcpy(q, &narrow, n);
}

/* v, between -127 and 127, as integers q, and, if there is a second term, 254 (v - q). */
INLINE void FN(int8_chunk)(
    f32x16 v, size_t n, int8_t *q, int8_t *second, i32x16 *sum, i32x16 *second_sum) {
    const f32x16 shifted = v + SKEIN_ROUNDER;
    const i32x16 level = (i32x16)shifted - (int32_t)0x4b400000;
    *sum += level;
    FN(int8_put)(q, level, n);
    if (!second) return;
    const f32x16 rest = (v - (shifted - SKEIN_ROUNDER)) * 254.0f;
    const i32x16 more = (i32x16)(rest + SKEIN_ROUNDER) - (int32_t)0x4b400000;
    *second_sum += more;
    FN(int8_put)(second, more, n);
}

/* x factors factor [count] as integers; sums: of them, and of the second term's. */
INLINE void FN(int8_row)(
    const float *x, const float *factors, size_t count, float factor, int8_t *q, int8_t *second,
    int32_t *sum, int32_t *second_sum) {
    i32x16 sums = 0, second_sums = 0;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const f32x16 v = FN(int8_get)(x + i, factors ? factors + i : NULL, 16) * factor;
        FN(int8_chunk)(v, 16, q + i, second ? second + i : NULL, &sums, &second_sums);
    }
    if (i < count) {
        const size_t n = count - i;
        const f32x16 v = FN(int8_get)(x + i, factors ? factors + i : NULL, n) * factor;
        FN(int8_chunk)(v, n, q + i, second ? second + i : NULL, &sums, &second_sums);
    }
    *sum = __builtin_reduce_add(sums);
    *second_sum = __builtin_reduce_add(second_sums);
}

static void FN(int8_quantize)(
    const float *x, size_t stride_x, size_t rows, size_t k, const float *factors,
    const struct skein_int8_rows *out) {
    const size_t pieces = skein_int8_pieces(k);
    for (size_t r = 0; r < rows; r++) {
        int8_t *const q = out->q + r * out->stride;
        int8_t *const second = out->second ? out->second + r * out->stride : NULL;
        for (size_t piece = 0; piece < pieces; piece++) {
            const size_t first = piece * SKEIN_INT8_PIECE, rest = k - first;
            const size_t count = rest < SKEIN_INT8_PIECE ? rest : SKEIN_INT8_PIECE;
            const float *const from = x + r * stride_x + first;
            const float *const by = factors ? factors + first : NULL;
            const size_t at = r * pieces + piece;
            const int32_t most = FN(int8_most)(from, by, count);
            const float factor = FN(int8_factor)(most, &out->scales[at]);
            int32_t sum = 0, second_sum = 0;
            if (factor == 0) {
                memset(q + first, 0, count);
                if (second) memset(second + first, 0, count);
            } else {
                FN(int8_row)(
                    from, by, count, factor, q + first, second ? second + first : NULL, &sum,
                    &second_sum);
            }
            out->sums[at] = 128 * sum;
            if (second) out->second_sums[at] = 128 * second_sum;
        }
        for (size_t i = k; i < (k + 3) / 4 * 4; i++) {
            q[i] = 0;
            if (second) second[i] = 0;
        }
    }
}

/* One row of weights, padded with zeros to a multiple of 4; its scale. */
static float FN(int8_codes)(const float *w, size_t count, int8_t *codes) {
    float scale;
    int32_t sum, second_sum;
    const float factor = FN(int8_factor)(FN(int8_most)(w, NULL, count), &scale);
    if (factor == 0) memset(codes, 0, count);
    else FN(int8_row)(w, NULL, count, factor, codes, NULL, &sum, &second_sum);
    for (size_t i = count; i < (count + 3) / 4 * 4; i++) codes[i] = 0;
    return scale;
}
