/* Products in fp32 at one level, included once per level with
     LEVEL  the end of the names that it defines
     LANES  floats in a vector, 16 at most
     ROWS   rows of a tile that is two vectors wide
     WIDE   rows of a tile that is four vectors wide; 0: there is none
     FUSED  whether the processor multiplies and adds in one instruction */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(name, LEVEL)

typedef float LOCAL(floats) __attribute__((vector_size(LANES * 4)));
typedef float LOCAL(unaligned) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

enum { LOCAL(width) = 2 * LANES };

/* One k of a tile: V vectors of w, V sums of each of R rows. x[i] is row 3 i at that k. */
INLINE void LOCAL(step)(
    const int R, const int V, LOCAL(floats) sum[][4], const float *const x[], size_t row_x,
    const float *w, size_t second) {
    LOCAL(floats) row[4];
#pragma clang loop unroll(full)
    for (int v = 0; v < V; v++) row[v] = *(const LOCAL(unaligned) *)(w + (size_t)v * second);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
        /* Subtracting +0 changes no number, so nothing is computed. */
        const LOCAL(floats) one = x[r / 3][(size_t)(r % 3) * row_x] - (LOCAL(floats)){};
#pragma clang loop unroll(full)
        for (int v = 0; v < V; v++)
#if FUSED
            sum[r][v] = __builtin_elementwise_fma(one, row[v], sum[r][v]);
#else
            sum[r][v] += one * row[v];
#endif
    }
}

/* y[R, V vectors] (+)= x[R, depth] w. The order of sums is the same for each R and V.

   PLAIN: x's numbers of a row are neighbours and w is a panel of scratch, so that four k at a time
   need no other addresses than constants beside two pointers. */
INLINE void LOCAL(tile_of)(
    const int R, const int V, const int PLAIN, const struct tile *t, struct ahead *ahead) {
    LOCAL(floats) sum[ROWS][4];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < V; v++) sum[r][v] = (LOCAL(floats)){};
    }
    const float *w = t->w;
    const size_t second = PLAIN ? LANES : t->second;
    const size_t step_w = PLAIN ? SKEIN_PRODUCT_COLUMNS : t->step_w;
    const size_t step_x = PLAIN ? 1 : t->step_x, row_x = t->row_x;
    const float *x[(ROWS + 2) / 3];
    for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] = t->x + (size_t)i * 3 * row_x;
    for (size_t left = t->depth; left > 0;) {
        size_t count = left < FETCH_EVERY ? left : FETCH_EVERY;
        left -= count;
        for (; PLAIN && count >= 4; count -= 4) {
#pragma clang loop unroll(full)
            for (size_t u = 0; u < 4; u++) {
                const float *at[(ROWS + 2) / 3];
                for (int i = 0; i < (ROWS + 2) / 3; i++) at[i] = x[i] + u;
                LOCAL(step)(R, V, sum, at, row_x, w + u * step_w, second);
            }
            w += 4 * step_w;
            for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += 4;
        }
#pragma clang loop unroll(disable)
        for (; count > 0; count--) {
            LOCAL(step)(R, V, sum, x, row_x, w, second);
            w += step_w;
            for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += step_x;
        }
        fetch(ahead);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < V; v++) {
            LOCAL(unaligned) *y = (LOCAL(unaligned) *)(t->y + (size_t)r * t->stride_y + v * LANES);
            *y = t->accumulate ? *y + sum[r][v] : sum[r][v];
        }
    }
}

#define TILE(NAME, R, V, PLAIN)                                                        \
    static __attribute__((noinline)) void LOCAL(NAME##_##R)(                           \
        const struct tile *t, struct ahead *ahead) {                                   \
        LOCAL(tile_of)(R, V, PLAIN, t, ahead);                                         \
    }
#define TILES(NAME, V, PLAIN)                                                          \
    TILE(NAME, 1, V, PLAIN) TILE(NAME, 2, V, PLAIN) TILE(NAME, 3, V, PLAIN) TILE(NAME, 4, V, PLAIN)
#define MORE_TILES(NAME, V, PLAIN) TILE(NAME, 5, V, PLAIN) TILE(NAME, 6, V, PLAIN)
TILES(tile, 2, 0)
#if ROWS > 4
MORE_TILES(tile, 2, 0)
#endif
#if ROWS > 6
TILE(tile, 7, 2, 0) TILE(tile, 8, 2, 0) TILE(tile, 9, 2, 0)
TILE(tile, 10, 2, 0) TILE(tile, 11, 2, 0) TILE(tile, 12, 2, 0)
#endif
#if WIDE
TILES(wide, 4, 0) MORE_TILES(wide, 4, 0)
TILES(plain, 4, 1) MORE_TILES(plain, 4, 1)
#endif

