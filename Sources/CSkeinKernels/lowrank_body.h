/* The thin products at one level. Tiles are chosen so that their sums stay in registers: rows x
   ranks for reduce, rows for expand, columns x ranks for outer. No tile changes the order of a
   sum. */

/* Rows, a multiple of REDUCE_ROWS, and the most columns of a block of reduce; of more than these it takes
   two thirds, a multiple of 16: 24 KB of lanes and 16 KB of eight ranks. */
#define REDUCE_BLOCK 48
#define REDUCE_COLUMNS 768

#if SKEIN_ZMM
#define REDUCE_ROWS 3
#define REDUCE_RANKS 8
#define EXPAND_ROWS 3
#define OUTER_CHUNKS 3
#define OUTER_RANKS 8
#elif SKEIN_FUSES
#define REDUCE_ROWS 1
#define REDUCE_RANKS 4
#define EXPAND_ROWS 1
#define OUTER_CHUNKS 1
#define OUTER_RANKS 4
#else
#define REDUCE_ROWS 1
#define REDUCE_RANKS 2
#define EXPAND_ROWS 1
#define OUTER_CHUNKS 1
#define OUTER_RANKS 2
#endif

/* `n` kept numbers of a row from element `i`, a multiple of 16. */
INLINE f32x16 FN(get_kept)(const float *x, const uint8_t *mask, size_t i, size_t n) {
    const f32x16 v = FN(get)(x + i, n);
    return mask ? FN(kept)(FN(mask_bits)(mask + i / 8, n), v) : v;
}

INLINE void FN(reduce_step)(
    const float *x, const uint8_t *mask, size_t columns, size_t bytes, const float *a,
    size_t stride_a, int rows, int ranks, size_t i, size_t n, f32x16 (*sums)[8]) {
    f32x16 v[REDUCE_ROWS];
    UNROLL for (int t = 0; t < rows; t++) {
        v[t] = FN(get_kept)(x + t * columns, mask ? mask + t * bytes : NULL, i, n);
    }
    UNROLL for (int r = 0; r < ranks; r++) {
        const f32x16 w = FN(get)(a + r * stride_a + i, n);
        UNROLL for (int t = 0; t < rows; t++) sums[t][r] = FN(fma)(v[t], w, sums[t][r]);
    }
}

/* Adds columns first ..< end to the sixteen partial sums of each of rows x ranks products, which start
   at zero if `first` does. */
INLINE void FN(reduce_lanes)(
    const float *x, const uint8_t *mask, size_t columns, const float *a, size_t stride_a, int rows,
    int ranks, size_t first, size_t end, f32x16 (*out)[8]) {
    const size_t bytes = (columns + 7) / 8;
    f32x16 sums[REDUCE_ROWS][8];
    UNROLL for (int t = 0; t < rows; t++) {
        UNROLL for (int r = 0; r < ranks; r++) sums[t][r] = first == 0 ? (f32x16)0 : out[t][r];
    }
    size_t i = first;
    for (; i + 16 <= end; i += 16) {
        FN(reduce_step)(x, mask, columns, bytes, a, stride_a, rows, ranks, i, 16, sums);
    }
    if (i < end) {
        FN(reduce_step)(x, mask, columns, bytes, a, stride_a, rows, ranks, i, end - i, sums);
    }
    UNROLL for (int t = 0; t < rows; t++) {
        UNROLL for (int r = 0; r < ranks; r++) out[t][r] = sums[t][r];
    }
}

/* Columns first ..< end of eight, four or one rank of `rows` rows: from lanes and to lanes, or, at the
   rows' end, to `reduced`. */
