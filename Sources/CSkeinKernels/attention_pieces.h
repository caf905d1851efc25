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

/* 1 / sqrt(N); both operations round correctly everywhere. */
static inline float skein_attention_scale(size_t dimension) {
    return 1 / __builtin_sqrtf((float)dimension);
}

#endif
