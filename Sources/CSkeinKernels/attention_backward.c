#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "attention_pieces.h"
#include "attention_rows.h"

enum {
    TILE = SKEIN_ATTENTION_TILE,
    PANEL = SKEIN_BF16_COLUMNS,
    /* Keys whose dS is kept for one product of dQ; a multiple of TILE and of PANEL. */
    BLOCK = 96,
    /* Queries of which a tile has S and dP at once: 12 KB, in the first-level cache. */
    CHUNK = 128,
};

/* The scratch of a key/value head and a query head. "Columns" are packed as the right factor of a
   product over N, "rows" of a product over T. */
struct backward {
    uint16_t *keys, *values; /* rounded rows [T, N] */
    size_t stride;
    uint16_t *keys_across; /* rounded rows [N, T] */
    size_t stride_across;
    uint16_t *q_columns, *d_out_columns, *q_rows, *d_out_rows;
    float *dq_across; /* [N, T] */
    size_t stride_dq;
    float *log_sum_exp, *delta; /* [T padded] */
    float *s, *dp;              /* [TILE, CHUNK] */
    uint16_t *p, *ds;           /* [TILE, T padded] */
    size_t stride_p;
    uint16_t *packed; /* dS^T of a block of keys, a right factor [BLOCK, T] */
};

static struct backward backward_pieces(struct skein_pieces *scratch, size_t tokens, size_t n) {
    const size_t stride = skein_bf16_stride(n), across = skein_bf16_stride(tokens);
    const size_t all = skein_padded(tokens), stride_dq = all + 16;
    return (struct backward){
        .keys = skein_halves(scratch, tokens * stride),
        .values = skein_halves(scratch, tokens * stride),
        .stride = stride,
        .keys_across = skein_halves(scratch, n * across),
        .stride_across = across,
        .q_columns = skein_piece(scratch, skein_bf16_bytes(n, tokens)),
        .d_out_columns = skein_piece(scratch, skein_bf16_bytes(n, tokens)),
        .q_rows = skein_piece(scratch, skein_bf16_bytes(tokens, n)),
        .d_out_rows = skein_piece(scratch, skein_bf16_bytes(tokens, n)),
        .dq_across = skein_floats(scratch, n * stride_dq),
        .stride_dq = stride_dq,
        .log_sum_exp = skein_floats(scratch, all),
        .delta = skein_floats(scratch, all),
        .s = skein_floats(scratch, TILE * CHUNK),
        .dp = skein_floats(scratch, TILE * CHUNK),
        .p = skein_halves(scratch, TILE * across),
        .ds = skein_halves(scratch, TILE * across),
        .stride_p = across,
        .packed = skein_halves(scratch, BLOCK * all),
    };
}

size_t skein_attention_backward_scratch(size_t tokens, size_t dimension) {
    struct skein_pieces scratch = {NULL, 0};
    backward_pieces(&scratch, tokens, dimension);
    return scratch.used / sizeof(float);
}

struct pass {
    enum skein_level level;
    const struct skein_attention_shape *shape;
    const struct skein_attention_gradients *g;
    struct backward b;
    size_t head, column; /* columns of a query head and of its key/value head */
    size_t width, key_width;
    int accumulate; /* whether an earlier head of the group has written dk and dv */
};

static void take_keys(const struct pass *a) {
    const size_t tokens = a->shape->tokens, n = a->shape->dimension;
    const struct backward *const b = &a->b;
    const float *const k = a->g->k + a->column;
    skein_attention_round(a->level, k, a->key_width, tokens, n, b->keys, b->stride);
    skein_attention_round(
        a->level, a->g->v + a->column, a->key_width, tokens, n, b->values, b->stride);
    /* dQ is not in use yet, so its memory is free. */
    skein_attention_transpose(
        a->level, k, a->key_width, tokens, n, b->dq_across, b->stride_dq);
    skein_attention_round(
        a->level, b->dq_across, b->stride_dq, n, tokens, b->keys_across, b->stride_across);
}

static void take_queries(const struct pass *a, size_t h) {
    const size_t tokens = a->shape->tokens, n = a->shape->dimension;
    const struct backward *const b = &a->b;
    const float *const q = a->g->q + a->head, *const d_out = a->g->d_out + a->head;
    const struct skein_attention_packing queries = {
        q, a->width, tokens, n, b->q_rows, b->q_columns};
    const struct skein_attention_packing pulls = {
        d_out, a->width, tokens, n, b->d_out_rows, b->d_out_columns};
    skein_attention_pack(a->level, &queries);
    skein_attention_pack(a->level, &pulls);
    skein_attention_delta(
        a->level, a->g->out + a->head, d_out, a->width, tokens, n, b->delta);
    for (size_t t = 0; t < tokens; t++) b->log_sum_exp[t] = a->g->log_sum_exp[h * tokens + t];
    /* Queries that do not exist get probabilities of zero. */
    for (size_t t = tokens; t < skein_padded(tokens); t++) {
        b->log_sum_exp[t] = __builtin_inff();
        b->delta[t] = 0;
    }
}

/* S^T or dP^T of `rows` keys from `first` on and `count` queries from `query` on. */
static void multiply_queries(
    const struct pass *a, const uint16_t *keys, const uint16_t *queries, size_t first, size_t rows,
    size_t query, size_t count, float *y) {
    const struct skein_bf16_product product = {
        .x = keys + first * a->b.stride,
        .stride_x = a->b.stride,
        .p = queries + query / PANEL * skein_bf16_panel(a->shape->dimension),
        .panel = skein_bf16_panel(a->shape->dimension),
        .y = y,
        .stride_y = CHUNK,
        .rows = rows,
        .k = a->shape->dimension,
        .n = count,
    };
    skein_bf16_multiply(a->level, &product);
}

