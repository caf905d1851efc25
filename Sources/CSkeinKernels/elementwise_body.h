/* Exponentials, softmax, soft caps, gated activations, AdamW and conversions at one level. A kernel
   is a step of n lanes, called with the constant 16 in the loop and with what remains after it. */

#include "exponential_body.h"
#include "tanh_body.h"

#undef AHEAD
#define AHEAD 4096

static float FN(exponential)(float x) {
    const f32x16 e = FN(exp)((f32x16)x);
    return e[0];
}

/* Softmax */

/* Of 64 numbers, into four vectors. */
INLINE void FN(maximum_step)(const float *x, f32x16 *lanes) {
    UNROLL for (int j = 0; j < 4; j++) {
        lanes[j] = FN(larger)(FN(get)(x + 16 * j, 16), lanes[j]);
    }
}

/* Of the vectors and the numbers from `i` on. */
INLINE float FN(maximum_end)(const float *x, size_t i, size_t count, f32x16 *lanes) {
    for (; i + 16 <= count; i += 16) lanes[0] = FN(larger)(FN(get)(x + i, 16), lanes[0]);
    f32x16 rest = -__builtin_inff();
    if (i < count) memcpy(&rest, x + i, (count - i) * sizeof(float));
    lanes[1] = FN(larger)(rest, lanes[1]);
    const f32x16 all = FN(larger)(
        FN(larger)(lanes[0], lanes[1]), FN(larger)(lanes[2], lanes[3]));
    const f32x8 eight = all.lo > all.hi ? all.lo : all.hi;
    const f32x4 four = eight.lo > eight.hi ? eight.lo : eight.hi;
    const f32x2 two = four.lo > four.hi ? four.lo : four.hi;
    return two.x > two.y ? two.x : two.y;
}

static float FN(maximum)(const float *x, size_t count) {
    f32x16 lanes[4];
    UNROLL for (int j = 0; j < 4; j++) lanes[j] = -__builtin_inff();
    size_t i = 0;
    for (; i + 64 <= count; i += 64) FN(maximum_step)(x + i, lanes);
    return FN(maximum_end)(x, i, count, lanes);
}

static int FN(contains)(const float *x, size_t count, float value) {
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        i32x16 found = 0;
        UNROLL for (int j = 0; j < 4; j++) found |= FN(get)(x + i + 16 * j, 16) == value;
        if (__builtin_reduce_or(found)) return 1;
    }
    for (; i < count; i++) {
        if (x[i] == value) return 1;
    }
    return 0;
}

INLINE f32x16 FN(exponential_step)(const float *x, float shift, size_t n) {
    const f32x16 e = FN(exp)(FN(get)(x, n) - shift);
    return n == 16 ? e : FN(kept)((1u << n) - 1, e);
}

static float FN(exponential_sum)(const float *x, size_t count, float shift) {
    f32x16 lanes = 0;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) lanes += FN(exponential_step)(x + i, shift, 16);
    if (i < count) lanes += FN(exponential_step)(x + i, shift, count - i);
    return FN(sum)(lanes);
}

/* Sixteen sums, as each number meets the same one at every level; the divisor is not a factor, or
   the terms would not be those of FN(exponential). */
static double FN(exponential_total)(
    const float *x, size_t count, float shift, float divisor) {
    f64x16 lanes = 0;
    for (size_t i = 0; i < count; i += 16) {
        const size_t n = count - i < 16 ? count - i : 16;
        f32x16 numbers = shift;
        memcpy(&numbers, x + i, n * sizeof(float));
        const f32x16 e = FN(exp)((numbers - shift) / divisor);
        const f32x16 kept = n == 16 ? e : FN(kept)((1u << n) - 1, e);
        lanes += __builtin_convertvector(kept, f64x16);
    }
    double total = 0;
    for (int i = 0; i < 16; i++) total += lanes[i];
    return total;
}

INLINE f32x16 FN(exponentiate_step)(float *x, float scale, float shift, size_t n) {
    const f32x16 e = FN(exp)(FN(get)(x, n) * scale - shift);
    FN(put)(x, e, n);
    return n == 16 ? e : FN(kept)((1u << n) - 1, e);
}

