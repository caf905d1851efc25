#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#define SKEIN_BODY "int8_body.h"
#include "elementwise_levels.h"

void skein_int8_round(
    enum skein_level level, float *x, size_t count, uint32_t key0, uint32_t key1, uint32_t a,
    uint32_t b, int8_t *levels, float *scales) {
    SKEIN_AT(level, int8_round)(x, count, key0, key1, a, b, levels, scales);
}
