#ifndef SKEIN_ATTENTION_H
#define SKEIN_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Causal attention with grouped queries over one sequence, with or without a window, products in
   bf16 with sums in fp32.

   T tokens, H query heads, G key/value heads, N head dimension; query head h reads key/value head
   h / (H / G). q, k, v, dO, the exponentials, P and dS are rounded to bf16 (nearest, ties to even)
   where they enter a product; scores, exponentials, log-sum-exp, delta and dS are computed in fp32,
   and so are all outputs. No array of T x T exists: forward has a tile of 12 queries at a time,
   backward a block of 96 keys. With a window of W tokens nothing outside of it is multiplied, but
   for the edges of tiles, and q, k, v and dO are packed in segments, so that scratch depends on W
   and not on T.

   Bits depend on this sequence's numbers and on the shape: not on what the scratch held. The levels
   from SKEIN_FUSED on give the same bits as far as skein_bf16_multiply does, SKEIN_PLAIN others,
   because it has no fused multiply-add. */

struct skein_attention_shape {
    size_t heads, key_value_heads; /* H, G; G divides H */
    size_t dimension;              /* N */
    size_t tokens;                 /* T */
    size_t window;                 /* W: tokens that a token sees, itself included; 0: all before */
    float scale;                   /* of q . k */
    float cap;                     /* a score s becomes cap tanh(s / cap); 0: it stays */
};

/* Floats of scratch for `tokens` or fewer, aligned to 64 bytes. */
size_t skein_attention_forward_scratch(const struct skein_attention_shape *shape);
size_t skein_attention_backward_scratch(const struct skein_attention_shape *shape);

/* out = softmax(capped(scale q k^T)) v, each token over itself and those before it in the window.

   Reads q [T, H * N], k and v [T, G * N]; writes out [T, H * N] and, unless it is NULL,
   log_sum_exp [H, T]: each row's logarithm of the sum of exponentials. */
void skein_attention_forward(
    enum skein_level level, const struct skein_attention_shape *shape, const float *q,
    const float *k, const float *v, float *out, float *log_sum_exp, float *scratch);

struct skein_attention_gradients {
    const float *q, *k, *v;   /* as for the forward pass */
    const float *out;         /* what it gave */
    const float *d_out;       /* [T, H * N] */
    const float *log_sum_exp; /* [H, T] */
    float *dq;                /* [T, H * N], overwritten like dk and dv */
    float *dk, *dv;           /* [T, G * N] */
};

/* P = e^(S - log_sum_exp); dV = P^T dO; dP = dO V^T; dS = scale P * (dP - rowsum(dO * O)), times
   1 - (S / cap)^2 with a cap; dQ = dS K; dK = dS^T Q. */
void skein_attention_backward(
    enum skein_level level, const struct skein_attention_shape *shape,
    const struct skein_attention_gradients *g, float *scratch);

#endif
