/* Products in 8-bit integers at one level, included once per level with
     LEVEL    the end of the names that it defines
     DOT      the instruction that adds four products of unsigned and signed bytes to each sum
     MADD     instead of DOT: bytes are widened to 16 bits, and pairs of products added
     BYTES    of a vector
     ROWS     rows of a tile
     VECTORS  vectors of sums of a tile's row
   Without DOT and MADD, plain C. Sums are exact: no level can differ in them. */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(name, LEVEL)
#define INLINE static inline __attribute__((always_inline))

#ifdef BYTES
#define LANES (BYTES / 4)
#else
#define LANES 4
#endif

/* y (+)= (sums - 128 sum of q) s t, for 64 columns or fewer of one row. */
INLINE void LOCAL(finish)(
    const struct tile *t, const int r, const int32_t *sums, const int count) {
    const float scale = t->scales_x[(size_t)r * t->step] * t->factor;
    const int32_t sum = t->sums[(size_t)r * t->step];
    float *y = t->y + (size_t)r * t->stride_y;
    typedef int32_t ints __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
    typedef float floats __attribute__((vector_size(LANES * 4)));
    typedef float unaligned __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
    for (int c = 0; c < count; c += LANES) {
        const floats exact = __builtin_convertvector(*(const ints *)(sums + c) - sum, floats);
        floats factor = scale - (floats){};
        if (t->scales_p != NULL) factor *= *(const unaligned *)(t->scales_p + c);
        unaligned *out = (unaligned *)(y + c);
        *out = t->accumulate ? __builtin_elementwise_fma(exact, factor, (floats)*out) : exact * factor;
    }
}

#if defined(DOT) || defined(MADD)
#if BYTES == 64
#define VECTOR __m512i
#define ZERO _mm512_setzero_si512()
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define EVERYWHERE(x) _mm512_set1_epi32(x)
#elif BYTES == 32
#define VECTOR __m256i
#define ZERO _mm256_setzero_si256()
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define EVERYWHERE(x) _mm256_set1_epi32(x)
#else
#define VECTOR __m128i
#define ZERO _mm_setzero_si128()
#define STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#endif

#ifdef DOT
/* Columns of a tile: a vector has one sum for each four bytes. */
enum { LOCAL(width) = VECTORS * BYTES / 4 };

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
#else
/* Sums of two products each; a vector has two for a column. */
enum { LOCAL(width) = VECTORS * BYTES / 8 };

INLINE void LOCAL(step)(
    const int R, VECTOR sum[][VECTORS], const int8_t *const x[], size_t stride, const uint8_t *p) {
    VECTOR row[VECTORS];
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) {
#if BYTES == 64
        row[v] = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p + v * 32)));
#elif BYTES == 32
        row[v] = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p + v * 16)));
#else
        row[v] = _mm_unpacklo_epi8(
            _mm_loadl_epi64((const __m128i *)(p + v * 8)), _mm_setzero_si128());
#endif
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        int32_t four;
        memcpy(&four, x[r / 3] + (size_t)(r % 3) * stride, 4);
#if BYTES == 64
        const VECTOR one = _mm512_cvtepi8_epi16(_mm256_set1_epi32(four));
#elif BYTES == 32
        const VECTOR one = _mm256_cvtepi8_epi16(_mm_set1_epi32(four));
#else
        /* A byte above itself, shifted down with its sign. */
        const VECTOR all = _mm_set1_epi32(four);
        const VECTOR one = _mm_srai_epi16(_mm_unpacklo_epi8(all, all), 8);
#endif
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) {
#if BYTES == 64
            sum[r][v] = _mm512_add_epi32(sum[r][v], _mm512_madd_epi16(row[v], one));
#elif BYTES == 32
            sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(row[v], one));
#else
            sum[r][v] = _mm_add_epi32(sum[r][v], _mm_madd_epi16(row[v], one));
#endif
        }
    }
}
#endif

INLINE void LOCAL(tile_of)(const int R, const struct tile *t) {
    VECTOR sum[ROWS][VECTORS];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = ZERO;
    }
    const uint8_t *p = t->p;
    const size_t stride = t->stride_x;
    const int8_t *x[(ROWS + 2) / 3];
    for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] = t->x + (size_t)i * 3 * stride;
    size_t left = t->depth;
    for (; left >= 4; left -= 4) {
#pragma clang loop unroll(full)
        for (size_t u = 0; u < 4; u++) {
            const int8_t *at[(ROWS + 2) / 3];
            for (int i = 0; i < (ROWS + 2) / 3; i++) at[i] = x[i] + 4 * u;
            LOCAL(step)(R, sum, at, stride, p + u * 4 * COLUMNS);
        }
        p += 16 * COLUMNS;
        for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += 16;
    }
#pragma clang loop unroll(disable)
    for (; left > 0; left--) {
        LOCAL(step)(R, sum, x, stride, p);
        p += 4 * COLUMNS;
        for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += 4;
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        int32_t sums[LOCAL(width)];
#ifdef DOT
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) STORE(sums + v * (BYTES / 4), sum[r][v]);
#else
        for (int v = 0; v < VECTORS; v++) {
            int32_t pairs[BYTES / 4];
            STORE(pairs, sum[r][v]);
            for (int i = 0; i < BYTES / 8; i++)
                sums[v * (BYTES / 8) + i] = pairs[2 * i] + pairs[2 * i + 1];
        }
