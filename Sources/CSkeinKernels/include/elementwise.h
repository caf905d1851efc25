#ifndef SKEIN_ELEMENTWISE_H
#define SKEIN_ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Kernels for rows of activations: sixteen lanes, any length, any alignment.

   `level` is at most skein_level(). Bits depend on the numbers and the length; the levels from
   SKEIN_FUSED on give the same bits, SKEIN_PLAIN others, because it has no fused multiply-add. A
   bf16 number is a uint16_t: the upper half of a float, rounded to nearest, ties to even; NaN
   stays NaN. Inputs and outputs may be the same array but not overlap otherwise. */

/* 1 if the level in use has fused multiply-add, so that its bits differ from SKEIN_PLAIN. */
int skein_elementwise_fused(void);

/* e^x, below 2 ulp for -87 <= x <= 88; smaller x gives 0, larger x counts as 88, NaN stays. */
float skein_exponential(enum skein_level level, float x);

/* sum of a[i] * b[i] */
float skein_dot(enum skein_level level, const float *a, const float *b, size_t count);

void skein_to_bf16(enum skein_level level, const float *x, size_t count, uint16_t *out);
void skein_from_bf16(enum skein_level level, const uint16_t *x, size_t count, float *out);

/* SwiGLU (Shazeer 2020): a = gate / (1 + e^-gate) * up */
void skein_swiglu_forward(
    enum skein_level level, const float *gate, const float *up, size_t count, float *a);
void skein_swiglu_forward_bf16(
    enum skein_level level, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a);

/* dg = da * up * s * (1 + gate * (1 - s)), du = da * gate * s, s = 1 / (1 + e^-gate); dg may be
   da. */
void skein_swiglu_backward(
    enum skein_level level, const float *da, const float *gate, const float *up, size_t count,
    float *dg, float *du);
void skein_swiglu_backward_bf16(
    enum skein_level level, const uint16_t *da, const uint16_t *gate, const uint16_t *up,
    size_t count, uint16_t *dg, uint16_t *du);

/* GeGLU (Shazeer 2020) with the tanh of Hendrycks and Gimpel 2016: a = gelu(gate) * up, gelu(g) =
   1/2 g (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))). */
void skein_geglu_forward(
    enum skein_level level, const float *gate, const float *up, size_t count, float *a);
void skein_geglu_forward_bf16(
    enum skein_level level, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a);

/* dg = da * up * gelu'(gate), du = da * gelu(gate); dg may be da. */
void skein_geglu_backward(
    enum skein_level level, const float *da, const float *gate, const float *up, size_t count,
    float *dg, float *du);
void skein_geglu_backward_bf16(
    enum skein_level level, const uint16_t *da, const uint16_t *gate, const uint16_t *up,
    size_t count, uint16_t *dg, uint16_t *du);

/* x = cap tanh(factor * x) in place, cap > 0: a score or logit that never leaves +-cap. The
   hyperbolic tangent is below 3 ulp, for small x, too; NaN stays. */
void skein_softcap(enum skein_level level, float *x, size_t count, float factor, float cap);

/* dy *= 1 - (y / cap)^2, y being what skein_softcap gave; what `factor` adds is the caller's. */
void skein_softcap_backward(
    enum skein_level level, const float *y, size_t count, float cap, float *dy);

/* y = factor e^(y - shift) (1 - (y / cap)^2) in place: softmax of capped logits, and then the cap's
   gradient. */
void skein_softcap_gradient(
    enum skein_level level, float *y, size_t count, float shift, float factor, float cap);

/* y = x * r * weight, r = 1 / sqrt(mean(x^2) + epsilon) of each row.

   Reads x [tokens, width], weight [width]; writes y and its bf16 numbers, each [tokens, width]
   or NULL, the latter's rows `stride_bf16` elements apart, and inverse [tokens], which receives r. */
void skein_rmsnorm_forward(
    enum skein_level level, const float *x, const float *weight, float epsilon, size_t tokens,
    size_t width, float *y, uint16_t *y_bf16, size_t stride_bf16, float *inverse);

/* The same with r read from `inverse`. */
void skein_rmsnorm_again(
    enum skein_level level, const float *x, const float *weight, const float *inverse,
    size_t tokens, size_t width, float *y, uint16_t *y_bf16, size_t stride_bf16);

/* dx += r * (weight * dy) - x * r^3 / width * sum(weight * dy * x), row by row. */
void skein_rmsnorm_backward(
    enum skein_level level, const float *dy, const float *x, const float *weight,
    const float *inverse, size_t tokens, size_t width, float *dx);

