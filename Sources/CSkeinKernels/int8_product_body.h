/* Products in 8-bit integers at one level, included once per level with
     LEVEL    the end of the names that it defines
     DOT      the instruction that adds four products of unsigned and signed bytes to each sum
     MADD     instead of DOT: pairs of products are added in 16 or 32 bits
     MATRIX   instead of DOT: the instruction multiplies 8 unsigned bytes of two columns by 8 signed
              bytes of two rows
     BYTES    of a vector
     ROWS     rows of a tile, at most 6; with MATRIX, an even number
     VECTORS  vectors of sums of a tile's row; with MADD, an even number
   Without any of them, plain C. Sums are exact: no level can differ in them. */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(name, LEVEL)
#define INLINE static inline __attribute__((always_inline))
#define LANES (BYTES / 4)

typedef int32_t LOCAL(ints) __attribute__((vector_size(BYTES)));
typedef float LOCAL(floats) __attribute__((vector_size(BYTES)));
typedef float LOCAL(unaligned) __attribute__((vector_size(BYTES), aligned(4), may_alias));

#if defined(DOT) || defined(MADD) || defined(MATRIX)
/* HALF, with MADD: what a vector of sums takes at once. Arm has its bytes as they are, x86 in 16
   bits. SIGNED: p + 128 becomes p when it is loaded, and nothing is subtracted from the sums. */
#if defined(__aarch64__)
#define VECTOR int32x4_t
#define EVERYWHERE(x) vdupq_n_s32(x)
#ifndef MATRIX
#define SIGNED
#endif
#define LOAD(p) vreinterpretq_s32_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)))
#define HALF int8x8_t
#define HALF_P(p) vreinterpret_s8_u8(veor_u8(vld1_u8(p), vdup_n_u8(0x80)))
#define HALF_X(x) vreinterpret_s8_s32(vdup_n_s32(x))
#define ADD_PAIRS(sum, p, x) vpadalq_s16(sum, vmull_s8(p, x))
#elif BYTES == 64
#define VECTOR __m512i
#define LOAD(p) _mm512_loadu_si512(p)
#define EVERYWHERE(x) _mm512_set1_epi32(x)
#define HALF __m512i
#define HALF_P(p) _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p)))
#define HALF_X(x) _mm512_cvtepi8_epi16(_mm256_set1_epi32(x))
#define ADD_PAIRS(sum, p, x) _mm512_add_epi32(sum, _mm512_madd_epi16(p, x))
#elif BYTES == 32
#define VECTOR __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define EVERYWHERE(x) _mm256_set1_epi32(x)
#define HALF __m256i
#define HALF_P(p) _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p)))
#define HALF_X(x) _mm256_cvtepi8_epi16(_mm_set1_epi32(x))
#define ADD_PAIRS(sum, p, x) _mm256_add_epi32(sum, _mm256_madd_epi16(p, x))
#else
#define VECTOR __m128i
#define EVERYWHERE(x) _mm_set1_epi32(x)
#define HALF __m128i
#define HALF_P(p) _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(p)), _mm_setzero_si128())
/* A byte above itself, shifted down with its sign. */
#define HALF_X(x) \
    _mm_srai_epi16(_mm_unpacklo_epi8(_mm_set1_epi32(x), _mm_set1_epi32(x)), 8)
#define ADD_PAIRS(sum, p, x) _mm_add_epi32(sum, _mm_madd_epi16(p, x))
#endif

#ifdef DOT
/* Columns of a tile: a vector has one sum for each four bytes. */
enum { LOCAL(width) = VECTORS * LANES };
#define EXACT VECTORS
#define AT_ONCE 1

INLINE void LOCAL(step)(
    const int R, VECTOR sum[][VECTORS], const int8_t *const x[], size_t stride, const uint8_t *p) {
    VECTOR row[VECTORS];
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) row[v] = LOAD(p + v * BYTES);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        int32_t four;
        memcpy(&four, x[r / 3] + (size_t)(r % 3) * stride, 4);
        const VECTOR one = EVERYWHERE(four);
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = DOT(sum[r][v], row[v], one);
    }
}

