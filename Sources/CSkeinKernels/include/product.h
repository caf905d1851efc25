#ifndef SKEIN_PRODUCT_H
#define SKEIN_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Products of rows in fp32: y[R, N] = beta y + x[R, K] w[K, N].

   K is cut into blocks (skein_product_depth). A block's sum is one chain of multiplications and
   additions over k upwards that starts at zero; the blocks' sums are added to y (beta 1) or to one
   another, first to last: shorter chains, smaller errors. An element's bits depend on its own row
   of x, its own column of w, y and K alone, not on R or N. From SKEIN_FUSED on a step of a chain is a
   fused multiply-add, and all levels give the same bits; SKEIN_PLAIN rounds twice. (BLAS promises
   none of this: its bits change with R, and with the processor.)

   w goes through scratch in panels of 64 columns that stay in the second-level cache while all rows
   of x pass (Goto and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication").
   While one panel is in use, the next is fetched. Rows of x are used in place, unless they are a
   multiple of 4 KiB apart: the rows of a tile would share one set of the first-level cache. */

enum {
    SKEIN_PRODUCT_COLUMNS = 64,
    /* The largest depth of a panel; see skein_product_depth. */
    SKEIN_PRODUCT_DEPTH = 768,
    /* Floats of a panel. */
    SKEIN_PRODUCT_PANEL = SKEIN_PRODUCT_COLUMNS * SKEIN_PRODUCT_DEPTH,
    /* Rows of x that are copied at once, if they must be. */
    SKEIN_PRODUCT_ROWS = 256,
    /* Floats of scratch, which starts at a multiple of 64 bytes: a panel, and copied rows. */
    SKEIN_PRODUCT_SCRATCH =
        SKEIN_PRODUCT_PANEL + SKEIN_PRODUCT_ROWS * (SKEIN_PRODUCT_DEPTH + 16),
};

/* How many of the `rest` k come next. 6 rows of x take 12 KB at 512, at most 18 KB at 768. */
static inline size_t skein_product_depth(size_t rest) {
    const size_t depth = 512;
    return rest <= SKEIN_PRODUCT_DEPTH ? rest : depth;
}

/* What of a product a causal mask leaves out, where query i sees the first `seen` + i keys. How much of
   it is left out is the same at every level. It changes no bit of what is wanted, as a chain stays the
   same when a zero is added, unless a sum underflows to -0 or what a zero is multiplied with is not
   finite. */
enum skein_causal {
    SKEIN_CAUSAL_NONE,
    /* Numbers of row i of y from `seen` + i on are not wanted; they stay as they are or become any. */
    SKEIN_CAUSAL_RESULT,
    /* Numbers of row i of x from `seen` + i on are zeros. */
    SKEIN_CAUSAL_ROWS,
    /* Numbers of column i of x from `seen` + i on are zeros. */
    SKEIN_CAUSAL_COLUMNS,
};

struct skein_product {
    const float *x; /* element (r, k) at x[r * row_x + k * step_x] */
    size_t row_x, step_x;
    const float *w;
    size_t stride_w; /* floats from one stored row of w to the next */
    int transposed;  /* 0: w is stored as [K, N]; 1: as [N, K] */
    float *y;        /* [R, N] */
    size_t stride_y; /* floats from one row of y to the next */
    size_t rows, n, k;
    int accumulate; /* whether sums are added to y */
    enum skein_causal causal;
    ptrdiff_t seen;
};

/* From SKEIN_FUSED on; nobody calls it below, where OpenBLAS computes. */
void skein_multiply(enum skein_level level, const struct skein_product *product, float *scratch);

/* One block, K of any size, with w in groups of 16 columns: w(k, n) at w[n / 16 * group_w + k *
   step_w + n % 16]. Groups are readable up to their sixteenth column. */
struct skein_panel {
    const float *x;
    size_t row_x, step_x;
    const float *w;
    size_t group_w, step_w;
    float *y;
    size_t stride_y;
    size_t rows, n, k;
    int accumulate;
};

void skein_multiply_panel(enum skein_level level, const struct skein_panel *panel);

#endif
