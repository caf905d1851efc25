/* The third part of matvec_body.h: products with several vectors that read the weights once. Each
   vector's sums are those of NAME(group), operation for operation, so it has the bits that it has
   alone. Letters: R vectors that share the decoding of a weight. */

#if FUSED

/* Most R of the block types and of the plain ones: what the registers hold. With 32 registers the
   plain types keep four chains for each vector over the whole of a row, the block types one at a
   time. With 16 all types have one chain of each vector at a time, and the loop over the chains stays
   a loop: unrolled, the compiler computes all of them side by side and keeps them in memory, at half
   the speed. */
#if WIDE
#define MOST_BLOCK 8
#define CHAINS _Pragma("clang loop unroll(full)")
#else
#define MOST_BLOCK 5
#define CHAINS _Pragma("clang loop unroll(disable)")
#endif
#define MOST_PLAIN 4

/* Steps of a chain of a plain type before the next chain's turn, where they take turns. */
#define TURN 16

/* Element i of vector r. Three vectors to a pointer: an address may hold one or two strides. */
#define AT(x, stride, r, i) (x)[(r) / 3][(size_t)((r) % 3) * (stride) + (i)]

/* NAME(nibbles) for R vectors, one chain of each at a time. */
INLINE void NAME(nibbles_rows)(const int R, const uint8_t *codes, const float *const *x,
    size_t stride, v16f *sum) {
    v16f pair[MOST_BLOCK], low[MOST_BLOCK];
    CHAINS
    for (int c = 0; c < 4; c++) {
        const v16u words = *(const v16uu *)(codes + 64 * c);
        v16f chain[MOST_BLOCK];
#pragma clang loop unroll(full)
        for (int i = 0; i < 8; i++) {
            const v16f w = NAME(nibble)(words, i);
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                const float one = AT(x, stride, r, 8 * c + i);
                chain[r] = i == 0 ? w * one : NAME(fma16)(w, SPLAT(one), chain[r]);
            }
        }
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            if (c == 1) low[r] = pair[r] + chain[r];
            else if (c == 3) sum[r] = low[r] + (pair[r] + chain[r]);
            else pair[r] = chain[r];
        }
    }
}

/* NAME(bytes) for R vectors, from column `first` of theirs on. */
INLINE void NAME(bytes_rows)(const int n, const int R, const uint8_t *codes, const float *const *x,
    size_t stride, size_t first, v16f *sum) {
    const int chains = n / 8;
    v16f pair[MOST_BLOCK], low[MOST_BLOCK];
#pragma clang loop unroll(full)
    for (int c = 0; c < chains; c++) {
        v16f chain[MOST_BLOCK];
#pragma clang loop unroll(full)
        for (int k = c; k < n; k += chains) {
            const v16f w = __builtin_convertvector(*(const v16b *)(codes + 16 * k), v16f);
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                const float one = AT(x, stride, r, first + k);
                chain[r] = k < chains ? w * one : NAME(fma16)(w, SPLAT(one), chain[r]);
            }
        }
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            if (c == 1 && n == 16) sum[r] = pair[r] + chain[r];
            else if (c == 1) low[r] = pair[r] + chain[r];
            else if (c == 3) sum[r] = low[r] + (pair[r] + chain[r]);
            else pair[r] = chain[r];
        }
    }
}

/* NAME(plain_row) for R vectors. */
INLINE void NAME(plain_rows)(const enum skein_packed type, const int R, const uint8_t *group,
    size_t columns, const float *const *x, size_t stride, v16f *sum) {
    v16f chain[MOST_PLAIN][4];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int c = 0; c < 4; c++) chain[r][c] = (v16f){};
    }
    size_t k = 0;
#if !WIDE
    for (; k + 4 * TURN <= columns; k += 4 * TURN) {
        CHAINS
        for (size_t c = 0; c < 4; c++) {
            v16f one[MOST_PLAIN];
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) one[r] = chain[r][c];
#pragma clang loop unroll_count(4)
            for (size_t i = k + c; i < k + 4 * TURN; i += 4) {
                const v16f w = NAME(plain16)(type, group, i);
#pragma clang loop unroll(full)
                for (int r = 0; r < R; r++)
                    one[r] = NAME(fma16)(w, SPLAT(AT(x, stride, r, i)), one[r]);
            }
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) chain[r][c] = one[r];
        }
    }
#endif
    for (; k + 4 <= columns; k += 4) {
#pragma clang loop unroll(full)
        for (int c = 0; c < 4; c++) {
            const v16f w = NAME(plain16)(type, group, k + c);
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                chain[r][c] = NAME(fma16)(w, SPLAT(AT(x, stride, r, k + c)), chain[r][c]);
            }
        }
    }
    for (; k < columns; k++) {
        const v16f w = NAME(plain16)(type, group, k);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            chain[r][0] = NAME(fma16)(w, SPLAT(AT(x, stride, r, k)), chain[r][0]);
        }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        sum[r] = (chain[r][0] + chain[r][1]) + (chain[r][2] + chain[r][3]);
    }
}