/* What a row's sums start from; and sums of columns v LANES ... of row r. */
INLINE VECTOR LOCAL(start)(int32_t sum) {
#ifdef SIGNED
    (void)sum;
    return (VECTOR){};
#else
    return EVERYWHERE(-sum);
#endif
}
INLINE LOCAL(ints) LOCAL(exact)(VECTOR sum[][VECTORS], int r, int v, int32_t start) {
    (void)start;
    return (LOCAL(ints))sum[r][v];
}
#elif defined(MATRIX)
/* Rows 2 s and 2 s + 1 share their sums: of four columns, 0 and 1 are in sum[2 s][v], 2 and 3 in
   sum[2 s + 1][v]. A last row without a second one takes itself for it. */
enum { LOCAL(width) = VECTORS * LANES };
#define EXACT VECTORS
#define AT_ONCE 2

INLINE void LOCAL(step)(
    const int R, VECTOR sum[][VECTORS], const int8_t *const x[], size_t stride, const uint8_t *p) {
    int8x16_t both[ROWS / 2];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r += 2) {
        const int8_t *one = x[r / 3] + (size_t)(r % 3) * stride;
        const int8_t *other = r + 1 < R ? x[(r + 1) / 3] + (size_t)((r + 1) % 3) * stride : one;
        both[r / 2] = vcombine_s8(vld1_s8(one), vld1_s8(other));
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) {
        const uint32x4_t a = vreinterpretq_u32_u8(vld1q_u8(p + v * BYTES));
        const uint32x4_t b = vreinterpretq_u32_u8(vld1q_u8(p + 4 * COLUMNS + v * BYTES));
        const uint8x16_t low = vreinterpretq_u8_u32(vzip1q_u32(a, b));
        const uint8x16_t high = vreinterpretq_u8_u32(vzip2q_u32(a, b));
#pragma clang loop unroll(full)
        for (int r = 0; r < R; r += 2) {
            sum[r][v] = MATRIX(sum[r][v], low, both[r / 2]);
            sum[r + 1][v] = MATRIX(sum[r + 1][v], high, both[r / 2]);
        }
    }
}

INLINE VECTOR LOCAL(start)(int32_t sum) {
    (void)sum;
    return (VECTOR){};
}
INLINE LOCAL(ints) LOCAL(exact)(VECTOR sum[][VECTORS], int r, int v, int32_t start) {
    const LOCAL(ints) a = (LOCAL(ints))sum[r & ~1][v], b = (LOCAL(ints))sum[r | 1][v];
    return (r % 2 ? __builtin_shufflevector(a, b, 1, 3, 5, 7)
                  : __builtin_shufflevector(a, b, 0, 2, 4, 6)) - start;
}
#else
/* Sums of two products each; two vectors have those of LANES columns. */
enum { LOCAL(width) = VECTORS / 2 * LANES };
#define EXACT (VECTORS / 2)
#define AT_ONCE 1

INLINE void LOCAL(step)(
    const int R, VECTOR sum[][VECTORS], const int8_t *const x[], size_t stride, const uint8_t *p) {
    HALF row[VECTORS];
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) row[v] = HALF_P(p + v * (BYTES / 2));
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        int32_t four;
        memcpy(&four, x[r / 3] + (size_t)(r % 3) * stride, 4);
        const HALF one = HALF_X(four);
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = ADD_PAIRS(sum[r][v], row[v], one);
    }
}

INLINE VECTOR LOCAL(start)(int32_t sum) {
    (void)sum;
    return (VECTOR){};
}
INLINE LOCAL(ints) LOCAL(exact)(VECTOR sum[][VECTORS], int r, int v, int32_t start) {
    const LOCAL(ints) a = (LOCAL(ints))sum[r][2 * v], b = (LOCAL(ints))sum[r][2 * v + 1];
#ifdef SIGNED
    start = 0;
#endif
#if BYTES == 64
    return __builtin_shufflevector(
               a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           __builtin_shufflevector(
               a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31) - start;
#elif BYTES == 32
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15) - start;
#else
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7) - start;
#endif
}
#endif

/* Adds a block of some pieces to part[R, width]. */
INLINE void LOCAL(block)(
    const int R, const int WEIGHTED, const struct tile *t, size_t b, size_t pieces,
    const int8_t *x[], const uint8_t **p, LOCAL(floats) *part) {
    VECTOR sum[ROWS][VECTORS];
    const size_t stride = t->stride_x;
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        const VECTOR start = LOCAL(start)(t->sums[(size_t)r * t->blocks + b]);
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = start;
    }
