/* The product for processors without VDPBF16PS, included once per level with
     NAME   the function that it defines
     LANES  floats in a vector
     ROWS   rows of a tile, which is two vectors wide
     FUSED  whether the processor multiplies and adds in one instruction
   A product of two bf16 is exact, so that a separate addition rounds as a fused one does.

   A piece of x, ROWS rows of 2 CHUNK elements, is widened to floats once for GROUP columns; a piece
   of P is widened in registers, and serves ROWS rows. */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(NAME, name)

typedef float LOCAL(floats) __attribute__((vector_size(LANES * 4)));
typedef float LOCAL(unaligned) __attribute__((vector_size(LANES * 4), aligned(4)));
typedef uint32_t LOCAL(words) __attribute__((vector_size(LANES * 4)));

enum { LOCAL(width) = 2 * LANES, LOCAL(depth) = 2 * CHUNK };

/* y[R, 2 vectors] (+)= x[R, 2 pairs] p, rows of x `depth` floats apart. */
static inline __attribute__((always_inline)) void LOCAL(tile_of)(
    const int R, const float *x, const uint16_t *p, size_t pairs, float *y, size_t stride,
    int accumulate) {
    LOCAL(floats) sum[ROWS][2];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 2; v++)
            sum[r][v] = accumulate ? *(LOCAL(unaligned) *)(y + (size_t)r * stride + v * LANES)
                                   : (LOCAL(floats)){0};
    for (; pairs > 0; pairs--, x += 2, p += 2 * SKEIN_BF16_COLUMNS) {
#pragma clang loop unroll(full)
        for (int odd = 1; odd >= 0; odd--) {
            LOCAL(floats) w[2];
            for (int v = 0; v < 2; v++) {
                const LOCAL(words) both = *(const LOCAL(words) *)(p + v * 2 * LANES);
                w[v] = (LOCAL(floats))(odd ? both & 0xffff0000u : both << 16);
            }
#pragma clang loop unroll(full)
            for (int r = 0; r < R; r++) {
                uint32_t bits;
                memcpy(&bits, x + r * LOCAL(depth) + odd, sizeof bits);
                const LOCAL(floats) one = (LOCAL(floats))((LOCAL(words)){0} + bits);
                for (int v = 0; v < 2; v++)
#if FUSED
                    sum[r][v] = __builtin_elementwise_fma(w[v], one, sum[r][v]);
#else
                    sum[r][v] += w[v] * one;
#endif
            }
        }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 2; v++)
            *(LOCAL(unaligned) *)(y + (size_t)r * stride + v * LANES) = sum[r][v];
}

/* All rows, in tiles of ROWS, 4 and 1: the order of a sum is the same in each. */
static void LOCAL(tiles)(
    size_t rows, const float *x, const uint16_t *p, size_t pairs, float *y, size_t stride,
    int accumulate) {
    while (rows > 0) {
        const size_t taken = rows >= ROWS ? ROWS : rows >= 4 ? 4 : 1;
        if (taken == ROWS)
            LOCAL(tile_of)(ROWS, x, p, pairs, y, stride, accumulate);
        else if (taken == 4)
            LOCAL(tile_of)(4, x, p, pairs, y, stride, accumulate);
        else
            LOCAL(tile_of)(1, x, p, pairs, y, stride, accumulate);
        rows -= taken;
        x += taken * LOCAL(depth);
        y += taken * stride;
    }
}

/* ROWS rows or fewer for columns `first` to `last` of y. */
static void LOCAL(strip)(
    const struct skein_bf16_product *product, size_t rows, const float *x, size_t pair,
    size_t pairs, float *y, size_t first, size_t last) {
    const int accumulate = product->accumulate || pair > 0;
    for (size_t column = first; column < last; column += LOCAL(width)) {
        const uint16_t *p = product->p + column / SKEIN_BF16_COLUMNS * product->panel +
                            (column % SKEIN_BF16_COLUMNS + pair * SKEIN_BF16_COLUMNS) * 2;
        const size_t columns = last - column;
        if (columns >= LOCAL(width)) {
            LOCAL(tiles)(rows, x, p, pairs, y + column, product->stride_y, accumulate);
            continue;
        }
        float narrow[ROWS * LOCAL(width)] = {0};
        for (size_t r = 0; r < rows && accumulate; r++)
            memcpy(
                narrow + r * LOCAL(width), y + r * product->stride_y + column,
                columns * sizeof *y);
        LOCAL(tiles)(rows, x, p, pairs, narrow, LOCAL(width), accumulate);
        for (size_t r = 0; r < rows; r++)
            memcpy(
                y + r * product->stride_y + column, narrow + r * LOCAL(width),
                columns * sizeof *y);
    }
}

void NAME(const struct skein_bf16_product *product) {
    float x[ROWS * LOCAL(depth)];
    const size_t all = (product->k + 1) / 2;
    size_t pair = 0;
    do {
        const size_t pairs = all - pair < CHUNK ? all - pair : CHUNK;
        for (size_t first = 0; first < product->n; first += GROUP) {
            const size_t last = product->n - first < GROUP ? product->n : first + GROUP;
            for (size_t row = 0; row < product->rows; row += ROWS) {
                const size_t left = product->rows - row, rows = left < ROWS ? left : ROWS;
                for (size_t r = 0; r < rows; r++)
                    widen(
                        product->x + (row + r) * product->stride_x + 2 * pair, 2 * pairs,
                        x + r * LOCAL(depth));
                float *y = product->y + row * product->stride_y;
                LOCAL(strip)(product, rows, x, pair, pairs, y, first, last);
            }
        }
        pair += pairs;
    } while (pair < all);
}

#undef LOCAL
#undef JOIN
#undef JOIN_
#undef NAME
#undef LANES
#undef ROWS
#undef FUSED
