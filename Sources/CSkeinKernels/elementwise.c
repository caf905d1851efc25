#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_ROUNDS_TO_BF16
#define SKEIN_BODY "elementwise_body.h"
#include "elementwise_levels.h"

int skein_elementwise_fused(void) { return skein_level() >= SKEIN_FUSED; }

float skein_exponential(enum skein_level level, float x) {
    return SKEIN_AT(level, exponential)(x);
}

void skein_to_bf16(enum skein_level level, const float *x, size_t count, uint16_t *out) {
    SKEIN_AT(level, to_bf16)(x, count, out);
}

void skein_from_bf16(enum skein_level level, const uint16_t *x, size_t count, float *out) {
    SKEIN_AT(level, from_bf16)(x, count, out);
}

void skein_swiglu_forward(
    enum skein_level level, const float *gate, const float *up, size_t count, float *a) {
    SKEIN_AT(level, swiglu_forward)(gate, up, count, a);
}

void skein_swiglu_forward_bf16(
    enum skein_level level, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a) {
    SKEIN_AT(level, swiglu_forward_bf16)(gate, up, count, a);
}

void skein_swiglu_backward(
    enum skein_level level, const float *da, const float *gate, const float *up, size_t count,
    float *dg, float *du) {
    SKEIN_AT(level, swiglu_backward)(da, gate, up, count, dg, du);
}

void skein_swiglu_backward_bf16(
    enum skein_level level, const uint16_t *da, const uint16_t *gate, const uint16_t *up,
    size_t count, uint16_t *dg, uint16_t *du) {
    SKEIN_AT(level, swiglu_backward_bf16)(da, gate, up, count, dg, du);
}

void skein_geglu_forward(
    enum skein_level level, const float *gate, const float *up, size_t count, float *a) {
    SKEIN_AT(level, geglu_forward)(gate, up, count, a);
}

void skein_geglu_forward_bf16(
    enum skein_level level, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a) {
    SKEIN_AT(level, geglu_forward_bf16)(gate, up, count, a);
}

void skein_geglu_backward(
    enum skein_level level, const float *da, const float *gate, const float *up, size_t count,
    float *dg, float *du) {
    SKEIN_AT(level, geglu_backward)(da, gate, up, count, dg, du);
}

void skein_geglu_backward_bf16(
    enum skein_level level, const uint16_t *da, const uint16_t *gate, const uint16_t *up,
    size_t count, uint16_t *dg, uint16_t *du) {
    SKEIN_AT(level, geglu_backward_bf16)(da, gate, up, count, dg, du);
}

void skein_adamw(
    enum skein_level level, const struct skein_adamw_factors *factors, const float *g,
    size_t count, float *m, float *v, float *p) {
    SKEIN_AT(level, adamw)(factors, g, count, m, v, p);
}

void skein_softcap(enum skein_level level, float *x, size_t count, float factor, float cap) {
    SKEIN_AT(level, softcap)(x, count, factor, cap);
}

void skein_softcap_gradient(
    enum skein_level level, float *y, size_t count, float shift, float factor, float cap) {
    SKEIN_AT(level, softcap_gradient)(y, count, shift, factor, cap);
}

void skein_softcap_backward(
    enum skein_level level, const float *y, size_t count, float cap, float *dy) {
    SKEIN_AT(level, softcap_backward)(y, count, cap, dy);
}

float skein_maximum(enum skein_level level, const float *x, size_t count) {
    return SKEIN_AT(level, maximum)(x, count);
}

int skein_contains(enum skein_level level, const float *x, size_t count, float value) {
    return SKEIN_AT(level, contains)(x, count, value);
}

float skein_exponential_sum(enum skein_level level, const float *x, size_t count, float shift) {
    return SKEIN_AT(level, exponential_sum)(x, count, shift);
}

double skein_exponential_total(
    enum skein_level level, const float *x, size_t count, float shift, float divisor) {
    return SKEIN_AT(level, exponential_total)(x, count, shift, divisor);
}

float skein_exponentiate(enum skein_level level, float *x, size_t count, float shift) {
    return SKEIN_AT(level, exponentiate)(x, count, 1, shift);
}

float skein_exponentiate_row(
    enum skein_level level, float *x, size_t count, float shift, const float *next,
    float *largest) {
    return SKEIN_AT(level, exponentiate_row)(x, count, shift, next, largest);
}

void skein_scale(enum skein_level level, float *x, size_t count, float factor) {
    SKEIN_AT(level, scale)(x, count, factor);
}

float skein_softmax(
    enum skein_level level, float *x, size_t seen, size_t count, float scale, float *largest) {
    return SKEIN_AT(level, softmax)(x, seen, count, scale, largest);
}

void skein_softmax_backward(
    enum skein_level level, float *p, float *ds, size_t seen, size_t count, float log_sum,
    float delta, float scale, float cap) {
    SKEIN_AT(level, softmax_backward)(p, ds, seen, count, log_sum, delta, scale, cap);
}
