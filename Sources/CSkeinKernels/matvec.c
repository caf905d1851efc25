#pragma STDC FP_CONTRACT OFF
#include "CSkeinKernels.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Sixteen lanes, in as many registers as the level needs; the second name of a pair loads from any
   address. */
typedef float v16f __attribute__((vector_size(64)));
typedef float v16fu __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t v16u __attribute__((vector_size(64)));
typedef uint32_t v16uu __attribute__((vector_size(64), aligned(1), may_alias));
typedef int32_t v16i __attribute__((vector_size(64)));
typedef uint16_t v16h __attribute__((vector_size(32), aligned(1), may_alias));
typedef int8_t v16b __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t v16c __attribute__((vector_size(16), aligned(1), may_alias));

/* A number in every lane. Subtracting +0 changes none, not even -0, so nothing is computed. */
#define SPLAT(x) ((x) - (v16f){})

#define INLINE static inline __attribute__((always_inline))

/* How far ahead of the block in use weights are fetched, in bytes. */
#ifndef AHEAD
#define AHEAD 2048
#endif

/* Functions that pass vectors are always inlined. */
#pragma clang diagnostic ignored "-Wpsabi"

size_t skein_packed_group_bytes(enum skein_packed type, size_t columns) {
    switch (type) {
    case SKEIN_PACKED_Q4_0: return columns / 32 * 288;
    case SKEIN_PACKED_Q4_1: return columns / 32 * 320;
    case SKEIN_PACKED_Q8_0: return columns / 32 * 544;
    case SKEIN_PACKED_Q4_K: return columns / 256 * 2368;
    case SKEIN_PACKED_Q5_K:
    case SKEIN_PACKED_Q6_K: return columns / 256 * 4416;
    case SKEIN_PACKED_BF16:
    case SKEIN_PACKED_F16: return columns * 32;
    case SKEIN_PACKED_F32: return columns * 64;
    }
    return 0;
}

static void pack_blocks(enum skein_packed type, const uint8_t *row, size_t columns, size_t r,
    uint8_t *out) {
    const size_t head = type == SKEIN_PACKED_Q4_1 ? 4 : 2;
    for (size_t b = 0; b < columns / 32; b++) {
        memcpy(out + 2 * r, row, 2);
        if (head == 4) memcpy(out + 32 + 2 * r, row + 2, 2);
        row += head;
        out += 16 * head;
        if (type == SKEIN_PACKED_Q8_0) {
            for (size_t k = 0; k < 32; k++) out[16 * k + r] = row[k];
            row += 32;
            out += 512;
        } else {
            for (size_t c = 0; c < 4; c++) memcpy(out + 64 * c + 4 * r, row + 4 * c, 4);
            row += 16;
            out += 256;
        }
    }
}

static void pack_k_blocks(enum skein_packed type, const uint8_t *row, size_t columns, size_t r,
    uint8_t *out) {
    for (size_t b = 0; b < columns / 256; b++) {
        memcpy(out + 2 * r, row, 2);
        memcpy(out + 32 + 2 * r, row + 2, 2);
        /* 16 scales, or 8 and 8 minima. */
        for (size_t i = 0; i < 16; i++) out[64 + 16 * i + r] = row[4 + i];
        row += 20;
        out += 320;
        if (type == SKEIN_PACKED_Q4_K) {
            for (size_t c = 0; c < 32; c++) memcpy(out + 64 * c + 4 * r, row + 4 * c, 4);
            row += 128;
            out += 2048;
        } else {
            for (size_t k = 0; k < 256; k++) out[16 * k + r] = row[k];
            row += 256;
            out += 4096;
        }
    }
}

void skein_pack_group(enum skein_packed type, const void *const rows[16], size_t columns,
    void *group) {
    uint8_t *out = group;
    memset(out, 0, skein_packed_group_bytes(type, columns));
    for (size_t r = 0; r < 16; r++) {
        const uint8_t *row = rows[r];
        if (!row) continue;
        if (type >= SKEIN_PACKED_Q4_K && type <= SKEIN_PACKED_Q6_K) {
            pack_k_blocks(type, row, columns, r, out);
        } else if (type < SKEIN_PACKED_BF16) {
            pack_blocks(type, row, columns, r, out);
        } else if (type == SKEIN_PACKED_F32) {
            for (size_t k = 0; k < columns; k++) memcpy(out + 64 * k + 4 * r, row + 4 * k, 4);
        } else {
            for (size_t k = 0; k < columns; k++) memcpy(out + 32 * k + 2 * r, row + 2 * k, 2);
        }
    }
}

size_t skein_cache_key_bytes(enum skein_cache_type type, size_t n) {
    return type == SKEIN_CACHE_F32 ? 64 * n : type == SKEIN_CACHE_BF16 ? 32 * n : 64 + 16 * n;
}

size_t skein_cache_value_bytes(enum skein_cache_type type, size_t n) {
    const size_t padded = (n + 15) / 16 * 16;
    return type == SKEIN_CACHE_F32 ? 4 * padded : type == SKEIN_CACHE_BF16 ? 2 * padded : padded;
}

/* Rounded to nearest, ties to even; NaN stays NaN. */
static uint16_t bf16_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Codes -127 ... 127, `step` bytes apart, of x / scale; returns the scale, largest |x| / 127. What
   is not finite makes the scale NaN, and so all that is read. */