static float FN(exponentiate)(float *x, size_t count, float scale, float shift) {
    f32x16 lanes = 0;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) lanes += FN(exponentiate_step)(x + i, scale, shift, 16);
    if (i < count) lanes += FN(exponentiate_step)(x + i, scale, shift, count - i);
    return FN(sum)(lanes);
}

/* No number of the row exceeds the shift, so that nothing has to be clamped. */
INLINE f32x16 FN(exponentiate_below)(float *x, float shift, size_t n) {
    const f32x16 less = FN(get)(x, n) - shift, e = FN(exp_clamped)(less, less);
    FN(put)(x, e, n);
    return n == 16 ? e : FN(kept)((1u << n) - 1, e);
}

/* The next row comes from memory while this one is computed. It is fetched AHEAD floats before it
   is needed, since the processor's own prefetching ends with each page. */
static float FN(exponentiate_row)(
    float *x, size_t count, float shift, const float *next, float *largest) {
    f32x16 sums = 0, lanes[4];
    UNROLL for (int j = 0; j < 4; j++) lanes[j] = -__builtin_inff();
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        UNROLL for (int j = 0; j < 4; j++) {
            const size_t k = i + 16 * j;
            __builtin_prefetch(next + k + AHEAD, 0, 2);
            lanes[j] = FN(larger)(FN(get)(next + k, 16), lanes[j]);
            sums += FN(exponentiate_below)(x + k, shift, 16);
        }
    }
    *largest = FN(maximum_end)(next, i, count, lanes);
    for (; i + 16 <= count; i += 16) sums += FN(exponentiate_below)(x + i, shift, 16);
    if (i < count) sums += FN(exponentiate_below)(x + i, shift, count - i);
    return FN(sum)(sums);
}

static void FN(scale)(float *x, size_t count, float factor) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(put)(x + i, FN(get)(x + i, 16) * factor, 16);
    if (i < count) FN(put)(x + i, FN(get)(x + i, count - i) * factor, count - i);
}

static float FN(softmax)(float *x, size_t seen, size_t count, float scale, float *largest) {
    *largest = FN(maximum)(x, seen) * scale;
    const float sum = FN(exponentiate)(x, seen, scale, *largest);
    FN(scale)(x, seen, 1 / sum);
    memset(x + seen, 0, (count - seen) * sizeof(float));
    return sum;
}

/* 1 - t^2 */
INLINE f32x16 FN(slope)(f32x16 t) { return FN(fma)(-t, t, (f32x16)1.0f); }

/* With a cap of 0 there is none. */
INLINE void FN(softmax_backward_step)(
    float *p, float *ds, float log_sum, float delta, float scale, float cap, size_t n) {
    if (cap == 0) {
        const f32x16 e = FN(exp)(FN(get)(p, n) * scale - log_sum);
        FN(put)(p, e, n);
        FN(put)(ds, e * (FN(get)(ds, n) - delta) * scale, n);
    } else {
        const f32x16 t = FN(tanh)(FN(get)(p, n) * (scale / cap));
        const f32x16 e = FN(exp)(t * cap - log_sum);
        FN(put)(p, e, n);
        FN(put)(ds, e * (FN(get)(ds, n) - delta) * FN(slope)(t) * scale, n);
    }
}

INLINE void FN(softmax_backward_any)(
    float *p, float *ds, size_t seen, float log_sum, float delta, float scale, float cap) {
    size_t i = 0;
    for (; i + 16 <= seen; i += 16) {
        FN(softmax_backward_step)(p + i, ds + i, log_sum, delta, scale, cap, 16);
    }
    if (i < seen) FN(softmax_backward_step)(p + i, ds + i, log_sum, delta, scale, cap, seen - i);
}

static void FN(softmax_backward)(
    float *p, float *ds, size_t seen, size_t count, float log_sum, float delta, float scale,
    float cap) {
    if (cap == 0) {
        FN(softmax_backward_any)(p, ds, seen, log_sum, delta, scale, 0);
    } else {
        FN(softmax_backward_any)(p, ds, seen, log_sum, delta, scale, cap);
    }
    memset(p + seen, 0, (count - seen) * sizeof(float));
    memset(ds + seen, 0, (count - seen) * sizeof(float));
}