#ifdef MATRIX
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) sum[R % 2 ? R : 0][v] = (VECTOR){};
#endif
#pragma clang loop unroll(disable)
    for (; pieces > 0; pieces--) {
#if defined(__aarch64__)
        /* Unrolled, the compiler moves loads so far ahead that sums wait in memory for registers. */
#pragma clang loop unroll(disable)
#else
        /* No other addresses than constants beside three pointers. */
#pragma clang loop unroll(full)
#endif
        for (size_t u = 0; u < GROUPS; u += AT_ONCE) {
            const int8_t *at[(ROWS + 2) / 3];
            for (int i = 0; i < (ROWS + 2) / 3; i++) at[i] = x[i] + 4 * u;
            LOCAL(step)(R, sum, at, stride, *p + u * 4 * COLUMNS);
        }
        for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += PIECE;
        *p += PIECE * COLUMNS;
    }
    const float *weights = WEIGHTED ? t->scales_p + b * t->step_p : NULL;
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        const size_t at = (size_t)r * t->blocks + b;
        const LOCAL(floats) scale = t->scales_x[at] - (LOCAL(floats)){};
#pragma clang loop unroll(full)
        for (int v = 0; v < EXACT; v++) {
            const LOCAL(floats) exact = __builtin_convertvector(
                LOCAL(exact)(sum, r, v, t->sums[at]), LOCAL(floats));
            const LOCAL(floats) factor =
                WEIGHTED ? scale * *(const LOCAL(unaligned) *)(weights + v * LANES) : scale;
            part[r * EXACT + v] =
                __builtin_elementwise_fma(exact, factor, part[r * EXACT + v]);
        }
    }
}
#else
/* Plain C: four columns of one row at a time, as the processor's vectors have them. */
#define EXACT 1
#define VECTORS 1
enum { LOCAL(width) = LANES };

INLINE void LOCAL(block)(
    const int R, const int WEIGHTED, const struct tile *t, size_t b, size_t pieces,
    const int8_t *x[], const uint8_t **p, LOCAL(floats) *part) {
    (void)R;
    LOCAL(ints) sum = t->sums[b] - (LOCAL(ints)){};
    sum = -sum;
    for (size_t u = 0; u < pieces * GROUPS; u++, *p += 4 * COLUMNS, x[0] += 4)
        for (int c = 0; c < LANES; c++)
            for (int k = 0; k < 4; k++) sum[c] += (int32_t)(*p)[4 * c + k] * x[0][k];
    LOCAL(floats) scale = t->scales_x[b] - (LOCAL(floats)){};
    if (WEIGHTED) scale *= *(const LOCAL(unaligned) *)(t->scales_p + b * t->step_p);
    part[0] = __builtin_elementwise_fma(
        __builtin_convertvector(sum, LOCAL(floats)), scale, part[0]);
}
#endif

/* y[R, width] (+)= sum over blocks, WEIGHTED by scales of P. The order of sums is the same for
   each R. */
INLINE void LOCAL(tile_of)(const int R, const int WEIGHTED, const struct tile *t) {
    LOCAL(floats) parts[ROWS * EXACT];
    /* In memory: as a variable, parts would compete with the sums for registers. */
    LOCAL(floats) *part = parts;
    __asm__("" : "+r"(part));
#pragma clang loop unroll(full)
    for (int i = 0; i < R * EXACT; i++) part[i] = (LOCAL(floats)){};
    const int8_t *x[(ROWS + 2) / 3];
    for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] = t->x + (size_t)i * 3 * t->stride_x;
    const uint8_t *p = t->p;
#pragma clang loop unroll(disable)
    for (size_t b = 0; b < t->blocks; b++)
        LOCAL(block)(R, WEIGHTED, t, b, b + 1 < t->blocks ? PIECES : t->last, x, &p, part);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < EXACT; v++) {
            LOCAL(unaligned) *y = (LOCAL(unaligned) *)(t->y + (size_t)r * t->stride_y + v * LANES);
            const LOCAL(floats) sum = part[r * EXACT + v];
            *y = t->accumulate ? *y + sum : sum;
        }
    }
}

