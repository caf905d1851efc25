#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "attention_pieces.h"
#include "attention_rows.h"

enum { TILE = SKEIN_ATTENTION_TILE };

struct forward {
    uint16_t *keys;   /* K^T packed, [N, T] */
    uint16_t *values; /* V packed, [T, N] */
    uint16_t *query;  /* a tile's rows, rounded */
    size_t stride_query;
    float *s;
    size_t stride_s;
    uint16_t *p;
    size_t stride_p;
    float *sums, *shifts;
};

static struct forward forward_pieces(struct skein_pieces *scratch, size_t tokens, size_t n) {
    const size_t stride_query = skein_bf16_stride(n), stride_p = skein_bf16_stride(tokens);
    /* 16 more, so that the rows of a tile do not share one set of the first-level cache. */
    const size_t stride_s = skein_padded(tokens) + 16;
    return (struct forward){
        .keys = skein_piece(scratch, skein_bf16_bytes(n, tokens)),
        .values = skein_piece(scratch, skein_bf16_bytes(tokens, n)),
        .query = skein_halves(scratch, TILE * stride_query),
        .stride_query = stride_query,
        .s = skein_floats(scratch, TILE * stride_s),
        .stride_s = stride_s,
        .p = skein_halves(scratch, TILE * stride_p),
        .stride_p = stride_p,
        .sums = skein_floats(scratch, 16),
        .shifts = skein_floats(scratch, 16),
    };
}

size_t skein_attention_forward_scratch(size_t tokens, size_t dimension) {
    struct skein_pieces scratch = {NULL, 0};
    forward_pieces(&scratch, tokens, dimension);
    return scratch.used / sizeof(float);
}

/* `rows` queries of one head, from `first` on. */
static void forward_tile(
    enum skein_level level, const struct forward *f, const struct skein_attention_shape *shape,
    size_t first, size_t rows, const float *q, float *out, float *log_sum_exp) {
    const size_t n = shape->dimension, width = shape->heads * n, seen = first + rows;
    skein_attention_round(level, q, width, rows, n, f->query, f->stride_query);
    const struct skein_bf16_product scores = {
        .x = f->query,
        .stride_x = f->stride_query,
        .p = f->keys,
        .panel = skein_bf16_panel(n),
        .y = f->s,
        .stride_y = f->stride_s,
        .rows = rows,
        .k = n,
        .n = skein_padded(seen),
    };
    skein_bf16_multiply(level, &scores);
    const struct skein_attention_scores exponentials = {
        .s = f->s,
        .stride_s = f->stride_s,
        .p = f->p,
        .stride_p = f->stride_p,
        .rows = rows,
        .seen = first + 1,
        .limit = seen,
        .scale = skein_attention_scale(n),
        .sums = f->sums,
        .shifts = f->shifts,
    };
    skein_attention_exponentiate(level, &exponentials);
    const struct skein_bf16_product sums = {
        .x = f->p,
        .stride_x = f->stride_p,
        .p = f->values,
        .panel = skein_bf16_panel(shape->tokens),
        .y = out,
        .stride_y = width,
        .rows = rows,
        .k = seen,
        .n = n,
    };
    skein_bf16_multiply(level, &sums);
    skein_attention_normalize(level, out, width, rows, n, f->sums, f->shifts, log_sum_exp);
}

void skein_attention_forward(
    enum skein_level level, const struct skein_attention_shape *shape, const float *q,
    const float *k, const float *v, float *out, float *log_sum_exp, float *scratch) {
    const size_t tokens = shape->tokens, n = shape->dimension, width = shape->heads * n;
    const size_t group = shape->heads / shape->key_value_heads;
    const size_t key_width = shape->key_value_heads * n;
    struct skein_pieces pieces = {(char *)scratch, 0};
    const struct forward f = forward_pieces(&pieces, tokens, n);
    for (size_t h = 0; h < shape->heads; h++) {
        if (h % group == 0) {
            const size_t column = h / group * n;
            const struct skein_attention_packing keys = {
                k + column, key_width, tokens, n, NULL, f.keys};
            const struct skein_attention_packing values = {
                v + column, key_width, tokens, n, f.values, NULL};
            skein_attention_pack(level, &keys);
            skein_attention_pack(level, &values);
        }
        for (size_t first = 0; first < tokens; first += TILE) {
            const size_t at = first * width + h * n, left = tokens - first;
            forward_tile(
                level, &f, shape, first, left < TILE ? left : TILE, q + at, out + at,
                log_sum_exp ? log_sum_exp + h * tokens + first : NULL);
        }
    }
}
