/* Products in fp32 at one level, included once per level with
     LEVEL  the end of the names that it defines
     LANES  floats in a vector, 16 at most
     ROWS   rows of a tile, which is two vectors wide
     FUSED  whether the processor multiplies and adds in one instruction */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(name, LEVEL)

typedef float LOCAL(floats) __attribute__((vector_size(LANES * 4)));
typedef float LOCAL(unaligned) __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

enum { LOCAL(width) = 2 * LANES, LOCAL(rows) = ROWS };

/* y[R, 2 vectors] (+)= x[R, depth] w. The order of sums is the same for each R. */
INLINE void LOCAL(tile_of)(const int R, const struct tile *t, struct ahead *ahead) {
    LOCAL(floats) sum[ROWS][2];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < 2; v++) sum[r][v] = (LOCAL(floats)){};
    }
    const float *w[2] = {t->w, t->w + t->second};
    const size_t step_w = t->step_w, step_x = t->step_x, row_x = t->row_x;
    const float *x[(ROWS + 2) / 3];
    for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] = t->x + (size_t)i * 3 * row_x;
    for (size_t left = t->depth; left > 0;) {
        size_t count = left < FETCH_EVERY ? left : FETCH_EVERY;
        left -= count;
        for (; count > 0; count--) {
            LOCAL(floats) row[2];
#pragma clang loop unroll(full)
            for (int v = 0; v < 2; v++) row[v] = *(const LOCAL(unaligned) *)w[v];
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                /* Subtracting +0 changes no number, so nothing is computed. */
                const LOCAL(floats) one =
                    x[r / 3][(size_t)(r % 3) * row_x] - (LOCAL(floats)){};
#pragma clang loop unroll(full)
                for (int v = 0; v < 2; v++)
#if FUSED
                    sum[r][v] = __builtin_elementwise_fma(one, row[v], sum[r][v]);
#else
                    sum[r][v] += one * row[v];
#endif
            }
            for (int v = 0; v < 2; v++) w[v] += step_w;
            for (int i = 0; i < (ROWS + 2) / 3; i++) x[i] += step_x;
        }
        fetch(ahead);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++) {
#pragma clang loop unroll(full)
        for (int v = 0; v < 2; v++) {
            LOCAL(unaligned) *y = (LOCAL(unaligned) *)(t->y + (size_t)r * t->stride_y + v * LANES);
            *y = t->accumulate ? *y + sum[r][v] : sum[r][v];
        }
    }
}

#define TILE(R)                                                                        \
    static __attribute__((noinline)) void LOCAL(tile_##R)(                             \
        const struct tile *t, struct ahead *ahead) {                                   \
        LOCAL(tile_of)(R, t, ahead);                                                   \
    }
TILE(1) TILE(2) TILE(3) TILE(4)
#if ROWS > 4
TILE(5) TILE(6)
#endif
#if ROWS > 6
TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)
#endif
#undef TILE

static void (*const LOCAL(tiles)[])(const struct tile *, struct ahead *) = {
    LOCAL(tile_1), LOCAL(tile_2), LOCAL(tile_3), LOCAL(tile_4),
#if ROWS > 4
    LOCAL(tile_5), LOCAL(tile_6),
#endif
#if ROWS > 6
    LOCAL(tile_7), LOCAL(tile_8), LOCAL(tile_9), LOCAL(tile_10), LOCAL(tile_11), LOCAL(tile_12),
#endif
};

/* All rows for up to LOCAL(width) columns. */
static void LOCAL(strip)(
    const struct skein_panel *p, size_t column, size_t columns, struct ahead *ahead) {
    struct tile t = {
        .row_x = p->row_x, .step_x = p->step_x,
        .w = p->w + column / 16 * p->group_w + column % 16,
        .second = LANES == 16 ? p->group_w : LANES, .step_w = p->step_w,
        .stride_y = p->stride_y, .depth = p->k, .accumulate = p->accumulate,
    };
    const int whole = columns == LOCAL(width);
    /* Fewer columns go through memory that is wide enough; a missing second group is not read. */
    float narrow[ROWS * LOCAL(width)] = {0};
    if (LANES == 16 && columns <= 16) t.second = 0;
    for (size_t r = 0; r < p->rows; r += ROWS) {
        const size_t rows = p->rows - r < ROWS ? p->rows - r : ROWS;
        float *y = p->y + r * p->stride_y + column;
        t.x = p->x + r * p->row_x;
        t.y = whole ? y : narrow;
        if (!whole) {
            t.stride_y = LOCAL(width);
            for (size_t i = 0; p->accumulate && i < rows; i++)
                memcpy(narrow + i * LOCAL(width), y + i * p->stride_y, columns * sizeof *y);
        }
        LOCAL(tiles)[rows - 1](&t, ahead);
        for (size_t i = 0; !whole && i < rows; i++)
            memcpy(y + i * p->stride_y, narrow + i * LOCAL(width), columns * sizeof *y);
    }
}

static void LOCAL(panel)(const struct skein_panel *p, struct ahead *ahead) {
    for (size_t column = 0; column < p->n; column += LOCAL(width)) {
        const size_t left = p->n - column;
        LOCAL(strip)(p, column, left < LOCAL(width) ? left : LOCAL(width), ahead);
    }
}

#if FUSED
/* out[k][32] from rows w[32, k]: 16 x 16 at a time, the rest one by one; missing rows are zeros. */
static void LOCAL(pack_transposed)(
    const float *w, size_t stride, size_t columns, size_t depth, float *out) {
    size_t k = 0;
    if (columns == SKEIN_PRODUCT_COLUMNS) {
        for (; k + 16 <= depth; k += 16)
            for (size_t half = 0; half < 32; half += 16)
                transpose16(w + half * stride + k, stride, out + k * 32 + half);
    }
    for (; k < depth; k++) {
        for (size_t c = 0; c < 32; c++) out[k * 32 + c] = c < columns ? w[c * stride + k] : 0;
    }
}

/* out[k][32] from w[k, 32]; missing columns are zeros. */
static void LOCAL(pack_rows)(
    const float *w, size_t stride, size_t columns, size_t depth, float *out) {
    if (columns == SKEIN_PRODUCT_COLUMNS) {
        for (size_t k = 0; k < depth; k++, w += stride, out += 32) {
#pragma clang loop unroll(full)
            for (int v = 0; v < 32 / LANES; v++)
                *(LOCAL(unaligned) *)(out + v * LANES) =
                    *(const LOCAL(unaligned) *)(w + v * LANES);
        }
        return;
    }
    for (size_t k = 0; k < depth; k++) {
        for (size_t c = 0; c < 32; c++) out[k * 32 + c] = c < columns ? w[k * stride + c] : 0;
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
        struct ahead ahead = next_panel(product, k, depth, column + SKEIN_PRODUCT_COLUMNS, rows);
        const struct skein_panel panel = {
            .x = x, .row_x = row_x, .step_x = product->step_x, .w = scratch, .group_w = 16,
            .step_w = SKEIN_PRODUCT_COLUMNS,
            .y = product->y + row * product->stride_y + column, .stride_y = product->stride_y,
            .rows = rows, .n = columns, .k = depth, .accumulate = product->accumulate || k > 0,
        };
        LOCAL(panel)(&panel, &ahead);
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
#undef FUSED