INLINE void FN(reduce_tile)(
    const float *x, const uint8_t *mask, size_t columns, const float *a, size_t stride_a, int rows,
    int ranks, size_t first, size_t end, f32x16 (*lanes)[8], float factor, float *reduced,
    size_t stride) {
    f32x16 sums[REDUCE_ROWS][8];
    const int step = ranks < REDUCE_RANKS ? ranks : REDUCE_RANKS;
    UNROLL for (int r = 0; r < ranks; r += step) {
        f32x16 part[REDUCE_ROWS][8];
        if (first > 0) {
            UNROLL for (int t = 0; t < rows; t++) {
                UNROLL for (int i = 0; i < step; i++) part[t][i] = lanes[t][r + i];
            }
        }
        FN(reduce_lanes)(
            x, mask, columns, a + r * stride_a, stride_a, rows, step, first, end, part);
        UNROLL for (int t = 0; t < rows; t++) {
            UNROLL for (int i = 0; i < step; i++) sums[t][r + i] = part[t][i];
        }
    }
    UNROLL for (int t = 0; t < rows; t++) {
        if (end < columns) {
            UNROLL for (int r = 0; r < ranks; r++) lanes[t][r] = sums[t][r];
        } else if (ranks == 8) {
            const f32x8 eight = FN(sum_of_eight)(sums[t]) * factor;
            memcpy(reduced + t * stride, &eight, sizeof eight);
        } else {
            UNROLL for (int r = 0; r < ranks; r++) {
                reduced[t * stride + r] = FN(sum)(sums[t][r]) * factor;
            }
        }
    }
}

/* Eight, four or one rank of some rows, up to REDUCE_BLOCK of them if there are more columns than
   REDUCE_COLUMNS: their lanes and a block of `a` share the first-level cache. */
INLINE void FN(reduce_ranks)(
    const float *x, size_t tokens, size_t columns, const float *a, size_t stride_a, size_t rank,
    int ranks, size_t at, float factor, const uint8_t *mask, float *reduced) {
    const size_t bytes = (columns + 7) / 8;
    const float *const w = a + at * stride_a;
    f32x16 lanes[REDUCE_BLOCK][8];
    size_t first = 0;
    do {
        const size_t end =
            columns - first <= REDUCE_COLUMNS ? columns : first + REDUCE_COLUMNS / 3 * 2;
        size_t t = 0;
        for (; t + REDUCE_ROWS <= tokens; t += REDUCE_ROWS) {
            FN(reduce_tile)(
                x + t * columns, mask ? mask + t * bytes : NULL, columns, w, stride_a,
                REDUCE_ROWS, ranks, first, end, lanes + t, factor, reduced + t * rank + at, rank);
        }
        for (; t < tokens; t++) {
            FN(reduce_tile)(
                x + t * columns, mask ? mask + t * bytes : NULL, columns, w, stride_a, 1, ranks,
                first, end, lanes + t, factor, reduced + t * rank + at, rank);
        }
        first = end;
    } while (first < columns);
}

static void FN(lowrank_reduce)(
    const float *x, size_t tokens, size_t columns, const float *a, size_t stride_a, size_t rank,
    float scale, const uint8_t *mask, float kept_scale, float *reduced) {
    const float factor = mask ? scale * kept_scale : scale;
    const size_t bytes = (columns + 7) / 8;
    /* All ranks of some rows, so that long rows come from far away once. */
    const size_t block = columns <= REDUCE_COLUMNS ? tokens : REDUCE_BLOCK;
    for (size_t t = 0; t < tokens; t += block) {
        const size_t some = tokens - t < block ? tokens - t : block;
        const float *const from = x + t * columns;
        const uint8_t *const bits = mask ? mask + t * bytes : NULL;
        float *const out = reduced + t * rank;
        size_t r = 0;
        for (; r + 8 <= rank; r += 8) {
            if (mask) {
                FN(reduce_ranks)(
                    from, some, columns, a, stride_a, rank, 8, r, factor, bits, out);
            } else {
                FN(reduce_ranks)(
                    from, some, columns, a, stride_a, rank, 8, r, factor, NULL, out);
            }
        }
        for (; r + 4 <= rank; r += 4) {
            FN(reduce_ranks)(from, some, columns, a, stride_a, rank, 4, r, factor, bits, out);
        }
        for (; r < rank; r++) {
            FN(reduce_ranks)(from, some, columns, a, stride_a, rank, 1, r, factor, bits, out);
        }
    }
}

