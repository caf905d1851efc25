#ifndef SKEIN_LOWRANK_H
#define SKEIN_LOWRANK_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* The thin products of LoRA: one side is the rank R, 1 <= R <= 1024, fast at multiples of 8.

   T tokens; rows are contiguous. A `mask` holds T rows of (columns + 7) / 8 bytes, bit i & 7 of
   byte i >> 3 being 1 where element i is kept; NULL keeps all and kept_scale counts as 1. A dropped
   element counts as 0 even if it is NaN or infinite: it is not multiplied at all. Everything else
   is plain arithmetic.

   `level` is at most skein_level(). Bits depend on operands and shape, not on how many rows a
   call has; the levels from SKEIN_FUSED on give the same bits, SKEIN_PLAIN others, because it has
   no fused multiply-add. */

/* Floats from one row of a to the next at which reduce and expand are fast: eight rows a multiple
   of 4 KiB apart would fill one set of the first-level cache, with no room for rows of x or y. */
static inline size_t skein_lowrank_stride(size_t columns) {
    return columns % 1024 == 0 ? columns + 16 : columns;
}

/* reduced[t, r] = scale * sum over k of keep(t, k) * x[t, k] * a[r, k]

   Reads x [T, columns], a [R, columns] whose rows lie `stride_a` floats apart, mask; writes reduced
   [T, R]. Element k is added in lane k mod 16. */
void skein_lowrank_reduce(
    enum skein_level level, const float *x, size_t tokens, size_t columns, const float *a,
    size_t stride_a, size_t rank, float scale, const uint8_t *mask, float kept_scale,
    float *reduced);

/* y[t, n] += keep(t, n) * sum over r of reduced[t, r] * a[r, n], eight ranks at a time (then four,
   then single ones).

   Reads reduced [T, R], a [R, columns] whose rows lie `stride_a` floats apart, mask; adds to
   y [T, columns], whose rows lie `stride_y` floats apart. */
void skein_lowrank_expand(
    enum skein_level level, const float *reduced, size_t tokens, size_t rank, const float *a,
    size_t stride_a, size_t columns, const uint8_t *mask, float kept_scale, float *y,
    size_t stride_y);

/* d[r, n] = sum over t of reduced[t, r] * keep(t, n) * x[t, n], token after token

   Reads reduced [T, R], x [T, columns], mask; writes d [R, columns], zeros if there is no token. */
void skein_lowrank_outer(
    enum skein_level level, const float *reduced, size_t tokens, size_t rank, const float *x,
    size_t columns, const uint8_t *mask, float kept_scale, float *d);

/* out[j, i] = x[i, j]. Reads x [rows, columns], writes out [columns, rows]; they may not
   overlap. */
void skein_transpose(const float *x, size_t rows, size_t columns, float *out);

#endif
