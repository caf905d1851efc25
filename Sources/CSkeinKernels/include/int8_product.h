#ifndef SKEIN_INT8_PRODUCT_H
#define SKEIN_INT8_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Products with frozen weights in 8-bit integers: y[R, N] = beta y + x[R, K] P[K, N].

   Both factors are turned along K, 64 numbers at a time, by the Walsh-Hadamard matrix H of 64 rows, and
   quantized to integers q and p between -127 and 127 with scales s and t for a block of 128 (the last
   one may have 64). As H H^T = 64, turning both factors changes no product (64 is in the scales), but
   64 numbers of which a few are large, as the activations of language models have them, become many
   middling ones (Ashkboos et al. 2024, "QuaRot").

     y[r, n] = beta y + part,  part = sum over blocks b of s[r, b] t[b, n] (sum over k in b of q p)

   The inner sum is an integer below 2^22, hence exact as an integer and as a float, in whichever order
   it is added up. The outer one is a chain of fused multiply-adds over b upwards that starts at zero,
   of factors s t that are rounded once. So all levels, and every processor, give the same bits.

   P = W^T has such scales. P = W, for dx = dy W, cannot: a scale of W for each block of its rows would
   be one for each block of columns here. Its rows, once turned, have one scale each, which belongs to k
   and is multiplied with x, once turned, before that is quantized; t is 1.

   P is packed once, in panels of 64 columns, one behind the other: for each four k 64 columns x 4
   bytes, p + 128. K is padded to a multiple of 64 and N to whole panels. VPDPBUSD multiplies unsigned by
   signed bytes: it gives sum (p + 128) q, from which 128 sum q is subtracted, which the rows of x
   know. */

enum {
    SKEIN_INT8_COLUMNS = 64,
    /* Numbers along K that are turned together. */
    SKEIN_INT8_TURN = 64,
    /* Numbers along K that share a scale. */
    SKEIN_INT8_BLOCK = 128,
};

/* K with zeros for what 64 does not divide. */
static inline size_t skein_int8_padded(size_t k) {
    return (k + SKEIN_INT8_TURN - 1) / SKEIN_INT8_TURN * SKEIN_INT8_TURN;
}

/* Blocks of K. */
static inline size_t skein_int8_blocks(size_t k) {
    return (k + SKEIN_INT8_BLOCK - 1) / SKEIN_INT8_BLOCK;
}

/* Bytes of a panel of P[K, N]. */
static inline size_t skein_int8_panel(size_t k) {
    return skein_int8_padded(k) * SKEIN_INT8_COLUMNS;
}

/* Bytes of a packed P[K, N]. */
static inline size_t skein_int8_bytes(size_t k, size_t n) {
    return (n + SKEIN_INT8_COLUMNS - 1) / SKEIN_INT8_COLUMNS * skein_int8_panel(k);
}

/* Bytes from one row of quantized x to the next: K padded, and not a multiple of 4 KiB. */
static inline size_t skein_int8_stride(size_t k) {
    const size_t stride = skein_int8_padded(k);
    return stride % 4096 == 0 ? stride + 64 : stride;
}

/* Quantized rows. */
struct skein_int8_rows {
    int8_t *q;       /* [rows, k padded] */
    size_t stride;   /* bytes from one row to the next */
    float *scales;   /* s, [rows, blocks] */
    int32_t *sums;   /* 128 sum of q, [rows, blocks] */
};

/* Turns and quantizes x[rows, k]: with a = max |H x| of a block, s = a / 127 / 8 and q = H x (127 / a),
   rounded to the nearest, ties to even. A block whose a is below 2^-100 becomes zeros with the scale 0;
   one with NaN or infinity becomes zeros with the scale NaN.

   factors: NULL, or [k padded], by which the numbers of H x are multiplied first. */
void skein_int8_quantize(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t k,
    const float *factors, const struct skein_int8_rows *out);

/* Turns w[rows, n] in place over its rows, 64 of them at a time, which divides `rows`, and quantizes
   the turned rows with one scale each: codes [rows, n], `stride` apart; scales [rows]: the largest
   number of a row / 127 / 8. Rounding, NaN and infinity are as above. */
void skein_int8_turned_codes(
    enum skein_level level, float *w, size_t rows, size_t n, int8_t *codes, size_t stride,
    float *scales);

/* Packs `count` columns of P, given as quantized rows [count, k], into the panels that start at p, of
   which the first column is a multiple of 64. For P = W^T. */
void skein_int8_pack_columns(
    const int8_t *codes, size_t stride, size_t count, size_t k, uint8_t *p);

/* Packs rows of P, codes [rows, n], a multiple of 4 of them, into all panels, `panel` bytes apart; p
   points at the first row's four k in the first panel. For P = W. */
void skein_int8_pack_rows(
    const int8_t *codes, size_t stride, size_t rows, size_t n, uint8_t *p, size_t panel);

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