INLINE void FN(expand_step)(
    const float (*w)[8], const float *a, size_t stride_a, size_t columns, int rows, int ranks,
    const uint8_t *mask, float kept_scale, float *y, size_t stride_y, size_t i, size_t n) {
    const size_t bytes = (columns + 7) / 8;
    f32x16 sums[EXPAND_ROWS];
    UNROLL for (int r = 0; r < ranks; r++) {
        const f32x16 v = FN(get)(a + r * stride_a + i, n);
        UNROLL for (int t = 0; t < rows; t++) {
            const f32x16 f = w[t][r];
            sums[t] = r == 0 ? v * f : FN(fma)(v, f, sums[t]);
        }
    }
    UNROLL for (int t = 0; t < rows; t++) {
        float *const out = y + t * stride_y + i;
        const f32x16 old = FN(get)(out, n);
        f32x16 new;
        if (mask) {
            /* Zero where dropped, even if the sum is NaN. */
            const f32x16 sum = FN(kept)(FN(mask_bits)(mask + t * bytes + i / 8, n), sums[t]);
            new = FN(fma)(sum, (f32x16)kept_scale, old);
        } else {
            new = old + sums[t];
        }
        FN(put)(out, new, n);
    }
}

/* Columns first ..< end (a multiple of 16, or the row's end) of `rows` rows. */
INLINE void FN(expand_tile)(
    const float *reduced, size_t rank, const float *a, size_t stride_a, size_t columns, int rows,
    int ranks, const uint8_t *mask, float kept_scale, float *y, size_t stride_y, size_t first,
    size_t end) {
    float w[EXPAND_ROWS][8];
    UNROLL for (int t = 0; t < rows; t++) {
        UNROLL for (int r = 0; r < ranks; r++) w[t][r] = reduced[t * rank + r];
    }
    size_t i = first;
    for (; i + 16 <= end; i += 16) {
        FN(expand_step)(w, a, stride_a, columns, rows, ranks, mask, kept_scale, y, stride_y, i, 16);
    }
    if (i < end) {
        FN(expand_step)(
            w, a, stride_a, columns, rows, ranks, mask, kept_scale, y, stride_y, i, end - i);
    }
}

INLINE void FN(expand_rows)(
    const float *reduced, size_t rank, const float *a, size_t stride_a, size_t columns, int rows,
    const uint8_t *mask, float kept_scale, float *y, size_t stride_y, size_t first, size_t end) {
    size_t r = 0;
    for (; r + 8 <= rank; r += 8) {
        if (mask) {
            FN(expand_tile)(
                reduced + r, rank, a + r * stride_a, stride_a, columns, rows, 8, mask, kept_scale,
                y, stride_y, first, end);
        } else {
            FN(expand_tile)(
                reduced + r, rank, a + r * stride_a, stride_a, columns, rows, 8, NULL, 1, y,
                stride_y, first, end);
        }
    }
    for (; r + 4 <= rank; r += 4) {
        FN(expand_tile)(
            reduced + r, rank, a + r * stride_a, stride_a, columns, rows, 4, mask, kept_scale, y,
            stride_y, first, end);
    }
    for (; r < rank; r++) {
        FN(expand_tile)(
            reduced + r, rank, a + r * stride_a, stride_a, columns, rows, 1, mask, kept_scale, y,
            stride_y, first, end);
    }
}

static void FN(lowrank_expand)(
    const float *reduced, size_t tokens, size_t rank, const float *a, size_t stride_a,
    size_t columns, const uint8_t *mask, float kept_scale, float *y, size_t stride_y) {
    /* Eight ranks of 512 columns are 16 KB: they stay in the first-level cache for all tokens. */
    const size_t block = 512, bytes = (columns + 7) / 8;
    for (size_t first = 0; first < columns; first += block) {
        const size_t end = first + block < columns ? first + block : columns;
        size_t t = 0;
        for (; t + EXPAND_ROWS <= tokens; t += EXPAND_ROWS) {
            FN(expand_rows)(
                reduced + t * rank, rank, a, stride_a, columns, EXPAND_ROWS,
                mask ? mask + t * bytes : NULL, kept_scale, y + t * stride_y, stride_y, first, end);
        }
        for (; t < tokens; t++) {
            FN(expand_rows)(
                reduced + t * rank, rank, a, stride_a, columns, 1, mask ? mask + t * bytes : NULL,
                kept_scale, y + t * stride_y, stride_y, first, end);
        }
    }
}

