/* The kernels of matvec.h for one level. Included once for each level with these macros:
     NAME(x)   the function's name at this level
     FUSED     1 where a fused multiply-add is one instruction
     WIDE      1 where 512-bit registers exist */

/* a b + c, fused where FUSED. */
INLINE v16f NAME(fma16)(v16f a, v16f b, v16f c) {
#if FUSED
    return __builtin_elementwise_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* The sum of all lanes: four sums of every fourth, then theirs. Unrolled, or each lane would go
   through memory. */
INLINE float NAME(folded)(v16f lanes) {
    float sum[4] = {0, 0, 0, 0};
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) sum[i % 4] += lanes[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The first `count` lanes, at most all 16. */
INLINE void NAME(put)(v16f lanes, size_t count, float *out) {
    if (count >= 16) {
        *(v16fu *)out = lanes;
    } else {
        for (size_t i = 0; i < count; i++) out[i] = lanes[i];
    }
}

/* Sixteen f16 as floats. Exact. */
INLINE v16f NAME(half16)(const uint8_t *p) {
#if WIDE
    return (v16f)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif FUSED && defined(__aarch64__)
    typedef __fp16 v16x __attribute__((vector_size(32), aligned(1), may_alias));
    return __builtin_convertvector(*(const v16x *)p, v16f);
#elif FUSED
    typedef float v8f __attribute__((vector_size(32)));
    v8f low = (v8f)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
    v8f high = (v8f)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16)));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    v16u bits = __builtin_convertvector(*(const v16h *)p, v16u);
    v16u shifted = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
    v16u exponent = shifted & 0x0f800000;
    v16u small = (v16u)((v16f)(shifted + (113u << 23)) - 0x1p-14f);
    v16u large = (v16u)(exponent == 0x0f800000);
    v16u normal = shifted + ((large & (224u << 23)) | (~large & (112u << 23)));
    v16u zero = (v16u)(exponent == 0);
    return (v16f)((zero & small) | (~zero & normal) | sign);
#endif
}

/* The column inside a block of nibble i of word c: high nibbles are 16 columns further. */
#define COLUMN(c, i) (4 * (c) + (i) / 2 + ((i) % 2) * 16)

/* Undoes the factor of a nibble. */
#define UNDO(i) ((i) == 7 ? 1.0f : 1.0f / (float)(1 << (4 * ((i) % 7))))

/* Nibble i of each word as a number, times 16^i; the last one times 1, or it would be a sign. */
INLINE v16f NAME(nibble)(v16u words, int i) {
    const v16u code = i == 7 ? words >> 28 : words & (15u << (4 * i));
    return __builtin_convertvector((v16i)code, v16f);
}