/* A call of memset would take longer than the few stores. */
#define TILE(NAME, R, WEIGHTED) \
    static __attribute__((noinline, no_builtin("memset"))) void LOCAL(NAME##_##R)( \
        const struct tile *t) { \
        LOCAL(tile_of)(R, WEIGHTED, t); \
    }
#if ROWS > 3
#define TILES(NAME, WEIGHTED) \
    TILE(NAME, 1, WEIGHTED) TILE(NAME, 2, WEIGHTED) TILE(NAME, 3, WEIGHTED) \
    TILE(NAME, 4, WEIGHTED) TILE(NAME, 5, WEIGHTED) TILE(NAME, 6, WEIGHTED) \
    static void (*const LOCAL(NAME)[])(const struct tile *) = { \
        LOCAL(NAME##_1), LOCAL(NAME##_2), LOCAL(NAME##_3), LOCAL(NAME##_4), LOCAL(NAME##_5), \
        LOCAL(NAME##_6)};
#elif ROWS > 1
#define TILES(NAME, WEIGHTED) \
    TILE(NAME, 1, WEIGHTED) TILE(NAME, 2, WEIGHTED) TILE(NAME, 3, WEIGHTED) \
    static void (*const LOCAL(NAME)[])(const struct tile *) = { \
        LOCAL(NAME##_1), LOCAL(NAME##_2), LOCAL(NAME##_3)};
#else
#define TILES(NAME, WEIGHTED) \
    TILE(NAME, 1, WEIGHTED) \
    static void (*const LOCAL(NAME)[])(const struct tile *) = {LOCAL(NAME##_1)};
#endif
TILES(weighted, 1)
TILES(bare, 0)
#undef TILES
#undef TILE

/* All rows by `columns` of a panel, `width` or fewer, which go through memory that is wide enough. */
static void LOCAL(strip)(
    const struct skein_int8_product *product, size_t column, size_t columns) {
    float narrow[ROWS * LOCAL(width)];
    const int whole = columns == LOCAL(width);
    const size_t blocks = skein_int8_blocks(product->k);
    struct tile t = {
        .stride_x = product->x.stride,
        .p = product->p + column / COLUMNS * product->panel + column % COLUMNS * 4,
        .blocks = blocks,
        .last = skein_int8_padded(product->k) / PIECE - (blocks - 1) * PIECES,
        .scales_p = product->scales == NULL ? NULL : product->scales + column,
        .step_p = product->step_scales, .stride_y = whole ? product->stride_y : LOCAL(width),
        .accumulate = product->accumulate,
    };
    for (size_t r = 0; r < product->rows; r += ROWS) {
        const size_t some = product->rows - r < ROWS ? product->rows - r : ROWS;
        float *y = product->y + r * product->stride_y + column;
        t.x = product->x.q + r * t.stride_x;
        t.scales_x = product->x.scales + r * t.blocks;
        t.sums = product->x.sums + r * t.blocks;
        t.y = whole ? y : narrow;
        for (size_t i = 0; !whole && t.accumulate && i < some; i++)
            memcpy(narrow + i * LOCAL(width), y + i * product->stride_y, columns * sizeof *y);
        (product->scales == NULL ? LOCAL(bare) : LOCAL(weighted))[some - 1](&t);
        for (size_t i = 0; !whole && i < some; i++)
            memcpy(y + i * product->stride_y, narrow + i * LOCAL(width), columns * sizeof *y);
    }
}

static void LOCAL(multiply)(const struct skein_int8_product *product) {
    for (size_t column = 0; column < product->n; column += LOCAL(width)) {
        const size_t left = product->n - column;
        LOCAL(strip)(product, column, left < LOCAL(width) ? left : LOCAL(width));
    }
}

#undef LOCAL
#undef JOIN
#undef JOIN_
#undef INLINE
#undef LANES
#undef LEVEL
#undef DOT
#undef MADD
#undef MATRIX
#undef BYTES
#undef ROWS
#undef VECTORS
#undef EXACT
#undef AT_ONCE
#undef SIGNED
#undef VECTOR
#undef LOAD
#undef EVERYWHERE
#undef HALF
#undef HALF_P
#undef HALF_X
#undef ADD_PAIRS