/* Sixteen columns `chunks` times (the last chunk has n of them) of eight, four or one rank. */
INLINE void FN(outer_tile)(
    const float *reduced, size_t tokens, size_t rank, const float *x, size_t columns,
    const uint8_t *mask, float factor, int chunks, int ranks, size_t i, size_t n, float *d) {
    const size_t bytes = (columns + 7) / 8;
    f32x16 sums[8][OUTER_CHUNKS];
    UNROLL for (int r = 0; r < ranks; r++) {
        UNROLL for (int c = 0; c < chunks; c++) sums[r][c] = 0;
    }
    for (size_t t = 0; t < tokens; t++) {
        const float *const row = x + t * columns;
        const float *const ahead = t + 6 < tokens ? row + 6 * columns + i : row + i;
        f32x16 v[OUTER_CHUNKS];
        UNROLL for (int c = 0; c < chunks; c++) {
            __builtin_prefetch(ahead + 16 * c);
            v[c] = FN(get_kept)(
                row, mask ? mask + t * bytes : NULL, i + 16 * c, c + 1 < chunks ? 16 : n);
        }
        UNROLL for (int r = 0; r < ranks; r++) {
            const f32x16 w = reduced[t * rank + r];
            UNROLL for (int c = 0; c < chunks; c++) sums[r][c] = FN(fma)(v[c], w, sums[r][c]);
        }
    }
    UNROLL for (int r = 0; r < ranks; r++) {
        UNROLL for (int c = 0; c < chunks; c++) {
            const f32x16 sum = mask ? sums[r][c] * factor : sums[r][c];
            FN(put)(d + r * columns + i + 16 * c, sum, c + 1 < chunks ? 16 : n);
        }
    }
}

/* All ranks of 16 `chunks` columns, which come from far away once. */
INLINE void FN(outer_columns)(
    const float *reduced, size_t tokens, size_t rank, const float *x, size_t columns,
    const uint8_t *mask, float factor, int chunks, size_t i, size_t n, float *d) {
    size_t r = 0;
    for (; r + OUTER_RANKS <= rank; r += OUTER_RANKS) {
        FN(outer_tile)(
            reduced + r, tokens, rank, x, columns, mask, factor, chunks, OUTER_RANKS, i, n,
            d + r * columns);
    }
    for (; r < rank; r++) {
        FN(outer_tile)(
            reduced + r, tokens, rank, x, columns, mask, factor, chunks, 1, i, n,
            d + r * columns);
    }
}

INLINE void FN(outer_all)(
    const float *reduced, size_t tokens, size_t rank, const float *x, size_t columns,
    const uint8_t *mask, float factor, float *d) {
    size_t i = 0;
    for (; i + 16 * OUTER_CHUNKS <= columns; i += 16 * OUTER_CHUNKS) {
        FN(outer_columns)(
            reduced, tokens, rank, x, columns, mask, factor, OUTER_CHUNKS, i, 16, d);
    }
    for (; i < columns; i += 16) {
        const size_t n = columns - i;
        if (n >= 16) {
            FN(outer_columns)(reduced, tokens, rank, x, columns, mask, factor, 1, i, 16, d);
        } else {
            FN(outer_columns)(reduced, tokens, rank, x, columns, mask, factor, 1, i, n, d);
        }
    }
}

static void FN(lowrank_outer)(
    const float *reduced, size_t tokens, size_t rank, const float *x, size_t columns,
    const uint8_t *mask, float kept_scale, float *d) {
    if (mask) FN(outer_all)(reduced, tokens, rank, x, columns, mask, kept_scale, d);
    else FN(outer_all)(reduced, tokens, rank, x, columns, NULL, 1, d);
}

#undef REDUCE_BLOCK
#undef REDUCE_COLUMNS
#undef REDUCE_ROWS
#undef REDUCE_RANKS
#undef EXPAND_ROWS
#undef OUTER_CHUNKS
#undef OUTER_RANKS
