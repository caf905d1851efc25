#ifndef SKEIN_ATTENTION_PIECES_H
#define SKEIN_ATTENTION_PIECES_H

/* Scratch in pieces, each aligned to 64 bytes. */

#include "CSkeinKernels.h"

/* Only counts while base is NULL. */
struct skein_pieces {
    char *base;
    size_t used; /* bytes */
};

static inline void *skein_piece(struct skein_pieces *scratch, size_t bytes) {
    void *const start = scratch->base ? scratch->base + scratch->used : NULL;
    scratch->used += (bytes + 63) / 64 * 64;
    return start;
}

static inline uint16_t *skein_halves(struct skein_pieces *scratch, size_t count) {
    return (uint16_t *)skein_piece(scratch, count * sizeof(uint16_t));
}

static inline float *skein_floats(struct skein_pieces *scratch, size_t count) {
    return (float *)skein_piece(scratch, count * sizeof(float));
}

/* Rounds up to whole panels. */
static inline size_t skein_padded(size_t count) {
    return (count + SKEIN_BF16_COLUMNS - 1) / SKEIN_BF16_COLUMNS * SKEIN_BF16_COLUMNS;
}

static inline size_t skein_least(size_t a, size_t b) { return a < b ? a : b; }

/* Tokens that a token sees, at most all. */
static inline size_t skein_attention_window(const struct skein_attention_shape *shape) {
    return shape->window == 0 ? shape->tokens : skein_least(shape->window, shape->tokens);
}

/* Tokens that are packed together, besides those that they see (or that see them): all without a
   window. Otherwise a multiple of 96, the backward pass's block, and not less than the window, so
   that the tokens which two segments share at most double the packing. */
static inline size_t skein_attention_segment(size_t tokens, size_t window) {
    const size_t least = window < 384 ? 384 : window;
    return window >= tokens ? tokens : skein_least((least + 95) / 96 * 96, tokens);
}

#endif
