/* The product for processors without VDPBF16PS, included once per level with
     NAME   the function that it defines
     LANES  floats in a vector
     ROWS   rows of a tile, which is two vectors wide
     FUSED  whether the processor multiplies and adds in one instruction
   A product of two bf16 is exact, so that a separate addition rounds as a fused one does. */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define LOCAL(name) JOIN(NAME, name)

typedef float LOCAL(floats) __attribute__((vector_size(LANES * 4)));
typedef float LOCAL(unaligned) __attribute__((vector_size(LANES * 4), aligned(4)));
typedef uint32_t LOCAL(words) __attribute__((vector_size(LANES * 4)));

enum { LOCAL(width) = 2 * LANES };

/* y[R, 2 vectors] over `pairs` of k. */
static inline __attribute__((always_inline)) void LOCAL(tile_of)(
    const int R, const uint16_t *x, size_t stride_x, const uint16_t *p, size_t pairs, float *y,
    size_t stride_y, int accumulate) {
    LOCAL(floats) sum[ROWS][2];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 2; v++)
            sum[r][v] = accumulate
                            ? *(LOCAL(unaligned) *)(y + (size_t)r * stride_y + v * LANES)
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
                uint32_t pair;
                memcpy(&pair, x + (size_t)r * stride_x, sizeof pair);
                const LOCAL(words) both = (LOCAL(words)){0} + pair;
                const LOCAL(floats) one =
                    (LOCAL(floats))(odd ? both & 0xffff0000u : both << 16);
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
            *(LOCAL(unaligned) *)(y + (size_t)r * stride_y + v * LANES) = sum[r][v];
}

static void LOCAL(tile)(
    size_t rows, const uint16_t *x, size_t stride_x, const uint16_t *p, size_t pairs, float *y,
    size_t stride_y, int accumulate) {
    if (rows == ROWS) {
        LOCAL(tile_of)(ROWS, x, stride_x, p, pairs, y, stride_y, accumulate);
        return;
    }
    for (size_t r = 0; r < rows; r++)
        LOCAL(tile_of)
    (1, x + r * stride_x, stride_x, p, pairs, y + r * stride_y, stride_y, accumulate);
}

/* A tile that is narrower than two vectors goes through a copy. */
static void LOCAL(narrow_tile)(
    size_t rows, size_t columns, const uint16_t *x, size_t stride_x, const uint16_t *p,
    size_t pairs, float *y, size_t stride_y, int accumulate) {
    float copy[ROWS * LOCAL(width)] = {0};
    for (size_t r = 0; r < rows && accumulate; r++)
        memcpy(copy + r * LOCAL(width), y + r * stride_y, columns * sizeof *y);
    LOCAL(tile)(rows, x, stride_x, p, pairs, copy, LOCAL(width), accumulate);
    for (size_t r = 0; r < rows; r++)
        memcpy(y + r * stride_y, copy + r * LOCAL(width), columns * sizeof *y);
}

void NAME(const struct skein_bf16_product *product) {
    const size_t pairs = (product->k + 1) / 2;
    size_t count;
    for (size_t first = 0; first == 0 || first < pairs; first += count) {
        count = skein_bf16_block(pairs - first);
        const int accumulate = product->accumulate || first > 0;
        for (size_t column = 0; column < product->n; column += LOCAL(width)) {
            const size_t columns = product->n - column;
            const uint16_t *p = product->p + column / SKEIN_BF16_COLUMNS * product->panel +
                                column % SKEIN_BF16_COLUMNS * 2 + first * 2 * SKEIN_BF16_COLUMNS;
            for (size_t row = 0; row < product->rows; row += ROWS) {
                const size_t left = product->rows - row, rows = left < ROWS ? left : ROWS;
                const uint16_t *x = product->x + row * product->stride_x + 2 * first;
                float *y = product->y + row * product->stride_y + column;
                if (columns >= LOCAL(width))
                    LOCAL(tile)
                (rows, x, product->stride_x, p, count, y, product->stride_y, accumulate);
                else LOCAL(narrow_tile)(
                    rows, columns, x, product->stride_x, p, count, y, product->stride_y,
                    accumulate);
            }
        }
        if (count == 0) break;
    }
}

#undef LOCAL
#undef JOIN
#undef JOIN_
#undef NAME
#undef LANES
#undef ROWS
#undef FUSED