/* Sum over a block's columns of code times x, in four chains; x as skein_spread leaves it. */
INLINE v16f NAME(nibbles)(const uint8_t *codes, const float *x) {
    v16f chain[4];
#pragma clang loop unroll(full)
    for (int c = 0; c < 4; c++) {
        const v16u words = *(const v16uu *)(codes + 64 * c);
        chain[c] = NAME(nibble)(words, 0) * x[8 * c];
#pragma clang loop unroll(full)
        for (int i = 1; i < 8; i++) {
            chain[c] = NAME(fma16)(NAME(nibble)(words, i), SPLAT(x[8 * c + i]), chain[c]);
        }
    }
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

/* The same for n columns, 32 or 16, of bytes, in chains of eight. */
INLINE v16f NAME(bytes)(const int n, const uint8_t *codes, const float *x) {
    const int chains = n / 8;
    v16f chain[4];
#pragma clang loop unroll(full)
    for (int k = 0; k < n; k++) {
        const v16f q = __builtin_convertvector(*(const v16b *)(codes + 16 * k), v16f);
        chain[k % chains] =
            k < chains ? q * x[k] : NAME(fma16)(q, SPLAT(x[k]), chain[k % chains]);
    }
    const v16f low = chain[0] + chain[1];
    return n == 16 ? low : low + (chain[2] + chain[3]);
}

INLINE v16f NAME(plain16)( enum skein_packed type, const uint8_t *group, size_t k) {
    if (type == SKEIN_PACKED_F32) return *(const v16fu *)(group + 64 * k);
    if (type == SKEIN_PACKED_F16) return NAME(half16)(group + 32 * k);
    return (v16f)(__builtin_convertvector(*(const v16h *)(group + 32 * k), v16u) << 16);
}

INLINE v16f NAME(plain_row)(enum skein_packed type, const uint8_t *group, size_t columns,
    const float *x) {
    v16f a = {}, b = {}, c = {}, d = {};
    size_t k = 0;
    for (; k + 4 <= columns; k += 4) {
        a = NAME(fma16)(NAME(plain16)(type, group, k), SPLAT(x[k]), a);
        b = NAME(fma16)(NAME(plain16)(type, group, k + 1), SPLAT(x[k + 1]), b);
        c = NAME(fma16)(NAME(plain16)(type, group, k + 2), SPLAT(x[k + 2]), c);
        d = NAME(fma16)(NAME(plain16)(type, group, k + 3), SPLAT(x[k + 3]), d);
    }
    for (; k < columns; k++) a = NAME(fma16)(NAME(plain16)(type, group, k), SPLAT(x[k]), a);
    return (a + b) + (c + d);
}

#include "matvec_codes.h"

/* One group of any type; inlined with a constant type. */
INLINE v16f NAME(group)(enum skein_packed type, const uint8_t *p, size_t columns, const float *x,
    const float *spread) {
    if (type >= SKEIN_PACKED_BF16) return NAME(plain_row)(type, p, columns, x);
    if (type >= SKEIN_PACKED_Q4_K) return NAME(k_group)(type, p, columns, x, spread);
    v16f sum = {};
    const float *sums = spread + columns;
    const size_t bytes = type == SKEIN_PACKED_Q4_0 ? 288 : type == SKEIN_PACKED_Q4_1 ? 320 : 544;
    for (size_t b = 0; b < columns / 32; b++, p += bytes, x += 32, spread += 32) {
        const v16f d = NAME(half16)(p);
        for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch(p + AHEAD + line, 0, 3);
        if (type == SKEIN_PACKED_Q8_0) {
            sum = NAME(fma16)(d, NAME(bytes)(32, p + 32, x), sum);
        } else if (type == SKEIN_PACKED_Q4_1) {
            sum = NAME(fma16)(d, NAME(nibbles)(p + 64, spread), sum);
            sum = NAME(fma16)(NAME(half16)(p + 32), SPLAT(sums[b]), sum);
        } else {
            /* (q - 8) d. */
            const v16f shifted = NAME(fma16)(SPLAT(-8.0f), SPLAT(sums[b]), NAME(nibbles)(p + 32,
                spread));
            sum = NAME(fma16)(d, shifted, sum);
        }
    }
    return sum;
}

INLINE void NAME(groups)(enum skein_packed type, const uint8_t *p, size_t columns, size_t groups,
    const float *x, const float *spread, float *y, size_t rows, int add) {
    const size_t bytes = skein_packed_group_bytes(type, columns);
    for (size_t g = 0; g < groups; g++) {
        const v16f sum = NAME(group)(type, p + g * bytes, columns, x, spread);
        if (16 * g + 16 <= rows) {
            v16fu *out = (v16fu *)(y + 16 * g);
            *out = add ? *out + sum : sum;
        } else {
            for (size_t r = 16 * g; r < rows; r++) y[r] = add ? y[r] + sum[r % 16] : sum[r % 16];
        }
    }
}

static void NAME(matvec)(enum skein_packed type, const uint8_t *p, size_t columns, size_t groups,
    const float *x, const float *spread, float *y, size_t rows, int add) {
#define CASE(T) \
    case T: NAME(groups)(T, p, columns, groups, x, spread, y, rows, add); break;
    switch (type) {
        CASE(SKEIN_PACKED_Q4_0)
        CASE(SKEIN_PACKED_Q4_1)
        CASE(SKEIN_PACKED_Q8_0)
        CASE(SKEIN_PACKED_Q4_K)
        CASE(SKEIN_PACKED_Q5_K)
        CASE(SKEIN_PACKED_Q6_K)
        CASE(SKEIN_PACKED_BF16)
        CASE(SKEIN_PACKED_F16)
        CASE(SKEIN_PACKED_F32)
    }
#undef CASE
}

static void NAME(spread)(const float *x, size_t columns, float *out) {
    float *sums = out + columns;
    for (size_t b = 0; b < columns / 32; b++, x += 32, out += 32) {
        sums[b] = NAME(folded)(*(const v16fu *)x + *(const v16fu *)(x + 16));
        /* x[COLUMN(c, i)] * UNDO(i): the halves of a block take turns. */
        const v16f low = *(const v16fu *)x, high = *(const v16fu *)(x + 16);
        const v16f undo = {UNDO(0), UNDO(1), UNDO(2), UNDO(3), UNDO(4), UNDO(5), UNDO(6), UNDO(7),
            UNDO(0), UNDO(1), UNDO(2), UNDO(3), UNDO(4), UNDO(5), UNDO(6), UNDO(7)};
        *(v16fu *)out = undo * __builtin_shufflevector(
            low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        *(v16fu *)(out + 16) = undo * __builtin_shufflevector(
            low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
}

static void NAME(unpack)(enum skein_packed type, const uint8_t *group, size_t first, size_t count,
    float *out, size_t stride) {
    if (type >= SKEIN_PACKED_BF16) {
        for (size_t k = 0; k < count; k++) {
            *(v16fu *)(out + stride * k) = NAME(plain16)(type, group, first + k);
        }
        return;
    }
#define K_CASE(T) \
    case T: NAME(k_unpack)(T, group, first, count, out, stride); return;
    switch (type) {
        K_CASE(SKEIN_PACKED_Q4_K)
        K_CASE(SKEIN_PACKED_Q5_K)
        K_CASE(SKEIN_PACKED_Q6_K)
    default: break;
    }
#undef K_CASE
    const size_t bytes = type == SKEIN_PACKED_Q4_0 ? 288 : type == SKEIN_PACKED_Q4_1 ? 320 : 544;
    const uint8_t *p = group + first / 32 * bytes;
    for (size_t b = 0; b < count / 32; b++, p += bytes, out += 32 * stride) {
        const v16f d = NAME(half16)(p);
        if (type == SKEIN_PACKED_Q8_0) {
            for (int k = 0; k < 32; k++) {
                const v16f q = __builtin_convertvector(*(const v16b *)(p + 32 + 16 * k), v16f);
                *(v16fu *)(out + stride * k) = q * d;
            }
            continue;
        }
        const int hasMinimum = type == SKEIN_PACKED_Q4_1;
        const v16f m = hasMinimum ? NAME(half16)(p + 32) : (v16f){};
        for (int c = 0; c < 4; c++) {
            const v16u words = *(const v16uu *)(p + (hasMinimum ? 64 : 32) + 64 * c);
#pragma clang loop unroll(full)
            for (int i = 0; i < 8; i++) {
                const v16f q = NAME(nibble)(words, i) * UNDO(i);
                *(v16fu *)(out + stride * COLUMN(c, i)) = hasMinimum ? q * d + m : (q - 8.0f) * d;
            }
        }
    }
}

#include "matvec_attention.h"
#include "matvec_rows.h"
#include "attend_heads.h"

#undef K_HEAD
#undef K_CODES
#undef K_BYTES