typedef void (*const LOCAL(tiles))(const struct tile *, struct ahead *);

static LOCAL(tiles) LOCAL(narrow_tiles)[] = {
    LOCAL(tile_1), LOCAL(tile_2), LOCAL(tile_3), LOCAL(tile_4),
#if ROWS > 4
    LOCAL(tile_5), LOCAL(tile_6),
#endif
#if ROWS > 6
    LOCAL(tile_7), LOCAL(tile_8), LOCAL(tile_9), LOCAL(tile_10), LOCAL(tile_11), LOCAL(tile_12),
#endif
};
#if WIDE
static LOCAL(tiles) LOCAL(wide_tiles)[] = {
    LOCAL(wide_1), LOCAL(wide_2), LOCAL(wide_3), LOCAL(wide_4), LOCAL(wide_5), LOCAL(wide_6)};
static LOCAL(tiles) LOCAL(plain_tiles)[] = {
    LOCAL(plain_1), LOCAL(plain_2), LOCAL(plain_3), LOCAL(plain_4), LOCAL(plain_5), LOCAL(plain_6)};
#endif
#undef TILE
#undef TILES
#undef MORE_TILES

_Static_assert(GRAIN % ROWS == 0 && (WIDE == 0 || GRAIN % (WIDE + !WIDE) == 0), "tiles lie within");

/* Rows from..<end for up to `width` columns, with tiles of up to `most` rows. */
INLINE void LOCAL(strip)(
    LOCAL(tiles) *tiles, const size_t most, const size_t width, const struct skein_panel *p,
    struct mask mask, size_t from, size_t end, size_t column, size_t columns,
    struct ahead *ahead) {
    struct tile t = {
        .row_x = p->row_x, .step_x = p->step_x,
        .second = LANES == 16 ? p->group_w : LANES, .step_w = p->step_w,
        .stride_y = p->stride_y, .accumulate = p->accumulate,
    };
    const float *const w = p->w + column / 16 * p->group_w + column % 16;
    const int whole = columns == width;
    /* Fewer columns go through memory that is wide enough; a missing second group is not read. */
    float narrow[ROWS * LOCAL(width)] = {0};
    if (LANES == 16 && columns <= 16) t.second = 0;
    for (size_t r = from; r < end; r += most) {
        const size_t rows = end - r < most ? end - r : most;
        if (mask.causal == SKEIN_CAUSAL_RESULT &&
            mask.edge + (ptrdiff_t)(r + rows - 1) <= (ptrdiff_t)column)
            continue;
        float *y = p->y + r * p->stride_y + column;
        size_t begin;
        t.depth = needed(mask, r, p->k, &begin);
        t.x = p->x + r * p->row_x + begin * p->step_x;
        t.w = w + begin * p->step_w;
        t.y = whole ? y : narrow;
        if (!whole) {
            t.stride_y = width;
            for (size_t i = 0; p->accumulate && i < rows; i++)
                memcpy(narrow + i * width, y + i * p->stride_y, columns * sizeof *y);
        }
        tiles[rows - 1](&t, ahead);
        for (size_t i = 0; !whole && i < rows; i++)
            memcpy(y + i * p->stride_y, narrow + i * width, columns * sizeof *y);
    }
}

static void LOCAL(panel)(const struct skein_panel *p, struct mask mask, struct ahead *ahead) {
    for (size_t column = 0; column < p->n;) {
        const size_t left = p->n - column;
#if WIDE
        /* All four groups of 16 must be there to be read. */
        if (left > 3 * LANES) {
            const size_t columns = left < 4 * LANES ? left : 4 * LANES;
            const int plain = p->step_x == 1 && p->group_w == LANES &&
                              p->step_w == SKEIN_PRODUCT_COLUMNS;
            size_t row = 0;
            /* The rows above the diagonal's middle want no more than a narrow tile has. */
            const ptrdiff_t few = (ptrdiff_t)(column + LOCAL(width)) - mask.edge + 1;
            if (mask.causal == SKEIN_CAUSAL_RESULT && few > 0) {
                row = (size_t)few < p->rows ? (size_t)few : p->rows;
                LOCAL(strip)(
                    LOCAL(narrow_tiles), ROWS, LOCAL(width), p, mask, 0, row, column,
                    LOCAL(width), ahead);
            }
            LOCAL(strip)(
                plain ? LOCAL(plain_tiles) : LOCAL(wide_tiles), WIDE, 4 * LANES, p, mask, row,
                p->rows, column, columns, ahead);
            column += columns;
            continue;
        }
#endif
        const size_t columns = left < LOCAL(width) ? left : LOCAL(width);
        LOCAL(strip)(
            LOCAL(narrow_tiles), ROWS, LOCAL(width), p, mask, 0, p->rows, column, columns, ahead);
        column += columns;
    }
}