/* NAME(group) for R vectors of a block type. */
INLINE void NAME(block_rows)(const enum skein_packed type, const int R, const uint8_t *p,
    size_t columns, const struct skein_vectors *v, v16f *sum) {
    const size_t bytes = type == SKEIN_PACKED_Q4_0 ? 288 : type == SKEIN_PACKED_Q4_1 ? 320 : 544;
    const int isNibbles = type != SKEIN_PACKED_Q8_0;
    const size_t stride = isNibbles ? v->stride_spread : v->stride_x;
    const float *const base = isNibbles ? v->spread : v->x;
    const float *x[3] = {base, base + 3 * stride, base + 6 * stride};
    const float *sums[3];
    for (int i = 0; i < 3; i++) sums[i] = x[i] + columns;
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) sum[r] = (v16f){};
    for (size_t b = 0; b < columns / 32; b++, p += bytes) {
        const v16f d = NAME(half16)(p);
        for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch(p + AHEAD + line, 0, 3);
        v16f one[MOST_BLOCK];
        if (type == SKEIN_PACKED_Q8_0) NAME(bytes_rows)(32, R, p + 32, x, stride, 0, one);
        else NAME(nibbles_rows)(R, p + (type == SKEIN_PACKED_Q4_1 ? 64 : 32), x, stride, one);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r++) {
            if (type == SKEIN_PACKED_Q8_0) {
                sum[r] = NAME(fma16)(d, one[r], sum[r]);
            } else if (type == SKEIN_PACKED_Q4_1) {
                sum[r] = NAME(fma16)(d, one[r], sum[r]);
                sum[r] = NAME(fma16)(NAME(half16)(p + 32), SPLAT(AT(sums, stride, r, b)), sum[r]);
            } else {
                const v16f shifted =
                    NAME(fma16)(SPLAT(-8.0f), SPLAT(AT(sums, stride, r, b)), one[r]);
                sum[r] = NAME(fma16)(d, shifted, sum[r]);
            }
        }
        for (int i = 0; i < 3; i++) x[i] += 32;
    }
}

/* NAME(k_group) for R vectors. */
INLINE void NAME(k_rows)(const enum skein_packed type, const int R, const uint8_t *p,
    size_t columns, const struct skein_vectors *v, v16f *sum) {
    const int isNibbles = type == SKEIN_PACKED_Q4_K;
    const size_t stride = isNibbles ? v->stride_spread : v->stride_x;
    const float *const base = isNibbles ? v->spread : v->x;
    const float *const base_sums = v->spread + columns;
    const float *x[3] = {base, base + 3 * stride, base + 6 * stride};
    const float *sums[3] = {
        base_sums, base_sums + 3 * v->stride_spread, base_sums + 6 * v->stride_spread};
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) sum[r] = (v16f){};
    for (size_t c = 0; c < columns / 32; c++) {
        const size_t i = c % 8;
        const uint8_t *codes = p + K_HEAD + K_CODES(type) * i;
        v16f one[MOST_BLOCK];
        NAME(k_fetch)(type, p, i);
        if (type == SKEIN_PACKED_Q6_K) {
            for (size_t h = 0; h < 2; h++) {
                NAME(bytes_rows)(16, R, codes + 256 * h, x, stride, 16 * h, one);
                const v16f scale = NAME(k_scale)(type, p, NAME(half16)(p), 2 * i + h);
#pragma clang loop unroll(full)
                for (int r = 0; r < R; r++) sum[r] = NAME(fma16)(scale, one[r], sum[r]);
            }
        } else {
            if (isNibbles) NAME(nibbles_rows)(R, codes, x, stride, one);
            else NAME(bytes_rows)(32, R, codes, x, stride, 0, one);
            const v16f scale = NAME(k_scale)(type, p, NAME(half16)(p), i);
            const v16f minimum = NAME(k_minimum)(p, NAME(half16)(p + 32), i);
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                sum[r] = NAME(fma16)(scale, one[r], sum[r]);
                sum[r] =
                    NAME(fma16)(minimum, SPLAT(-AT(sums, v->stride_spread, r, c)), sum[r]);
            }
        }
        if (i == 7) p += K_BYTES(type);
        for (int j = 0; j < 3; j++) x[j] += 32;
    }
}

