#ifndef SKEIN_INT8_H
#define SKEIN_INT8_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Rounds x [count] in place, in blocks of 64 with one scale each, stochastically: with
   scale = max |x| / 127, x becomes scale * floor(x / scale + u), held between -127 and 127 scales.

   u is uniform in [0, 1): word i & 3 of Philox-4x32-10 at counter (i >> 2, a, b, 0), its upper 24
   bits. A block whose scale would be subnormal becomes zeros; one with NaN or infinity stays as it is.

   levels [count] receives floor's result, scales [(count + 63) / 64] the scale, 0 for a block of
   zeros and NaN for one that stayed (its levels are not written); either may be NULL. All levels of
   the processor give the same bits. */
void skein_int8_round(
    enum skein_level level, float *x, size_t count, uint32_t key0, uint32_t key1, uint32_t a,
    uint32_t b, int8_t *levels, float *scales);

#endif
