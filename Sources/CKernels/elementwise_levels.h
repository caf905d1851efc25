/* Includes the file SKEIN_BODY once per level; its functions end in _plain, _avx2 and _avx512. The
   processor's bf16 instructions are of no use to kernels of single rows: they have no level of their own. */

#define SKEIN_JOIN_(name, level) name##_##level
#define SKEIN_JOIN(name, level) SKEIN_JOIN_(name, level)
#define FN(name) SKEIN_JOIN(name, SKEIN_SUFFIX)

#define SKEIN_SUFFIX plain
#define SKEIN_FUSED 0
#define SKEIN_ZMM 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSED
#undef SKEIN_ZMM

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define SKEIN_SUFFIX avx2
#define SKEIN_FUSED 1
#define SKEIN_ZMM 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSED
#undef SKEIN_ZMM
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#define SKEIN_SUFFIX avx512
#define SKEIN_FUSED 1
#define SKEIN_ZMM 1
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSED
#undef SKEIN_ZMM
#pragma clang attribute pop

/* The function `name` of a level. */
#define SKEIN_AT(level, name) \
    ((level) >= SKEIN_AVX512 ? name##_avx512 : (level) == SKEIN_AVX2 ? name##_avx2 : name##_plain)
#else
#define SKEIN_AT(level, name) ((void)(level), name##_plain)
#endif