INLINE void NAME(one_group)(const enum skein_packed type, const int R, const uint8_t *p,
    size_t columns, const struct skein_vectors *v, float *y, size_t stride_y, size_t rows,
    int add) {
    v16f sum[MOST_BLOCK];
    if (type >= SKEIN_PACKED_BF16) {
        const float *const x[3] = {v->x, v->x + 3 * v->stride_x, v->x + 6 * v->stride_x};
        NAME(plain_rows)(type, R, p, columns, x, v->stride_x, sum);
    } else if (type >= SKEIN_PACKED_Q4_K) {
        NAME(k_rows)(type, R, p, columns, v, sum);
    } else {
        NAME(block_rows)(type, R, p, columns, v, sum);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        float *const to = y + (size_t)r * stride_y;
        if (rows >= 16) {
            v16fu *const out = (v16fu *)to;
            *out = add ? *out + sum[r] : sum[r];
        } else {
            for (size_t i = 0; i < rows; i++) to[i] = add ? to[i] + sum[r][i] : sum[r][i];
        }
    }
}

#define ONE(T, R)                                                                            \
    static __attribute__((noinline)) void NAME(T##_##R)(const uint8_t *p, size_t columns,    \
        const struct skein_vectors *v, float *y, size_t stride_y, size_t rows, int add) {    \
        NAME(one_group)(SKEIN_PACKED_##T, R, p, columns, v, y, stride_y, rows, add);         \
    }
#define FOUR(T) ONE(T, 1) ONE(T, 2) ONE(T, 3) ONE(T, 4)
#define FOUR_NAMES(T) NAME(T##_1), NAME(T##_2), NAME(T##_3), NAME(T##_4)
#if WIDE
#define BLOCK(T) FOUR(T) ONE(T, 5) ONE(T, 6) ONE(T, 7) ONE(T, 8)
#define BLOCK_NAMES(T) FOUR_NAMES(T), NAME(T##_5), NAME(T##_6), NAME(T##_7), NAME(T##_8)
#else
#define BLOCK(T) FOUR(T) ONE(T, 5)
#define BLOCK_NAMES(T) FOUR_NAMES(T), NAME(T##_5)
#endif
BLOCK(Q4_0) BLOCK(Q4_1) BLOCK(Q8_0) BLOCK(Q4_K) BLOCK(Q5_K) BLOCK(Q6_K)
FOUR(BF16) FOUR(F16) FOUR(F32)

static void (*const NAME(row_kernels)[9][8])(const uint8_t *, size_t,
    const struct skein_vectors *, float *, size_t, size_t, int) = {
    {BLOCK_NAMES(Q4_0)}, {BLOCK_NAMES(Q4_1)}, {BLOCK_NAMES(Q8_0)},
    {BLOCK_NAMES(Q4_K)}, {BLOCK_NAMES(Q5_K)}, {BLOCK_NAMES(Q6_K)},
    {FOUR_NAMES(BF16)}, {FOUR_NAMES(F16)}, {FOUR_NAMES(F32)},
};

static void NAME(matvec_rows)(enum skein_packed type, const uint8_t *p, size_t columns,
    size_t groups, const struct skein_vectors *vectors, float *y, size_t stride_y, size_t rows,
    int add) {
    const size_t bytes = skein_packed_group_bytes(type, columns);
    const size_t most = type >= SKEIN_PACKED_BF16 ? MOST_PLAIN : MOST_BLOCK;
    /* As even as possible: 9 are 5 and 4, not 8 and 1. */
    const size_t bundles = (vectors->count + most - 1) / most;
    for (size_t g = 0; g < groups; g++) {
        const size_t left = rows > 16 * g ? rows - 16 * g : 0;
        for (size_t b = 0; b < bundles; b++) {
            const size_t first = b * vectors->count / bundles;
            const size_t count = (b + 1) * vectors->count / bundles - first;
            const struct skein_vectors some = {
                .x = vectors->x + first * vectors->stride_x, .stride_x = vectors->stride_x,
                .spread = vectors->spread + first * vectors->stride_spread,
                .stride_spread = vectors->stride_spread, .count = count};
            NAME(row_kernels)[type][count - 1](p + g * bytes, columns, &some,
                y + first * stride_y + 16 * g, stride_y, left < 16 ? left : 16, add);
        }
    }
}

#undef AT
#undef ONE
#undef FOUR
#undef FOUR_NAMES
#undef BLOCK
#undef BLOCK_NAMES
#undef MOST_BLOCK
#undef MOST_PLAIN
#undef CHAINS
#undef TURN

#else

/* Below FMA speed is not the aim. */
static void NAME(matvec_rows)(enum skein_packed type, const uint8_t *p, size_t columns,
    size_t groups, const struct skein_vectors *vectors, float *y, size_t stride_y, size_t rows,
    int add) {
    for (size_t i = 0; i < vectors->count; i++) {
        NAME(matvec)(type, p, columns, groups, vectors->x + i * vectors->stride_x,
            vectors->spread + i * vectors->stride_spread, y + i * stride_y, rows, add);
    }
}

#endif
