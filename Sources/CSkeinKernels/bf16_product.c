#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "bf16_levels.h"

#include <string.h>

enum { CHUNK = 128, GROUP = 256 };

static inline __attribute__((always_inline)) void widen(
    const uint16_t *x, size_t count, float *out) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)x[i] << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

#define NAME skein_bf16_multiply_plain
#define LANES 4
#define ROWS 4
#define FUSED 0
#include "bf16_body.h"

#if defined(__aarch64__)
#define NAME skein_bf16_multiply_fused
#define LANES 4
#define ROWS 12
#define FUSED 1
#include "bf16_body.h"
#endif

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define NAME skein_bf16_multiply_avx2
#define LANES 8
#define ROWS 6
#define FUSED 1
#include "bf16_body.h"
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#define NAME skein_bf16_multiply_avx512
#define LANES 16
#define ROWS 12
#define FUSED 1
#include "bf16_body.h"
#pragma clang attribute pop
#endif
