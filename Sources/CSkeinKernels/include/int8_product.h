#ifndef SKEIN_INT8_PRODUCT_H
#define SKEIN_INT8_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Products with frozen weights in 8-bit integers: y[R, N] = beta y + x[R, K] P[K, N].

   Both factors are quantized to integers q and p between -127 and 127, with scales s and t for blocks
   of 64 numbers along K: a few large numbers, which the activations of language models have, do not
   make the others coarse.

     y[r, n] = beta y + part,  part = sum over blocks b of s[r, b] t[b, n] (sum over k in b of q p)

   The inner sum is an integer below 2^21, hence exact as an integer and as a float, in whichever order
   it is added up. The outer one is a chain of fused multiply-adds over b upwards that starts at zero,
   of factors s t that are rounded once. So all levels, and every processor, give the same bits.

   P = W^T has such scales. P = W, for dx = dy W, cannot: a scale of W for each block of its rows would
   be one for each block of columns here. Its rows have one scale each, which belongs to k and is
   multiplied with x before that is quantized; t is 1.

   P is packed once, in panels of 64 columns, one behind the other: for each four k 64 columns x 4
   bytes, p + 128. K is padded to a multiple of 4 and N to one of 64. VPDPBUSD multiplies unsigned by
   signed bytes: it gives sum (p + 128) q, from which 128 sum q is subtracted, which the rows of x
   know. */

enum {
    SKEIN_INT8_COLUMNS = 64,
    /* Numbers along K that share a scale. */
    SKEIN_INT8_BLOCK = 64,
};

/* Bytes of a panel of P[K, N]. */
static inline size_t skein_int8_panel(size_t k) { return (k + 3) / 4 * 4 * SKEIN_INT8_COLUMNS; }

/* Bytes of a packed P[K, N]. */
static inline size_t skein_int8_bytes(size_t k, size_t n) {
    return (n + SKEIN_INT8_COLUMNS - 1) / SKEIN_INT8_COLUMNS * skein_int8_panel(k);
}

/* Blocks of K. */
static inline size_t skein_int8_blocks(size_t k) {
    return (k + SKEIN_INT8_BLOCK - 1) / SKEIN_INT8_BLOCK;
}

/* Bytes from one row of quantized x to the next: whole cache lines, and not a multiple of 4 KiB. */
static inline size_t skein_int8_stride(size_t k) {
    const size_t stride = (k + 63) / 64 * 64;
    return stride % 4096 == 0 ? stride + 64 : stride;
}

/* Quantized rows. */
struct skein_int8_rows {
    int8_t *q;       /* [rows, k], zeros up to the next multiple of 4 */
    size_t stride;   /* bytes from one row to the next */
    float *scales;   /* s, [rows, blocks] */
    int32_t *sums;   /* 128 sum of q, [rows, blocks] */
};

/* Quantizes x[rows, k], of which each number is first multiplied by factors[k], unless that is NULL.

   With a = max |x| of a block: s = a / 127, q = x (127 / a) rounded to the nearest, ties to even. A
   block whose a is below 2^-100 becomes zeros with the scale 0; one with NaN or infinity becomes
   zeros with the scale NaN. */
void skein_int8_quantize(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k,
    const float *factors, const struct skein_int8_rows *out);

/* Rows of weights w[count, k] as codes [count, k padded with zeros to a multiple of 4], `stride_codes`
   apart, a multiple of 4, with one scale for a row: scales [count]. Rounding, NaN and infinity are as
   in `skein_int8_quantize`, which gives codes with a scale for each block. */
void skein_int8_codes(
    enum skein_level level, const float *w, size_t stride, size_t count, size_t k, int8_t *codes,
    size_t stride_codes, float *scales);

/* Packs `count` columns of P, given as rows of codes [count, k], into the panels that start at p, of
   which the first column is a multiple of 64. For P = W^T. */
void skein_int8_pack_columns(
    const int8_t *codes, size_t stride, size_t count, size_t k, uint8_t *p);

/* Packs `count` rows of P, codes [count, n], into all panels, `panel` bytes apart; p points at the
   first row's four k in the first panel. A count that 4 does not divide is padded. The rows' scales
   belong to k here: x is multiplied by them before it is quantized. For P = W. */
void skein_int8_pack_rows(
    const int8_t *codes, size_t stride, size_t count, size_t n, uint8_t *p, size_t panel);

struct skein_int8_product {
    struct skein_int8_rows x;
    const uint8_t *p;    /* the first column's panel */
    size_t panel;        /* bytes from one panel to the next */
    const float *scales; /* t, [blocks, n]; NULL: 1. Readable up to a multiple of 64 columns */
    size_t step_scales;  /* from one block's to the next one's */
    float *y;
    size_t stride_y; /* floats from one row of y to the next */
    size_t rows, k, n;
    int accumulate;
};

/* Reads x, p and, to accumulate, y; writes y. */
void skein_int8_multiply(enum skein_level level, const struct skein_int8_product *product);

#endif
