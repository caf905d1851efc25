#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "attention_pieces.h"
#include "attention_rows.h"

#include <string.h>

enum {
    TILE = SKEIN_ATTENTION_TILE,
    PANEL = SKEIN_BF16_COLUMNS,
    /* Keys whose dS is kept for one product of dQ; a multiple of TILE and of PANEL. */
    BLOCK = 96,
    /* Queries of which a tile has S and dP at once: 12 KB, in the first-level cache. */
    CHUNK = 128,
};

/* The scratch of a segment of `keys` keys of a key/value head and the `span` queries of a query
   head that see them. Keys and queries are counted from the segment's first key on. "Columns" are
   packed as the right factor of a product over N, "rows" of a product over queries. */
struct backward {
    uint16_t *keys, *values; /* rounded rows [keys, N] */
    size_t stride;
    float *turned;         /* K^T [N, keys]; the memory of dQ if there is only one segment */
    uint16_t *keys_across; /* the same, rounded */
    size_t stride_turned, stride_across;
    uint16_t *q_columns, *d_out_columns, *q_rows, *d_out_rows;
    float *dq_across; /* [N, span] */
    size_t stride_dq;
    float *log_sum_exp, *delta; /* [span padded] */
    float *s, *dp;              /* [TILE, CHUNK] */
    uint16_t *p, *ds;           /* [TILE, span padded] */
    size_t stride_p;
    uint16_t *packed; /* dS^T of a block of keys, a right factor [BLOCK, span] */
};

static struct backward backward_pieces(
    const struct skein_attention_shape *shape, struct skein_pieces *scratch) {
    const size_t n = shape->dimension, window = skein_attention_window(shape);
    const size_t keys = skein_attention_segment(shape->tokens, window);
    const size_t span = skein_least(shape->tokens, keys + window);
    const size_t stride = skein_bf16_stride(n), across = skein_bf16_stride(keys);
    const size_t all = skein_padded(span), stride_p = skein_bf16_stride(span);
    /* 16 more, so that rows do not share one set of the first-level cache. */
    const size_t stride_dq = all + 16, stride_turned = skein_padded(keys) + 16;
    struct backward b = {
        .keys = skein_halves(scratch, keys * stride),
        .values = skein_halves(scratch, keys * stride),
        .stride = stride,
        .keys_across = skein_halves(scratch, n * across),
        .stride_across = across,
        .q_columns = skein_piece(scratch, skein_bf16_bytes(n, span)),
        .d_out_columns = skein_piece(scratch, skein_bf16_bytes(n, span)),
        .q_rows = skein_piece(scratch, skein_bf16_bytes(span, n)),
        .d_out_rows = skein_piece(scratch, skein_bf16_bytes(span, n)),
        .dq_across = skein_floats(scratch, n * stride_dq),
        .stride_dq = stride_dq,
        .stride_turned = stride_turned,
        .log_sum_exp = skein_floats(scratch, all),
        .delta = skein_floats(scratch, all),
        .s = skein_floats(scratch, TILE * CHUNK),
        .dp = skein_floats(scratch, TILE * CHUNK),
        .p = skein_halves(scratch, TILE * stride_p),
        .ds = skein_halves(scratch, TILE * stride_p),
        .stride_p = stride_p,
        .packed = skein_halves(scratch, BLOCK * all),
    };
    b.turned = keys < shape->tokens ? skein_floats(scratch, n * stride_turned) : b.dq_across;
    return b;
}

size_t skein_attention_backward_scratch(const struct skein_attention_shape *shape) {
    struct skein_pieces scratch = {NULL, 0};
    backward_pieces(shape, &scratch);
    return scratch.used / sizeof(float);
}

struct pass {
    enum skein_level level;
    const struct skein_attention_shape *shape;
    const struct skein_attention_gradients *g;
    struct backward b;
    size_t window;
    size_t head, column; /* columns of a query head and of its key/value head */
    size_t width, key_width;
    int accumulate;          /* whether an earlier head of the group has written dk and dv */
    size_t base, keys, span; /* the segment's first key, its keys and queries */
    size_t written;          /* queries of which dq_across holds something */
};

static void take_keys(const struct pass *a) {
    const size_t n = a->shape->dimension, at = a->base * a->key_width + a->column;
    const struct backward *const b = &a->b;
    const float *const k = a->g->k + at, *const v = a->g->v + at;
    skein_attention_round(a->level, k, a->key_width, a->keys, n, b->keys, b->stride);
    skein_attention_round(a->level, v, a->key_width, a->keys, n, b->values, b->stride);
    skein_attention_transpose(
        a->level, k, a->key_width, a->keys, n, b->turned, b->stride_turned);
    skein_attention_round(
        a->level, b->turned, b->stride_turned, n, a->keys, b->keys_across, b->stride_across);
}