#endif
        LOCAL(finish)(t, r, sums, LOCAL(width));
    }
}

#define TILE(R) \
    static __attribute__((noinline)) void LOCAL(tile_##R)(const struct tile *t) { \
        LOCAL(tile_of)(R, t); \
    }
TILE(1) TILE(2) TILE(3)
#if ROWS > 3
TILE(4) TILE(5) TILE(6)
#endif
#undef TILE
static void (*const LOCAL(tiles)[])(const struct tile *) = {
    LOCAL(tile_1), LOCAL(tile_2), LOCAL(tile_3),
#if ROWS > 3
    LOCAL(tile_4), LOCAL(tile_5), LOCAL(tile_6),
#endif
};
#else
#define ROWS 1
enum { LOCAL(width) = 16 };

static void LOCAL(tile_1)(const struct tile *t) {
    int32_t sums[16] = {0};
    for (size_t i = 0; i < t->depth; i++) {
        const uint8_t *p = t->p + i * 4 * COLUMNS;
        const int8_t *x = t->x + 4 * i;
        for (int c = 0; c < 16; c++)
            for (int k = 0; k < 4; k++) sums[c] += (int32_t)p[4 * c + k] * x[k];
    }
    LOCAL(finish)(t, 0, sums, 16);
}
static void (*const LOCAL(tiles)[])(const struct tile *) = {LOCAL(tile_1)};
#endif

/* All rows of one piece and one term by one panel of up to 64 columns. */
static void LOCAL(panel)(struct tile t, size_t rows, size_t columns) {
    float narrow[ROWS * LOCAL(width)], scales[LOCAL(width)] = {0};
    const float *all = t.scales_p;
    float *const y = t.y;
    const int8_t *const x = t.x;
    const uint8_t *const p = t.p;
    const size_t stride_y = t.stride_y;
    const float *const scales_x = t.scales_x;
    const int32_t *const sums = t.sums;
    for (size_t column = 0; column < columns; column += LOCAL(width)) {
        const size_t left = columns - column;
        const int whole = left >= LOCAL(width);
        const size_t count = whole ? LOCAL(width) : left;
        t.p = p + 4 * column;
        t.scales_p = all == NULL ? NULL : all + column;
        if (all != NULL && !whole) {
            memcpy(scales, all + column, count * sizeof *all);
            t.scales_p = scales;
        }
        t.stride_y = whole ? stride_y : LOCAL(width);
        for (size_t r = 0; r < rows; r += ROWS) {
            const size_t some = rows - r < ROWS ? rows - r : ROWS;
            float *out = y + r * stride_y + column;
            t.x = x + r * t.stride_x;
            t.scales_x = scales_x + r * t.step;
            t.sums = sums + r * t.step;
            t.y = whole ? out : narrow;
            for (size_t i = 0; !whole && t.accumulate && i < some; i++)
                memcpy(narrow + i * LOCAL(width), out + i * stride_y, count * sizeof *y);
            LOCAL(tiles)[some - 1](&t);
            for (size_t i = 0; !whole && i < some; i++)
                memcpy(out + i * stride_y, narrow + i * LOCAL(width), count * sizeof *y);
        }
    }
}

static void LOCAL(multiply)(const struct skein_int8_product *product) {
    const size_t pieces = skein_int8_pieces(product->k);
    for (size_t column = 0; column < product->n; column += COLUMNS) {
        const size_t left = product->n - column, columns = left < COLUMNS ? left : COLUMNS;
        for (size_t piece = 0; piece < pieces; piece++) {
            const size_t first = piece * SKEIN_INT8_PIECE, rest = product->k - first;
            const size_t k = rest < SKEIN_INT8_PIECE ? rest : SKEIN_INT8_PIECE;
            struct tile t = {
                .x = product->x.q + first, .stride_x = product->x.stride,
                .p = product->p + column / COLUMNS * product->panel + first * COLUMNS,
                .depth = (k + 3) / 4,
                .scales_x = product->x.scales + piece, .sums = product->x.sums + piece,
                .step = pieces, .factor = 1,
                .scales_p = product->scales == NULL ? NULL : product->scales + column,
                .y = product->y + column, .stride_y = product->stride_y,
                .accumulate = product->accumulate || piece > 0,
            };
            LOCAL(panel)(t, product->rows, columns);
            if (product->x.second == NULL) continue;
            t.x = product->x.second + first;
            t.sums = product->x.second_sums + piece;
            t.factor = 1 / 254.f;
            t.accumulate = 1;
            LOCAL(panel)(t, product->rows, columns);
        }
    }
}

#undef LOCAL
#undef JOIN
#undef JOIN_
#undef INLINE
#undef LEVEL
#undef DOT
#undef MADD
#undef BYTES
#undef ROWS
#undef VECTORS
#undef VECTOR
#undef ZERO
#undef LOAD
#undef STORE
#undef EVERYWHERE
#undef LANES
