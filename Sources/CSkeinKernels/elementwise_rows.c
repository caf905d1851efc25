#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_ROUNDS_TO_BF16
#define SKEIN_BODY "elementwise_rows_body.h"
#include "elementwise_levels.h"

float skein_dot(enum skein_level level, const float *a, const float *b, size_t count) {
    return SKEIN_AT(level, dot)(a, b, count);
}

void skein_rmsnorm_forward(
    enum skein_level level, const float *x, const float *weight, float epsilon, size_t tokens,
    size_t width, float *y, uint16_t *y_bf16, size_t stride_bf16, float *inverse) {
    SKEIN_AT(level, rmsnorm_forward)
    (x, weight, epsilon, tokens, width, y, y_bf16, stride_bf16, inverse);
}

void skein_rmsnorm_again(
    enum skein_level level, const float *x, const float *weight, const float *inverse,
    size_t tokens, size_t width, float *y, uint16_t *y_bf16, size_t stride_bf16) {
    SKEIN_AT(level, rmsnorm_again)
    (x, weight, inverse, tokens, width, y, y_bf16, stride_bf16);
}

void skein_rmsnorm_backward(
    enum skein_level level, const float *dy, const float *x, const float *weight,
    const float *inverse, size_t tokens, size_t width, float *dx) {
    SKEIN_AT(level, rmsnorm_backward)(dy, x, weight, inverse, tokens, width, dx);
}

void skein_rmsnorm_backward_into(
    enum skein_level level, const float *dy, const float *x, const float *weight,
    const float *inverse, size_t tokens, size_t width, float *dx) {
    SKEIN_AT(level, rmsnorm_backward_into)(dy, x, weight, inverse, tokens, width, dx);
}

void skein_rotate(
    enum skein_level level, float *x, size_t tokens, size_t heads, size_t width, size_t half,
    const float *cosines, const float *sines, int inverse) {
    SKEIN_AT(level, rotate)(x, tokens, heads, width, half, cosines, sines, inverse);
}

void skein_add_scaled(
    enum skein_level level, const float *x, float factor, size_t count, float *y) {
    SKEIN_AT(level, add_scaled)(x, factor, count, y);
}

void skein_add_bias(
    enum skein_level level, const float *bias, size_t tokens, size_t width, float *y) {
    SKEIN_AT(level, add_bias)(bias, tokens, width, y);
}

void skein_dropout_draw(
    enum skein_level level, uint8_t *mask, size_t bytes, uint32_t key0, uint32_t key1, uint32_t a,
    uint32_t b, uint32_t c, uint32_t threshold) {
    SKEIN_AT(level, dropout_draw)(mask, bytes, key0, key1, a, b, c, threshold);
}

void skein_dropout_apply(
    enum skein_level level, const float *x, const uint8_t *mask, size_t count, float kept_scale,
    float *y) {
    SKEIN_AT(level, dropout_apply)(x, mask, count, kept_scale, y);
}

void skein_dropout_add(
    enum skein_level level, const float *x, const uint8_t *mask, size_t count, float kept_scale,
    float *y) {
    SKEIN_AT(level, dropout_add)(x, mask, count, kept_scale, y);
}