/* Soft caps */

INLINE void FN(softcap_step)(float *x, float factor, float cap, size_t n) {
    FN(put)(x, FN(tanh)(FN(get)(x, n) * factor) * cap, n);
}

static void FN(softcap)(float *x, size_t count, float factor, float cap) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(softcap_step)(x + i, factor, cap, 16);
    if (i < count) FN(softcap_step)(x + i, factor, cap, count - i);
}

INLINE void FN(softcap_gradient_step)(
    float *y, float shift, float factor, float inverse, size_t n) {
    const f32x16 v = FN(get)(y, n);
    FN(put)(y, FN(exp)(v - shift) * factor * FN(slope)(v * inverse), n);
}

static void FN(softcap_gradient)(float *y, size_t count, float shift, float factor, float cap) {
    const float inverse = 1 / cap;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        FN(softcap_gradient_step)(y + i, shift, factor, inverse, 16);
    }
    if (i < count) FN(softcap_gradient_step)(y + i, shift, factor, inverse, count - i);
}

INLINE void FN(softcap_backward_step)(const float *y, float inverse, float *dy, size_t n) {
    FN(put)(dy, FN(get)(dy, n) * FN(slope)(FN(get)(y, n) * inverse), n);
}

static void FN(softcap_backward)(const float *y, size_t count, float cap, float *dy) {
    const float inverse = 1 / cap;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(softcap_backward_step)(y + i, inverse, dy + i, 16);
    if (i < count) FN(softcap_backward_step)(y + i, inverse, dy + i, count - i);
}

/* Gated activations, their inputs and outputs fp32 or bf16: a = g s(z) u, s(z) = 1 / (1 + e^-z).
   SwiGLU has z = g. GeGLU's 1/2 g (1 + tanh y) is g s(2 y): z = 2 sqrt(2 / pi) (g + 0.044715
   g^3). */

/* -z */
INLINE f32x16 FN(minus_gate)(f32x16 g, int gelu) {
    if (!gelu) return -g;
    return g * FN(fma)(g * g, (f32x16)-0.0713548163f, (f32x16)-1.59576912f);
}

/* g dz/dg. From g = +-16 on exp is at its ends, and g^3 must not become infinite. */
INLINE f32x16 FN(gate_push)(f32x16 g, int gelu) {
    if (!gelu) return g;
    const f32x16 square = g * g, most = 256.0f, c = square > most ? most : square;
    return g * FN(fma)(c, (f32x16)0.214064449f, (f32x16)1.59576912f);
}

INLINE f32x16 FN(get_either)(const void *x, size_t i, int bf16, size_t n) {
    return bf16 ? FN(get_bf16)((const uint16_t *)x + i, n) : FN(get)((const float *)x + i, n);
}

INLINE void FN(put_either)(void *x, size_t i, f32x16 v, int bf16, size_t n) {
    if (bf16) {
        FN(put_bf16)((uint16_t *)x + i, v, n);
    } else {
        FN(put)((float *)x + i, v, n);
    }
}

INLINE void FN(gated_forward_step)(
    const void *gate, const void *up, void *a, int gelu, int bf16, size_t i, size_t n) {
    const f32x16 g = FN(get_either)(gate, i, bf16, n), u = FN(get_either)(up, i, bf16, n);
    FN(put_either)(a, i, g / (1.0f + FN(exp)(FN(minus_gate)(g, gelu))) * u, bf16, n);
}

INLINE void FN(gated_forward)(
    const void *gate, const void *up, size_t count, void *a, int gelu, int bf16) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(gated_forward_step)(gate, up, a, gelu, bf16, i, 16);
    if (i < count) FN(gated_forward_step)(gate, up, a, gelu, bf16, i, count - i);
}

static void FN(swiglu_forward)(const float *gate, const float *up, size_t count, float *a) {
    FN(gated_forward)(gate, up, count, a, 0, 0);
}

static void FN(swiglu_forward_bf16)(
    const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a) {
    FN(gated_forward)(gate, up, count, a, 0, 1);
}

