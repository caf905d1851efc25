#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "attention_pieces.h"
#include "attention_rows.h"

enum { TILE = SKEIN_ATTENTION_TILE, PANEL = SKEIN_BF16_COLUMNS };

struct forward {
    enum skein_level level;
    const struct skein_attention_shape *shape;
    size_t window;
    size_t low, count; /* packed keys: the first, a multiple of PANEL, and how many */
    uint16_t *keys;    /* K^T packed, [N, count] */
    uint16_t *values;  /* V packed, [count, N] */
    uint16_t *query;   /* a tile's rows, rounded */
    size_t stride_query;
    float *s;
    size_t stride_s;
    uint16_t *p;
    size_t stride_p;
    float *sums, *shifts;
};

static struct forward forward_pieces(
    enum skein_level level, const struct skein_attention_shape *shape,
    struct skein_pieces *scratch) {
    const size_t n = shape->dimension, window = skein_attention_window(shape);
    /* Keys of a segment and of a tile, from a whole panel on. */
    const size_t segment = skein_attention_segment(shape->tokens, window);
    const size_t keys = skein_least(shape->tokens, segment + window + PANEL);
    const size_t seen = skein_least(shape->tokens, TILE + window + PANEL);
    const size_t stride_query = skein_bf16_stride(n), stride_p = skein_bf16_stride(seen);
    /* 16 more, so that the rows of a tile do not share one set of the first-level cache. */
    const size_t stride_s = skein_padded(seen) + 16;
    return (struct forward){
        .level = level,
        .shape = shape,
        .window = window,
        .keys = skein_piece(scratch, skein_bf16_bytes(n, keys)),
        .values = skein_piece(scratch, skein_bf16_bytes(keys, n)),
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

size_t skein_attention_forward_scratch(const struct skein_attention_shape *shape) {
    struct skein_pieces scratch = {NULL, 0};
    forward_pieces(SKEIN_PLAIN, shape, &scratch);
    return scratch.used / sizeof(float);
}

/* `rows` queries of one head, from `first` on. */
static void forward_tile(
    const struct forward *f, size_t first, size_t rows, const float *q, float *out,
    float *log_sum_exp) {
    const enum skein_level level = f->level;
    const size_t n = f->shape->dimension, width = f->shape->heads * n;
    /* Packed keys that the first query sees end at `seen` and start `window` before, if there are
       as many; the tile multiplies whole panels, [from, end). */
    const size_t seen = first + 1 - f->low, end = first + rows - f->low;
    const size_t from = seen > f->window ? (seen - f->window) / PANEL * PANEL : 0;
    skein_attention_round(level, q, width, rows, n, f->query, f->stride_query);
    const struct skein_bf16_product scores = {
        .x = f->query,
        .stride_x = f->stride_query,
        .p = f->keys + from / PANEL * skein_bf16_panel(n),
        .panel = skein_bf16_panel(n),
        .y = f->s,
        .stride_y = f->stride_s,
        .rows = rows,
        .k = n,
        .n = skein_padded(end - from),
    };
    skein_bf16_multiply(level, &scores);
    const struct skein_attention_scores exponentials = {
        .s = f->s,
        .stride_s = f->stride_s,
        .p = f->p,
        .stride_p = f->stride_p,
        .rows = rows,
        .hidden = (ptrdiff_t)(seen - from) - (ptrdiff_t)f->window,
        .seen = seen - from,
        .limit = end - from,
        .scale = f->shape->scale,
        .cap = f->shape->cap,
        .sums = f->sums,
        .shifts = f->shifts,
    };
    skein_attention_exponentiate(level, &exponentials);
    const struct skein_bf16_product sums = {
        .x = f->p,
        .stride_x = f->stride_p,
        .p = f->values + from * PANEL,
        .panel = skein_bf16_panel(f->count),
        .y = out,
        .stride_y = width,
        .rows = rows,
        .k = end - from,
        .n = n,
    };
    skein_bf16_multiply(level, &sums);
    skein_attention_normalize(level, out, width, rows, n, f->sums, f->shifts, log_sum_exp);
}

/* Packs what the queries `start` ..< `end` of a key/value head see. */
static void pack_keys(
    struct forward *f, size_t start, size_t end, size_t head, const float *k, const float *v) {
    const size_t n = f->shape->dimension, width = f->shape->key_value_heads * n;
    f->low = start + 1 > f->window ? (start + 1 - f->window) / PANEL * PANEL : 0;
    f->count = end - f->low;
    const size_t at = f->low * width + head * n;
    const struct skein_attention_packing keys = {k + at, width, f->count, n, NULL, f->keys};
    const struct skein_attention_packing values = {v + at, width, f->count, n, f->values, NULL};
    skein_attention_pack(f->level, &keys);
    skein_attention_pack(f->level, &values);
}

void skein_attention_forward(
    enum skein_level level, const struct skein_attention_shape *shape, const float *q,
    const float *k, const float *v, float *out, float *log_sum_exp, float *scratch) {
    const size_t tokens = shape->tokens, n = shape->dimension, width = shape->heads * n;
    const size_t group = shape->heads / shape->key_value_heads;
    struct skein_pieces pieces = {(char *)scratch, 0};
    struct forward f = forward_pieces(level, shape, &pieces);
    const size_t segment = skein_attention_segment(tokens, f.window);
    for (size_t own = 0; own < shape->key_value_heads; own++) {
        for (size_t start = 0; start < tokens; start += segment) {
            const size_t end = skein_least(start + segment, tokens);
            pack_keys(&f, start, end, own, k, v);
            for (size_t h = own * group; h < (own + 1) * group; h++) {
                for (size_t first = start; first < end; first += TILE) {
                    const size_t at = first * width + h * n;
                    forward_tile(
                        &f, first, skein_least(TILE, end - first), q + at, out + at,
                        log_sum_exp ? log_sum_exp + h * tokens + first : NULL);
                }
            }
        }
    }
}
