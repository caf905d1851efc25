#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"
#include "attention_rows.h"

#define SKEIN_BODY "attention_rows_body.h"
#define SKEIN_ROUNDS_TO_BF16
#include "elementwise_levels.h"

void skein_attention_exponentiate(enum skein_level level, const struct skein_attention_scores *t) {
    SKEIN_AT(level, attention_exponentiate)(t);
}

void skein_attention_normalize(
    enum skein_level level, float *y, size_t stride, size_t rows, size_t n, const float *sums,
    const float *shifts, float *log_sum_exp) {
    SKEIN_AT(level, attention_normalize)(y, stride, rows, n, sums, shifts, log_sum_exp);
}

void skein_attention_delta(
    enum skein_level level, const float *a, const float *b, size_t stride, size_t rows, size_t n,
    float *delta) {
    SKEIN_AT(level, attention_delta)(a, b, stride, rows, n, delta);
}

void skein_attention_differentiate(enum skein_level level, const struct skein_attention_tile *t) {
    SKEIN_AT(level, attention_differentiate)(t);
}

void skein_attention_transpose(
    enum skein_level level, const float *x, size_t stride_x, size_t rows, size_t columns,
    float *out, size_t stride_out) {
    SKEIN_AT(level, attention_transpose)(x, stride_x, rows, columns, out, stride_out);
}

void skein_attention_pack(enum skein_level level, const struct skein_attention_packing *packing) {
    SKEIN_AT(level, attention_pack)(packing);
}

void skein_attention_round(
    enum skein_level level, const float *x, size_t stride, size_t rows, size_t n, uint16_t *out,
    size_t stride_out) {
    SKEIN_AT(level, attention_round)(x, stride, rows, n, out, stride_out);
}