static void take_queries(const struct pass *a, size_t h) {
    const size_t span = a->span, n = a->shape->dimension, at = a->base * a->width + a->head;
    const struct backward *const b = &a->b;
    const float *const q = a->g->q + at, *const d_out = a->g->d_out + at;
    const struct skein_attention_packing queries = {
        q, a->width, span, n, b->q_rows, b->q_columns};
    const struct skein_attention_packing pulls = {
        d_out, a->width, span, n, b->d_out_rows, b->d_out_columns};
    skein_attention_pack(a->level, &queries);
    skein_attention_pack(a->level, &pulls);
    skein_attention_delta(a->level, a->g->out + at, d_out, a->width, span, n, b->delta);
    const float *const sums = a->g->log_sum_exp + h * a->shape->tokens + a->base;
    for (size_t t = 0; t < span; t++) b->log_sum_exp[t] = sums[t];
    /* Queries that do not exist, or see no key of the segment, get probabilities of zero. */
    for (size_t t = span; t < skein_padded(span); t++) {
        b->log_sum_exp[t] = __builtin_inff();
        b->delta[t] = 0;
    }
}

/* One after the last query that sees the key, at most the segment's. */
static size_t queries_end(const struct pass *a, size_t key) {
    return skein_least(a->span, key + a->window);
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
        .panel = skein_bf16_panel(a->span),
        .y = y + (a->base + first) * a->key_width + a->column,
        .stride_y = a->key_width,
        .rows = rows,
        .k = queries_end(a, first + rows - 1) - query,
        .n = a->shape->dimension,
        .accumulate = a->accumulate,
    };
    skein_bf16_multiply(a->level, &product);
}

/* Fetches rows of q, dO and O of the next head and of dQ of this one ahead of time, while the
   processor is busy with products. */
static void foresee(const struct pass *a, size_t first, size_t rows) {
    const size_t n = a->shape->dimension, next = a->head + n;
    for (size_t r = a->base + first; r < a->base + first + rows; r++) {
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
    const size_t from = first / PANEL * PANEL;
    const size_t end = skein_padded(queries_end(a, first + rows - 1));
    for (size_t query = from; query < end; query += CHUNK) {
        const size_t count = skein_least(CHUNK, end - query);
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
            .window = a->window,
            .scale = a->shape->scale,
            .cap = a->shape->cap,
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
static void sum_keys(struct pass *a, size_t start) {
    const struct backward *const b = &a->b;
    const size_t keys = skein_least(BLOCK, a->keys - start);
    const size_t end = queries_end(a, start + keys - 1);
    for (size_t query = start; query < end; query += PANEL) {
        /* Keys of the block that one of the panel's queries sees, from an even one on: dS^T lies in
           pairs, and those of other keys may never have been written. */
        const size_t low = query + 1 > start + a->window
            ? (query + 1 - a->window - start) / 2 * 2 : 0;
        const struct skein_bf16_product product = {
            .x = b->keys_across + start + low,
            .stride_x = b->stride_across,
            .p = b->packed + query * BLOCK + low * PANEL,
            .panel = skein_bf16_panel(BLOCK),
            .y = b->dq_across + query,
            .stride_y = b->stride_dq,
            .rows = a->shape->dimension,
            .k = skein_least(query + PANEL - start, keys) - low,
            .n = PANEL,
            .accumulate = query < a->written,
        };
        skein_bf16_multiply(a->level, &product);
    }
    if (a->written < skein_padded(end)) a->written = skein_padded(end);
    /* The block's queries see no later block of keys: their dQ is complete. */
    skein_attention_transpose(
        a->level, b->dq_across + start, b->stride_dq, a->shape->dimension, keys,
        a->g->dq + (a->base + start) * a->width + a->head, a->width);
}

/* The dQ so far of queries that see keys of the next segment, too. */
static void carry(struct pass *a) {
    float *row = a->b.dq_across;
    a->written -= a->keys;
    for (size_t i = 0; i < a->shape->dimension; i++, row += a->b.stride_dq) {
        memmove(row, row + a->keys, a->written * sizeof *row);
    }
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
        .b = backward_pieces(shape, &pieces),
        .window = skein_attention_window(shape),
        .width = shape->heads * n,
        .key_width = shape->key_value_heads * n,
    };
    const size_t segment = skein_attention_segment(tokens, a.window);
    for (size_t h = 0; h < shape->heads; h++) {
        a.head = h * n;
        a.column = h / group * n;
        a.accumulate = h % group > 0;
        a.written = 0;
        for (a.base = 0; a.base < tokens; a.base += segment) {
            if (a.base > 0) carry(&a);
            a.keys = skein_least(segment, tokens - a.base);
            a.span = skein_least(a.keys + a.window - 1, tokens - a.base);
            /* A single segment's keys serve all heads of a group. */
            if (segment < tokens || !a.accumulate) take_keys(&a);
            take_queries(&a, h);
            for (size_t start = 0; start < a.keys; start += BLOCK) {
                const size_t end = skein_least(start + BLOCK, a.keys);
                for (size_t first = start; first < end; first += TILE) {
                    backward_tile(&a, start, first, skein_least(TILE, end - first));
                }
                sum_keys(&a, start);
            }
        }
    }
}