static float int8_of(const float *x, size_t n, uint8_t *codes, size_t step) {
    float most = 0, bad = 0;
    for (size_t i = 0; i < n; i++) {
        const float size = __builtin_fabsf(x[i]);
        most = size > most ? size : most;
        bad += x[i] * 0;
    }
    const int vanishes = !(bad == 0) || most < 1e-30f;
    const float inverse = vanishes ? 0 : 127.0f / most;
    for (size_t i = 0; i < n; i++) {
        /* Adding 1.5 * 2^23 rounds to an integer, ties to even. */
        const float code = vanishes ? 0 : (x[i] * inverse + 12582912.0f) - 12582912.0f;
        codes[i * step] = (uint8_t)(int8_t)code;
    }
    return vanishes ? bad : most / 127.0f;
}

void skein_cache_put(enum skein_cache_type type, const float *k, const float *v, size_t n,
    void *key_group, size_t lane, void *value, float *value_scale) {
    switch (type) {
    case SKEIN_CACHE_F32:
        for (size_t i = 0; i < n; i++) ((float *)key_group)[16 * i + lane] = k[i];
        memcpy(value, v, n * sizeof *v);
        break;
    case SKEIN_CACHE_BF16:
        for (size_t i = 0; i < n; i++) ((uint16_t *)key_group)[16 * i + lane] = bf16_of(k[i]);
        for (size_t i = 0; i < n; i++) ((uint16_t *)value)[i] = bf16_of(v[i]);
        break;
    case SKEIN_CACHE_INT8:
        ((float *)key_group)[lane] = int8_of(k, n, (uint8_t *)key_group + 64 + lane, 16);
        *value_scale = int8_of(v, n, value, 1);
        break;
    }
}

#define NAME(x) x##_plain
#define FUSED 0
#define WIDE 0
#include "matvec_body.h"
#undef NAME
#undef FUSED
#undef WIDE

#if defined(__aarch64__)
#define NAME(x) x##_fused
#define FUSED 1
#define WIDE 0
#include "matvec_body.h"
#undef NAME
#undef FUSED
#undef WIDE
#endif

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define NAME(x) x##_avx2
#define FUSED 1
#define WIDE 0
#include "matvec_body.h"
#undef NAME
#undef FUSED
#undef WIDE
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c"))), apply_to = function)
#define NAME(x) x##_avx512
#define FUSED 1
#define WIDE 1
#include "matvec_body.h"
#undef NAME
#undef FUSED
#undef WIDE
#pragma clang attribute pop

#define DISPATCH(name, ...)                                    \
    do {                                                       \
        if (level >= SKEIN_AVX512) name##_avx512(__VA_ARGS__); \
        else if (level >= SKEIN_AVX2) name##_avx2(__VA_ARGS__); \
        else name##_plain(__VA_ARGS__);                        \
    } while (0)
#elif defined(__aarch64__)
#define DISPATCH(name, ...)                                   \
    do {                                                      \
        if (level >= SKEIN_FUSED) name##_fused(__VA_ARGS__);  \
        else name##_plain(__VA_ARGS__);                       \
    } while (0)
#else
#define DISPATCH(name, ...)         \
    do {                            \
        (void)level;                \
        name##_plain(__VA_ARGS__);  \
    } while (0)
#endif

void skein_spread(enum skein_level level, const float *x, size_t columns, float *spread) {
    DISPATCH(spread, x, columns, spread);
}

void skein_matvec(enum skein_level level, enum skein_packed type, const void *packed,
    size_t columns, size_t groups, const float *x, const float *spread, float *y, size_t rows,
    int add) {
    DISPATCH(matvec, type, packed, columns, groups, x, spread, y, rows, add);
}

void skein_matvec_rows(enum skein_level level, enum skein_packed type, const void *packed,
    size_t columns, size_t groups, const struct skein_vectors *vectors, float *y, size_t stride_y,
    size_t rows, int add) {
    if (vectors->count == 0) return;
    if (vectors->count == 1) {
        skein_matvec(level, type, packed, columns, groups, vectors->x, vectors->spread, y, rows,
            add);
        return;
    }
    DISPATCH(matvec_rows, type, packed, columns, groups, vectors, y, stride_y, rows, add);
}

void skein_unpack_group(enum skein_level level, enum skein_packed type, const void *group,
    size_t first, size_t count, float *out, size_t stride) {
    DISPATCH(unpack, type, group, first, count, out, stride);
}

void skein_attend(enum skein_level level, const float *q, const float *k, const float *v,
    size_t keys, size_t n, float scale, float *scores, float *out) {
    DISPATCH(attend, q, k, v, keys, n, scale, scores, out);
}

void skein_attend_heads(enum skein_level level, const float *q, size_t heads, const float *k,
    const float *v, size_t keys, size_t n, float scale, float *scores, float *out) {
    DISPATCH(attend_heads, q, heads, k, v, keys, n, scale, scores, out);
}

void skein_attend_cached(enum skein_level level, const float *q, const struct skein_cached *cached,
    size_t n, float scale, float cap, float *scores, float *out) {
    DISPATCH(attend_cached, level, q, cached, n, scale, cap, scores, out);
}

void skein_cached_keys(enum skein_level level, enum skein_cache_type type, const void *keys,
    size_t n, size_t groups, float *out) {
    DISPATCH(cached_keys, type, keys, n, groups, out);
}

void skein_cached_values(enum skein_level level, enum skein_cache_type type, const void *values,
    const float *scales, size_t padded, size_t count, float *out) {
    DISPATCH(cached_values, type, values, scales, padded, count, out);
}

void skein_softmax_row(enum skein_level level, float *row, size_t seen, size_t count, float scale) {
    DISPATCH(softmax_row, row, seen, count, scale);
}