/* The same into dx, which may be dy or x: dx = r * (weight * dy) - ... */
void skein_rmsnorm_backward_into(
    enum skein_level level, const float *dy, const float *x, const float *weight,
    const float *inverse, size_t tokens, size_t width, float *dx);

/* Rotates the first 2 half elements of each head of each token by halves: a' = a c - b s, b' = b c
   + a s, with s negated if `inverse`. The others stay.

   x [tokens, heads, width] in place, width >= 2 half; cosines and sines [tokens, half]. */
void skein_rotate(
    enum skein_level level, float *x, size_t tokens, size_t heads, size_t width, size_t half,
    const float *cosines, const float *sines, int inverse);

/* y += factor * x */
void skein_add_scaled(
    enum skein_level level, const float *x, float factor, size_t count, float *y);

/* y[t] += bias for each row of y [tokens, width]. */
void skein_add_bias(
    enum skein_level level, const float *bias, size_t tokens, size_t width, float *y);

/* The largest of count >= 1 numbers; NaN is ignored. */
float skein_maximum(enum skein_level level, const float *x, size_t count);

/* Whether one of the numbers equals `value`. */
int skein_contains(enum skein_level level, const float *x, size_t count, float value);

/* The sum of e^(x - shift). */
float skein_exponential_sum(enum skein_level level, const float *x, size_t count, float shift);

/* The sum of e^((x - shift) / divisor) in double: the terms have the bits of skein_exponential. */
double skein_exponential_total(
    enum skein_level level, const float *x, size_t count, float shift, float divisor);

/* x = e^(x - shift) in place; returns the sum. */
float skein_exponentiate(enum skein_level level, float *x, size_t count, float shift);

/* skein_exponentiate of a row of which no number exceeds the shift, with the same bits; and in the
   same pass skein_maximum of `next`, another row as long. */
float skein_exponentiate_row(
    enum skein_level level, float *x, size_t count, float shift, const float *next,
    float *largest);

/* x *= factor in place. */
void skein_scale(enum skein_level level, float *x, size_t count, float factor);

/* The first `seen` >= 1 numbers of x become the softmax of scale * x, scale > 0, the others up to
   `count` become 0. Returns the sum of e^(scale * x - largest), largest being that of scale * x. */
float skein_softmax(
    enum skein_level level, float *x, size_t seen, size_t count, float scale, float *largest);

/* Of the first `seen` numbers: p becomes e^(scale * p - log_sum), then ds becomes p * (ds - delta)
   * scale; the others up to `count` become 0 in both. With a cap above 0 cap tanh(scale * p / cap)
   takes the place of scale * p, and ds is multiplied by the tangent's derivative, too. */
void skein_softmax_backward(
    enum skein_level level, float *p, float *ds, size_t seen, size_t count, float log_sum,
    float delta, float scale, float cap);

/* What is the same for all numbers in one step of skein_adamw. */
struct skein_adamw_factors {
    float keep, step_size, blend, beta2, square_blend, divisor, epsilon;
};

/* m = m + blend * (g - m), v = v * beta2 + square_blend * g * g,
   p = p * keep + step_size * m / (sqrt(v) / divisor + epsilon)

   of each of `count` numbers: reads gradients g, changes moments m and v and parameters p in place,
   no two of them the same array. Each operation is rounded, from left to right, and none is fused:
   the same bits at every level, SKEIN_PLAIN included, but for the bits in a NaN. */
void skein_adamw(
    enum skein_level level, const struct skein_adamw_factors *factors, const float *g,
    size_t count, float *m, float *v, float *p);

/* The first `bytes` bytes of the mask at the address (a, b, c): byte i is made from the
   Philox-4x32-10 block of counter (i, a, b, c) and the key. Bit j is 1 if the lower half (j < 4)
   or the upper half of word j mod 4 is at least `threshold`, 0 ... 65536. The same bits at every
   level. */
void skein_dropout_draw(
    enum skein_level level, uint8_t *mask, size_t bytes, uint32_t key0, uint32_t key1, uint32_t a,
    uint32_t b, uint32_t c, uint32_t threshold);

/* y = keep * x and y += keep * x; keep is kept_scale where the mask's bit is 1. A dropped
   element counts as 0, even if it is NaN. */
void skein_dropout_apply(
    enum skein_level level, const float *x, const uint8_t *mask, size_t count, float kept_scale,
    float *y);
void skein_dropout_add(
    enum skein_level level, const float *x, const uint8_t *mask, size_t count, float kept_scale,
    float *y);

#endif