static void FN(geglu_forward)(const float *gate, const float *up, size_t count, float *a) {
    FN(gated_forward)(gate, up, count, a, 1, 0);
}

static void FN(geglu_forward_bf16)(
    const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *a) {
    FN(gated_forward)(gate, up, count, a, 1, 1);
}

INLINE void FN(gated_backward_step)(
    const void *da, const void *gate, const void *up, void *dg, void *du, int gelu, int bf16,
    size_t i, size_t n) {
    const f32x16 g = FN(get_either)(gate, i, bf16, n), u = FN(get_either)(up, i, bf16, n);
    const f32x16 d = FN(get_either)(da, i, bf16, n);
    const f32x16 s = 1.0f / (1.0f + FN(exp)(FN(minus_gate)(g, gelu)));
    const f32x16 push = FN(gate_push)(g, gelu);
    FN(put_either)(du, i, d * g * s, bf16, n);
    FN(put_either)(dg, i, d * u * s * FN(fma)(push, 1.0f - s, (f32x16)1.0f), bf16, n);
}

INLINE void FN(gated_backward)(
    const void *da, const void *gate, const void *up, size_t count, void *dg, void *du, int gelu,
    int bf16) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        FN(gated_backward_step)(da, gate, up, dg, du, gelu, bf16, i, 16);
    }
    if (i < count) FN(gated_backward_step)(da, gate, up, dg, du, gelu, bf16, i, count - i);
}

static void FN(swiglu_backward)(
    const float *da, const float *gate, const float *up, size_t count, float *dg, float *du) {
    FN(gated_backward)(da, gate, up, count, dg, du, 0, 0);
}

static void FN(swiglu_backward_bf16)(
    const uint16_t *da, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *dg,
    uint16_t *du) {
    FN(gated_backward)(da, gate, up, count, dg, du, 0, 1);
}

static void FN(geglu_backward)(
    const float *da, const float *gate, const float *up, size_t count, float *dg, float *du) {
    FN(gated_backward)(da, gate, up, count, dg, du, 1, 0);
}

static void FN(geglu_backward_bf16)(
    const uint16_t *da, const uint16_t *gate, const uint16_t *up, size_t count, uint16_t *dg,
    uint16_t *du) {
    FN(gated_backward)(da, gate, up, count, dg, du, 1, 1);
}

/* AdamW */

/* Nothing may be fused here, so that `plain` has the bits of all levels: the operations are those
   of the formula in elementwise.h, from left to right, and IEEE 754 rounds each of them, root and
   quotients included. */
INLINE void FN(adamw_step)(
    const struct skein_adamw_factors *f, const float *gradient, float *m, float *v, float *p,
    size_t n) {
    const f32x16 g = FN(get)(gradient, n), before = FN(get)(m, n);
    const f32x16 average = before + f->blend * (g - before);
    const f32x16 square = FN(get)(v, n) * f->beta2 + f->square_blend * g * g;
    FN(put)(m, average, n);
    FN(put)(v, square, n);
    const f32x16 spread = __builtin_elementwise_sqrt(square) / f->divisor + f->epsilon;
    FN(put)(p, FN(get)(p, n) * f->keep + f->step_size * average / spread, n);
}

/* The factors are copied, because a store could otherwise change them and each would be loaded
   again. */
static void FN(adamw)(
    const struct skein_adamw_factors *factors, const float *g, size_t count, float *m, float *v,
    float *p) {
    const struct skein_adamw_factors f = *factors;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(adamw_step)(&f, g + i, m + i, v + i, p + i, 16);
    if (i < count) FN(adamw_step)(&f, g + i, m + i, v + i, p + i, count - i);
}

/* Conversions */

static void FN(to_bf16)(const float *x, size_t count, uint16_t *out) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(put_bf16)(out + i, FN(get)(x + i, 16), 16);
    if (i < count) FN(put_bf16)(out + i, FN(get)(x + i, count - i), count - i);
}

static void FN(from_bf16)(const uint16_t *x, size_t count, float *out) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(put)(out + i, FN(get_bf16)(x + i, 16), 16);
    if (i < count) FN(put)(out + i, FN(get_bf16)(x + i, count - i), count - i);
}

