#ifndef SKEIN_BF16_H
#define SKEIN_BF16_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Products with frozen weights in bf16: y[T, N] = beta y + x[T, K] P[K, N], sums in fp32.

   T rows of activations, K inputs of the product, N outputs. P is packed once:
     - panels of 32 columns, one behind the other, `skein_bf16_panel(K)` elements each;
     - in a panel, for each pair of k: 32 columns x 2 elements (k even, k odd), 128 bytes;
     - K padded with zeros to an even number, N to a multiple of 32.
   So a range of columns that starts at a multiple of 32, or of k that starts at an even number,
   is the same pointer further on.

   Rounding to bf16 is to the nearest, ties to even; a subnormal float becomes a zero of its sign
   and a NaN stays one, as with VCVTNEPS2BF16. All levels round alike.

   The sum of an element of y is one chain over k, pair by pair upwards, the odd one of a pair
   before the even one, that starts at y (beta 1) or at zero. Its bits depend on its own row of x,
   its own column of P and y alone: not on T, N, or how K was cut into ranges that were accumulated
   one onto the other. VDPBF16PS is such a chain of fused multiply-adds that take and give zero for
   subnormal numbers (Intel, BFLOAT16 Hardware Numerics Definition, 2018; seen on Zen 4, too), and
   the lower levels do the same, except that the plain one, without a fused instruction, flushes
   products below 2^-126, too. The fingerprint names the level all the same. */

enum { SKEIN_BF16_COLUMNS = 32 };

/* What the products of this process run on: "avx512bf16", "avx512", "avx2", "fused" (Arm) or
   "plain". */
const char *skein_bf16_kernel_name(void);

/* Elements of a panel of P[K, N]. */
size_t skein_bf16_panel(size_t k);

/* Bytes of a packed P[K, N]. */
size_t skein_bf16_bytes(size_t k, size_t n);

/* Elements from one row of rounded x to the next: K padded to whole cache lines, and so that the 12
   rows that are read together do not share one set of the first-level cache. */
size_t skein_bf16_stride(size_t k);

/* Memory for a packed matrix, on a cache line; NULL when there is none. Large pages made no
   measurable difference. */
void *skein_bf16_allocate(size_t bytes);
void skein_bf16_free(void *memory);

/* Rounds x[rows, k], `stride_x` floats from one row to the next, into out[rows, k padded to even],
   `stride_out` elements from one row to the next. The pad is written as zero. */
void skein_bf16_round_rows(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k, uint16_t *out,
    size_t stride_out);

/* Packs `count` columns of P, given as rows w[count, k], `stride` floats from one row to the next,
   into the panels that start at p. When 32 does not divide count, the last panel is padded with
   columns of zeros. For P = W^T. */
void skein_bf16_pack_columns(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t k, uint16_t *p);

/* Packs `count` rows of P, w[count, n], `stride` floats from one row to the next, into all panels:
   p points at the first row's pair of k in the first panel; panels are `panel` elements apart. An
   odd count is padded with a row of zeros. For P = W. */
void skein_bf16_pack_rows(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t n, uint16_t *p,
    size_t panel);

/* One product. */
struct skein_bf16_product {
    const uint16_t *x; /* [rows, k padded to even], rounded */
    size_t stride_x;   /* elements from one row of x to the next, even */
    const uint16_t *p; /* the first pair of k of the first column; 64-byte aligned */
    size_t panel;      /* elements from one panel to the next */
    float *y;          /* [rows, n] */
    size_t stride_y;   /* floats from one row of y to the next */
    size_t rows, k, n;
    int accumulate; /* whether sums start at y instead of zero */
    /* NULL, or what receives the sums rounded to bf16, [rows, n], rows `stride_rounded` elements apart; y is
       scratch then, left undefined, and n is even. Not with `accumulate`. */
    uint16_t *rounded;
    size_t stride_rounded;
};

/* Reads x, p and, to accumulate, y; writes y. */
void skein_bf16_multiply(enum skein_level level, const struct skein_bf16_product *product);

#endif