#if FUSED
/* out[k][64] from rows w[64, k]: 16 x 16 at a time, the rest one by one; missing rows are zeros. */
static void LOCAL(pack_transposed)(
    const float *w, size_t stride, size_t columns, size_t depth, float *out) {
    size_t k = 0;
    if (columns == SKEIN_PRODUCT_COLUMNS) {
        for (; k + 16 <= depth; k += 16)
            for (size_t part = 0; part < SKEIN_PRODUCT_COLUMNS; part += 16)
                transpose16(
                    w + part * stride + k, stride, out + k * SKEIN_PRODUCT_COLUMNS + part);
    }
    for (; k < depth; k++) {
        for (size_t c = 0; c < SKEIN_PRODUCT_COLUMNS; c++)
            out[k * SKEIN_PRODUCT_COLUMNS + c] = c < columns ? w[c * stride + k] : 0;
    }
}

/* out[k][64] from w[k, 64]; missing columns are zeros. */
static void LOCAL(pack_rows)(
    const float *w, size_t stride, size_t columns, size_t depth, float *out) {
    if (columns == SKEIN_PRODUCT_COLUMNS) {
        for (size_t k = 0; k < depth; k++, w += stride, out += SKEIN_PRODUCT_COLUMNS) {
#pragma clang loop unroll(full)
            for (int v = 0; v < SKEIN_PRODUCT_COLUMNS / LANES; v++)
                *(LOCAL(unaligned) *)(out + v * LANES) =
                    *(const LOCAL(unaligned) *)(w + v * LANES);
        }
        return;
    }
    for (size_t k = 0; k < depth; k++) {
        for (size_t c = 0; c < SKEIN_PRODUCT_COLUMNS; c++)
            out[k * SKEIN_PRODUCT_COLUMNS + c] = c < columns ? w[k * stride + c] : 0;
    }
}

/* All panels of one block of k for some rows. */
static void LOCAL(block)(
    const struct skein_product *product, size_t k, size_t depth, const float *x, size_t row_x,
    size_t row, size_t rows, float *scratch) {
    for (size_t column = 0; column < product->n; column += SKEIN_PRODUCT_COLUMNS) {
        const size_t left = product->n - column;
        const size_t columns = left < SKEIN_PRODUCT_COLUMNS ? left : SKEIN_PRODUCT_COLUMNS;
        const float *w = product->transposed ? product->w + column * product->stride_w + k
                                             : product->w + k * product->stride_w + column;
        (product->transposed ? LOCAL(pack_transposed) : LOCAL(pack_rows))(
            w, product->stride_w, columns, depth, scratch);
        struct ahead ahead = next_panel(
            product, k, depth, column + SKEIN_PRODUCT_COLUMNS, (rows + 5) / 6);
        const struct skein_panel panel = {
            .x = x, .row_x = row_x, .step_x = product->step_x, .w = scratch, .group_w = 16,
            .step_w = SKEIN_PRODUCT_COLUMNS,
            .y = product->y + row * product->stride_y + column, .stride_y = product->stride_y,
            .rows = rows, .n = columns, .k = depth, .accumulate = product->accumulate || k > 0,
        };
        LOCAL(panel)(&panel, mask_of(product, row, k, column), &ahead);
    }
}

static void LOCAL(product)(const struct skein_product *product, float *scratch) {
    const int copies = product->step_x == 1 && product->row_x % 1024 == 0;
    const size_t most = copies ? SKEIN_PRODUCT_ROWS : product->rows;
    size_t k = 0;
    do {
        const size_t depth = skein_product_depth(product->k - k);
        for (size_t row = 0; row < product->rows; row += most) {
            const size_t left = product->rows - row, rows = left < most ? left : most;
            const float *x = product->x + row * product->row_x + k * product->step_x;
            size_t row_x = product->row_x;
            if (copies) {
                float *copy = scratch + SKEIN_PRODUCT_PANEL;
                const size_t stride = (depth + 15) / 16 * 16 + 16;
                for (size_t r = 0; r < rows; r++)
                    memcpy(copy + r * stride, x + r * row_x, depth * sizeof *x);
                x = copy;
                row_x = stride;
            }
            LOCAL(block)(product, k, depth, x, row_x, row, rows, scratch);
        }
        k += depth;
    } while (k < product->k);
}
#endif

#undef LOCAL
#undef JOIN
#undef JOIN_
#undef LEVEL
#undef LANES
#undef ROWS
#undef WIDE
#undef FUSED
