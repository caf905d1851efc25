/* Includes the file SKEIN_BODY once per level; its functions end in _plain, _fused, _avx2, _avx512
   and, if SKEIN_ROUNDS_TO_BF16 is defined, _avx512bf16. */

#define SKEIN_JOIN_(name, level) name##_##level
#define SKEIN_JOIN(name, level) SKEIN_JOIN_(name, level)
#define FN(name) SKEIN_JOIN(name, SKEIN_SUFFIX)

#define SKEIN_SUFFIX plain
#define SKEIN_FUSES 0
#define SKEIN_ZMM 0
#define SKEIN_BF16 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSES
#undef SKEIN_ZMM
#undef SKEIN_BF16

#define SKEIN_SUFFIX fused
#define SKEIN_FUSES 1
#define SKEIN_ZMM 0
#define SKEIN_BF16 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSES
#undef SKEIN_ZMM
#undef SKEIN_BF16

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), \
    apply_to = function)
#define SKEIN_SUFFIX avx2
#define SKEIN_FUSES 1
#define SKEIN_ZMM 0
#define SKEIN_BF16 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSES
#undef SKEIN_ZMM
#undef SKEIN_BF16
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), \
    apply_to = function)
#define SKEIN_SUFFIX avx512
#define SKEIN_FUSES 1
#define SKEIN_ZMM 1
#define SKEIN_BF16 0
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSES
#undef SKEIN_ZMM
#undef SKEIN_BF16
#pragma clang attribute pop

#ifdef SKEIN_ROUNDS_TO_BF16
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))), \
    apply_to = function)
#define SKEIN_SUFFIX avx512bf16
#define SKEIN_FUSES 1
#define SKEIN_ZMM 1
#define SKEIN_BF16 1
#include "elementwise_lanes.h"
#include SKEIN_BODY
#undef SKEIN_SUFFIX
#undef SKEIN_FUSES
#undef SKEIN_ZMM
#undef SKEIN_BF16
#pragma clang attribute pop
#define SKEIN_AT_BF16(name) name##_avx512bf16
#else
#define SKEIN_AT_BF16(name) name##_avx512
#endif

/* The function `name` of a level. */
#define SKEIN_AT(level, name) \
    ((level) >= SKEIN_AVX512BF16 ? SKEIN_AT_BF16(name) \
        : (level) >= SKEIN_AVX512 ? name##_avx512 \
        : (level) >= SKEIN_AVX2 ? name##_avx2 \
        : (level) >= SKEIN_FUSED ? name##_fused : name##_plain)
#else
#define SKEIN_AT(level, name) ((level) >= SKEIN_FUSED ? name##_fused : name##_plain)
#endif
