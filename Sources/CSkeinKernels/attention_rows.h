#ifndef SKEIN_ATTENTION_ROWS_H
#define SKEIN_ATTENTION_ROWS_H

/* What attention computes between its products. Tiles have at most 12 rows; arrays that are read or
   written in vectors end at multiples of 32. */

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Rows of a tile: what skein_bf16_multiply computes at once. */
enum { SKEIN_ATTENTION_TILE = 12 };

/* Scores s[rows, keys] of consecutive queries become e^(scale (s - largest)) in bf16, p[rows,
   limit]. Row r sees the first `seen` + r keys but for the first `hidden` + r, if that is above 0,
   and has zeros elsewhere. sums and shifts [16] receive each row's sum and scale * largest. With a
   cap above 0 cap tanh(scale * s / cap) takes the place of scale * s, in s, too. */
struct skein_attention_scores {
    float *s;
    size_t stride_s;
    uint16_t *p;
    size_t stride_p;
    size_t rows;
    ptrdiff_t hidden;
    size_t seen, limit;
    float scale, cap;
    float *sums, *shifts;
};

void skein_attention_exponentiate(enum skein_level level, const struct skein_attention_scores *t);

/* y[rows, n] of a tile by the rows' sums; log_sum_exp[rows] = shift + ln sum unless it is NULL. */
void skein_attention_normalize(
    enum skein_level level, float *y, size_t stride, size_t rows, size_t n, const float *sums,
    const float *shifts, float *log_sum_exp);

/* delta[t] = sum over n of a[t, n] * b[t, n] */
void skein_attention_delta(
    enum skein_level level, const float *a, const float *b, size_t stride, size_t rows, size_t n,
    float *delta);

/* A tile of keys of the backward pass: S^T and dP^T [rows, queries] become P^T and dS^T in bf16,
   dS^T also in pairs of keys as a right factor. Key r is seen by query lane i if first_seen + r <=
   i < first_seen + r + window. With a cap above 0 scores are capped. */
struct skein_attention_tile {
    const float *s, *dp;
    size_t stride;
    const float *log_sum_exp, *delta; /* [queries] */
    size_t rows, queries;
    ptrdiff_t first_seen;
    size_t window;
    float scale, cap;
    uint16_t *p, *ds;
    size_t stride_p;
    uint16_t *packed; /* the first pair of keys in the panel of the first query */
    size_t panel;
};

void skein_attention_differentiate(enum skein_level level, const struct skein_attention_tile *t);

/* x[rows, n] rounded to bf16 and packed as skein_bf16_pack_rows does (the right factor of a
   product over rows), as skein_bf16_pack_columns does (over n), or both; NULL for neither. */
struct skein_attention_packing {
    const float *x;
    size_t stride, rows, n;
    uint16_t *as_rows, *as_columns;
};

void skein_attention_pack(enum skein_level level, const struct skein_attention_packing *packing);

/* x[rows, n] rounded to bf16: out[rows, n padded with zeros to a multiple of 32]. */
void skein_attention_round(
    enum skein_level level, const float *x, size_t stride, size_t rows, size_t n, uint16_t *out,
    size_t stride_out);

/* out[columns, rows] = x[rows, columns]^T */
void skein_attention_transpose(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t columns,
    float *out, size_t stride_out);

#endif
