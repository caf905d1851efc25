/* Numbers rounded to bf16 and transposed for the products of attention, at one level. */

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* 16 x 16 numbers, or pairs of bf16, transposed. */
INLINE void FN(turn)(f32x16 v[16]) {
    f32x16 w[16];
    UNROLL for (int i = 0; i < 16; i += 2) {
        w[i] = SHUFFLE(v[i], v[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
        w[i + 1] =
            SHUFFLE(v[i], v[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    }
    /* v[4 b + c]: column c of each quarter, rows 4 b ... 4 b + 3. */
    UNROLL for (int b = 0; b < 16; b += 4) {
        UNROLL for (int c = 0; c < 4; c += 2) {
            const f32x16 above = w[b + c / 2], below = w[b + 2 + c / 2];
            v[b + c] =
                SHUFFLE(above, below, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
            v[b + c + 1] =
                SHUFFLE(above, below, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
        }
    }
    /* w[i] and w[8 + i]: quarters 0 and 2, 1 and 3 of rows 0 ... 7 (i < 4) or 8 ... 15. */
    UNROLL for (int i = 0; i < 8; i++) {
        const f32x16 above = v[i / 4 * 8 + i % 4], below = v[i / 4 * 8 + 4 + i % 4];
        w[i] = SHUFFLE(above, below, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        w[8 + i] =
            SHUFFLE(above, below, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    }
    UNROLL for (int i = 0; i < 8; i++) {
        const f32x16 above = w[i / 4 * 8 + i % 4], below = w[i / 4 * 8 + 4 + i % 4];
        v[i] = SHUFFLE(above, below, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        v[8 + i] =
            SHUFFLE(above, below, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    }
}

#undef SHUFFLE

static void FN(attention_transpose)(
    const float *x, size_t stride_x, size_t rows, size_t columns, float *out, size_t stride_out) {
    for (size_t r = 0; r < rows; r += 16) {
        const size_t height = rows - r < 16 ? rows - r : 16;
        for (size_t c = 0; c < columns; c += 16) {
            const size_t width = columns - c < 16 ? columns - c : 16;
            const float *const from = x + r * stride_x + c;
            float *const to = out + c * stride_out + r;
            f32x16 v[16];
            if (height == 16 && width == 16) {
                UNROLL for (size_t i = 0; i < 16; i++) v[i] = FN(get)(from + i * stride_x, 16);
                FN(turn)(v);
                UNROLL for (size_t i = 0; i < 16; i++) FN(put)(to + i * stride_out, v[i], 16);
                continue;
            }
            for (size_t i = 0; i < 16; i++) {
                v[i] = i < height ? FN(get)(from + i * stride_x, width) : 0;
            }
            FN(turn)(v);
            for (size_t i = 0; i < width; i++) FN(put)(to + i * stride_out, v[i], height);
        }
    }
}

/* 32 numbers, of which `n` exist, rounded; the others are zero. */
INLINE u32x16 FN(round_pairs)(const float *x, size_t n) {
    const f32x16 low = FN(get)(x, n < 16 ? n : 16);
    const f32x16 high = n > 16 ? FN(get)(x + 16, n < 32 ? n - 16 : 16) : 0;
#if SKEIN_BF16
    return (u32x16)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
#else
    const u16x16 halves[2] = {FN(round)(low), FN(round)(high)};
    u32x16 pairs;
    memcpy(&pairs, halves, sizeof pairs);
    return pairs;
#endif
}

/* Two rows of 32 columns as pairs. */
INLINE void FN(put_row_pair)(uint16_t *p, u32x16 a, u32x16 b) {
    u16x16 above[2], below[2];
    memcpy(above, &a, sizeof a);
    memcpy(below, &b, sizeof b);
    UNROLL for (int half = 0; half < 2; half++) {
        const u32x16 pairs = __builtin_convertvector(above[half], u32x16)
            | __builtin_convertvector(below[half], u32x16) << 16;
        memcpy(p + 32 * half, &pairs, sizeof pairs);
    }
}

/* 16 rows from row t on, 32 columns from column d on, of which `n` exist. */
INLINE void FN(pack_block)(const struct skein_attention_packing *s, size_t t, size_t d, size_t n) {
    f32x16 v[16];
    UNROLL for (size_t i = 0; i < 16; i++) {
        const float *const row = s->x + (t + i) * s->stride + d;
        v[i] = t + i < s->rows ? (f32x16)FN(round_pairs)(row, n) : 0;
    }
    if (s->as_rows) {
        uint16_t *const p = s->as_rows + d * ((s->rows + 1) / 2 * 2) + t * 32;
        UNROLL for (size_t i = 0; i < 16; i += 2) {
            if (t + i < s->rows) FN(put_row_pair)(p + i * 32, (u32x16)v[i], (u32x16)v[i + 1]);
        }
    }
    if (s->as_columns) {
        uint16_t *const p =
            s->as_columns + t / 32 * 32 * ((s->n + 1) / 2 * 2) + d * 32 + t % 32 * 2;
        FN(turn)(v);
        UNROLL for (size_t i = 0; i < 16; i++) {
            if (2 * i < n) memcpy(p + i * 64, &v[i], sizeof v[i]);
        }
    }
}

static void FN(attention_pack)(const struct skein_attention_packing *packing) {
    const struct skein_attention_packing s = *packing;
    for (size_t t = 0; t < (s.rows + 31) / 32 * 32; t += 16) {
        size_t d = 0;
        for (; d + 32 <= s.n; d += 32) FN(pack_block)(&s, t, d, 32);
        if (d < s.n) FN(pack_block)(&s, t, d, s.n - d);
    }
}

static void FN(attention_round)(
    const float *x, size_t stride, size_t rows, size_t n, uint16_t *out, size_t stride_out) {
    for (size_t r = 0; r < rows; r++, x += stride, out += stride_out) {
        for (size_t i = 0; i < n; i += 32) {
            const u32x16 pairs = FN(round_pairs)(x + i, n - i < 32 ? n - i : 32);
            memcpy(out + i, &pairs, sizeof pairs);
        }
    }
}