/* dK or dV of `rows` keys from `first` on, a sum over the queries from `query` on. */
static void sum_queries(
    const struct pass *a, const uint16_t *p, const uint16_t *right, size_t first, size_t rows,
    size_t query, float *y) {
    const struct skein_bf16_product product = {
        .x = p + query,
        .stride_x = a->b.stride_p,
        .p = right + query * PANEL,
        .panel = skein_bf16_panel(a->shape->tokens),
        .y = y + first * a->key_width + a->column,
        .stride_y = a->key_width,
        .rows = rows,
        .k = a->shape->tokens - query,
        .n = a->shape->dimension,
        .accumulate = a->accumulate,
    };
    skein_bf16_multiply(a->level, &product);
}

/* Fetches rows of q, dO and O of the next head and of dQ of this one ahead of time, while the
   processor is busy with products. */
static void foresee(const struct pass *a, size_t first, size_t rows) {
    const size_t n = a->shape->dimension, next = a->head + n;
    for (size_t r = first; r < first + rows; r++) {
        const size_t row = r * a->width;
        for (size_t i = 0; i < n; i += 16) {
            __builtin_prefetch(a->g->dq + row + a->head + i, 1, 2);
            if (next == a->width) continue;
            __builtin_prefetch(a->g->q + row + next + i, 0, 2);
            __builtin_prefetch(a->g->d_out + row + next + i, 0, 2);
            __builtin_prefetch(a->g->out + row + next + i, 0, 2);
        }
    }
}

/* `rows` keys from `first` on of the block at `start`: dK, dV and what dQ needs. */
static void backward_tile(const struct pass *a, size_t start, size_t first, size_t rows) {
    const struct backward *const b = &a->b;
    foresee(a, first, rows);
    const size_t all = skein_padded(a->shape->tokens), from = first / PANEL * PANEL;
    for (size_t query = from; query < all; query += CHUNK) {
        const size_t count = all - query < CHUNK ? all - query : CHUNK;
        multiply_queries(a, b->keys, b->q_columns, first, rows, query, count, b->s);
        multiply_queries(a, b->values, b->d_out_columns, first, rows, query, count, b->dp);
        const struct skein_attention_tile tile = {
            .s = b->s,
            .dp = b->dp,
            .stride = CHUNK,
            .log_sum_exp = b->log_sum_exp + query,
            .delta = b->delta + query,
            .rows = rows,
            .queries = count,
            .first_seen = (ptrdiff_t)first - (ptrdiff_t)query,
            .scale = skein_attention_scale(a->shape->dimension),
            .p = b->p + query,
            .ds = b->ds + query,
            .stride_p = b->stride_p,
            .packed = b->packed + query * BLOCK + (first - start) * PANEL,
            .panel = skein_bf16_panel(BLOCK),
        };
        skein_attention_differentiate(a->level, &tile);
    }
    sum_queries(a, b->p, b->d_out_rows, first, rows, from, a->g->dv);
    sum_queries(a, b->ds, b->q_rows, first, rows, from, a->g->dk);
}

/* dQ^T += K^T dS^T over the keys of the block at `start`. */
static void sum_keys(const struct pass *a, size_t start) {
    const struct backward *const b = &a->b;
    const size_t tokens = a->shape->tokens;
    const size_t keys = tokens - start < BLOCK ? tokens - start : BLOCK;
    for (size_t query = start; query < tokens; query += PANEL) {
        const size_t seen = query + PANEL - start;
        const struct skein_bf16_product product = {
            .x = b->keys_across + start,
            .stride_x = b->stride_across,
            .p = b->packed + query * BLOCK,
            .panel = skein_bf16_panel(BLOCK),
            .y = b->dq_across + query,
            .stride_y = b->stride_dq,
            .rows = a->shape->dimension,
            .k = seen < keys ? seen : keys,
            .n = PANEL,
            .accumulate = start > 0,
        };
        skein_bf16_multiply(a->level, &product);
    }
    /* The block's queries see no later block of keys: their dQ is complete. */
    skein_attention_transpose(
        a->level, b->dq_across + start, b->stride_dq, a->shape->dimension, keys,
        a->g->dq + start * a->width + a->head, a->width);
}

void skein_attention_backward(
    enum skein_level level, const struct skein_attention_shape *shape,
    const struct skein_attention_gradients *g, float *scratch) {
    const size_t tokens = shape->tokens, n = shape->dimension;
    const size_t group = shape->heads / shape->key_value_heads;
    struct skein_pieces pieces = {(char *)scratch, 0};
    struct pass a = {
        .level = level,
        .shape = shape,
        .g = g,
        .b = backward_pieces(&pieces, tokens, n),
        .width = shape->heads * n,
        .key_width = shape->key_value_heads * n,
    };
    for (size_t h = 0; h < shape->heads; h++) {
        a.head = h * n;
        a.column = h / group * n;
        a.accumulate = h % group > 0;
        if (!a.accumulate) take_keys(&a);
        take_queries(&a, h);
        for (size_t start = 0; start < tokens; start += BLOCK) {
            for (size_t first = start; first < start + BLOCK && first < tokens; first += TILE) {
                const size_t left = tokens - first;
                backward_tile(&a, start, first, left < TILE ? left : TILE);
            }
            sum_keys(&a, start);
        }
    }
}
