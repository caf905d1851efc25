#include "philox_body.h"

/* Normalization, rotation, sums and dropout at one level, in steps of n lanes as in
   elementwise_body.h. */

/* sum of a * b * c, or of a * b without c, in four vectors of partial sums: a single one would wait
   for itself. */
INLINE float FN(sum_of_products)(const float *a, const float *b, const float *c, size_t count) {
    f32x16 lanes[4];
    UNROLL for (int j = 0; j < 4; j++) lanes[j] = 0;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        UNROLL for (int j = 0; j < 4; j++) {
            const size_t k = i + 16 * j;
            f32x16 v = FN(get)(a + k, 16);
            if (c) v *= FN(get)(c + k, 16);
            lanes[j] = FN(fma)(v, FN(get)(b + k, 16), lanes[j]);
        }
    }
    for (; i < count; i += 16) {
        const size_t n = count - i < 16 ? count - i : 16;
        f32x16 v = FN(get)(a + i, n);
        if (c) v *= FN(get)(c + i, n);
        lanes[0] = FN(fma)(v, FN(get)(b + i, n), lanes[0]);
    }
    return FN(sum)((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

static float FN(dot)(const float *a, const float *b, size_t count) {
    return FN(sum_of_products)(a, b, NULL, count);
}

INLINE void FN(normalize_step)(
    const float *x, const float *weight, float r, float *y, uint16_t *y16, size_t i, size_t n) {
    const f32x16 v = FN(get)(x + i, n) * r * FN(get)(weight + i, n);
    if (y) FN(put)(y + i, v, n);
    if (y16) FN(put_bf16)(y16 + i, v, n);
}

INLINE void FN(normalize_row)(
    const float *x, const float *weight, float r, size_t width, float *y, uint16_t *y16) {
    size_t i = 0;
    for (; i + 16 <= width; i += 16) FN(normalize_step)(x, weight, r, y, y16, i, 16);
    if (i < width) FN(normalize_step)(x, weight, r, y, y16, i, width - i);
}

/* Which of `y` and `y16` is NULL is decided before the loop over the row. */
INLINE void FN(normalize)(
    const float *x, const float *weight, float r, size_t width, float *y, uint16_t *y16) {
    if (y && y16) {
        FN(normalize_row)(x, weight, r, width, y, y16);
    } else if (y) {
        FN(normalize_row)(x, weight, r, width, y, NULL);
    } else if (y16) {
        FN(normalize_row)(x, weight, r, width, NULL, y16);
    }
}

static void FN(rmsnorm_forward)(
    const float *x, const float *weight, float epsilon, size_t tokens, size_t width, float *y,
    uint16_t *y16, size_t stride16, float *inverse) {
    for (size_t t = 0; t < tokens; t++) {
        const float *const row = x + t * width;
        const float square = FN(dot)(row, row, width);
        inverse[t] = 1 / __builtin_elementwise_sqrt(square / (float)width + epsilon);
        FN(normalize)(
            row, weight, inverse[t], width, y ? y + t * width : NULL,
            y16 ? y16 + t * stride16 : NULL);
    }
}

static void FN(rmsnorm_again)(
    const float *x, const float *weight, const float *inverse, size_t tokens, size_t width,
    float *y, uint16_t *y16, size_t stride16) {
    for (size_t t = 0; t < tokens; t++) {
        FN(normalize)(
            x + t * width, weight, inverse[t], width, y ? y + t * width : NULL,
            y16 ? y16 + t * stride16 : NULL);
    }
}

INLINE void FN(rmsnorm_backward_step)(
    const float *dy, const float *x, const float *weight, float r, float pull, float *dx,
    int adding, size_t i, size_t n) {
    const f32x16 push = FN(get)(dy + i, n) * FN(get)(weight + i, n) * r;
    const f32x16 change = FN(fma)(-FN(get)(x + i, n), (f32x16)pull, push);
    FN(put)(dx + i, adding ? FN(get)(dx + i, n) + change : change, n);
}

INLINE void FN(rmsnorm_backward_any)(
    const float *dy, const float *x, const float *weight, const float *inverse, size_t tokens,
    size_t width, float *dx, int adding) {
    for (size_t t = 0; t < tokens; t++, dy += width, x += width, dx += width) {
        const float r = inverse[t];
        const float pull = FN(sum_of_products)(dy, x, weight, width) * r * r * r / (float)width;
        size_t i = 0;
        for (; i + 16 <= width; i += 16) {
            FN(rmsnorm_backward_step)(dy, x, weight, r, pull, dx, adding, i, 16);
        }
        if (i < width) FN(rmsnorm_backward_step)(dy, x, weight, r, pull, dx, adding, i, width - i);
    }
}

static void FN(rmsnorm_backward)(
    const float *dy, const float *x, const float *weight, const float *inverse, size_t tokens,
    size_t width, float *dx) {
    FN(rmsnorm_backward_any)(dy, x, weight, inverse, tokens, width, dx, 1);
}

static void FN(rmsnorm_backward_into)(
    const float *dy, const float *x, const float *weight, const float *inverse, size_t tokens,
    size_t width, float *dx) {
    FN(rmsnorm_backward_any)(dy, x, weight, inverse, tokens, width, dx, 0);
}

static void FN(add_scaled)(const float *x, float factor, size_t count, float *y) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        FN(put)(y + i, FN(fma)(FN(get)(x + i, 16), (f32x16)factor, FN(get)(y + i, 16)), 16);
    }
    const size_t n = count - i;
    if (n > 0) FN(put)(y + i, FN(fma)(FN(get)(x + i, n), (f32x16)factor, FN(get)(y + i, n)), n);
}

static void FN(add_bias)(const float *bias, size_t tokens, size_t width, float *y) {
    for (size_t t = 0; t < tokens; t++, y += width) {
        size_t i = 0;
        for (; i + 16 <= width; i += 16) {
            FN(put)(y + i, FN(get)(y + i, 16) + FN(get)(bias + i, 16), 16);
        }
        const size_t n = width - i;
        if (n > 0) FN(put)(y + i, FN(get)(y + i, n) + FN(get)(bias + i, n), n);
    }
}

INLINE void FN(rotate_step)(
    float *x, size_t half, const float *cosines, const float *sines, float sign, size_t n) {
    const f32x16 a = FN(get)(x, n), b = FN(get)(x + half, n);
    const f32x16 c = FN(get)(cosines, n), s = FN(get)(sines, n) * sign;
    FN(put)(x, FN(fma)(-b, s, a * c), n);
    FN(put)(x + half, FN(fma)(a, s, b * c), n);
}

static void FN(rotate)(
    float *x, size_t tokens, size_t heads, size_t width, size_t half, const float *cosines,
    const float *sines, int inverse) {
    const float sign = inverse ? -1 : 1;
    for (size_t t = 0; t < tokens; t++, cosines += half, sines += half) {
        for (size_t h = 0; h < heads; h++, x += width) {
            size_t i = 0;
            for (; i + 16 <= half; i += 16) {
                FN(rotate_step)(x + i, half, cosines + i, sines + i, sign, 16);
            }
            if (i < half) FN(rotate_step)(x + i, half, cosines + i, sines + i, sign, half - i);
        }
    }
}

/* Dropout */

/* The order in which eight blocks lie in the lanes: the ZMM packing wants the even lanes first. */
#if SKEIN_ZMM
#define PHILOX_LANES {0, 4, 1, 5, 2, 6, 3, 7}
#else
#define PHILOX_LANES {0, 1, 2, 3, 4, 5, 6, 7}
#endif

/* A byte from each of eight blocks of four words; word i is in the lower halves of w[i]'s lanes,
   and their upper halves do not matter. */
INLINE uint64_t FN(mask_bytes)(const u64x8 *w, uint32_t threshold) {
#if SKEIN_ZMM
    /* Pairs of words in a lane, then blocks 0, 1, 2, 3 and 4, 5, 6, 7, one in each 128 bits;
       their eight halves in the order of the mask's bits; and one comparison for 32 bits of
       mask. */
    const __m512i first = _mm512_mask_blend_epi32(
        0xaaaa, (__m512i)w[0], _mm512_slli_epi64((__m512i)w[1], 32));
    const __m512i second = _mm512_mask_blend_epi32(
        0xaaaa, (__m512i)w[2], _mm512_slli_epi64((__m512i)w[3], 32));
    const __m512i order = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    const __m512i low = _mm512_shuffle_epi8(_mm512_unpacklo_epi64(first, second), order);
    const __m512i high = _mm512_shuffle_epi8(_mm512_unpackhi_epi64(first, second), order);
    const __m512i least = _mm512_set1_epi16((short)threshold);
    return _mm512_cmpge_epu16_mask(low, least)
        | (uint64_t)_mm512_cmpge_epu16_mask(high, least) << 32;
#else
    /* Adding 65536 - threshold to a half carries into bit 16 if the half is at least the
       threshold. */
    u64x8 byte = 0;
    UNROLL for (int i = 0; i < 4; i++) {
        const u64x8 lower = (w[i] & 0xffff) + (65536 - threshold);
        const u64x8 upper = (w[i] >> 16 & 0xffff) + (65536 - threshold);
        byte |= (lower >> 16) << i | (upper >> 16) << (i + 4);
    }
    const u8x8 bytes = __builtin_convertvector(byte, u8x8);
    uint64_t packed;
    memcpy(&packed, &bytes, sizeof packed);
    return packed;
#endif
}

static void FN(dropout_draw)(
    uint8_t *mask, size_t bytes, uint32_t key0, uint32_t key1, uint32_t a, uint32_t b, uint32_t c,
    uint32_t threshold) {
    if (threshold > 65535) {
        memset(mask, 0, bytes);
        return;
    }
    const u64x8 lanes = PHILOX_LANES;
    for (size_t i = 0; i < bytes; i += 16) {
        u64x8 w[2][4];
        UNROLL for (int j = 0; j < 2; j++) {
            w[j][0] = lanes + (uint64_t)(i + 8 * j);
            w[j][1] = (uint64_t)a;
            w[j][2] = (uint64_t)b;
            w[j][3] = (uint64_t)c;
        }
        FN(philox)(w, key0, key1);
        const uint64_t drawn[2] = {
            FN(mask_bytes)(w[0], threshold), FN(mask_bytes)(w[1], threshold)};
        memcpy(mask + i, drawn, bytes - i < 16 ? bytes - i : 16);
    }
}
#undef PHILOX_LANES

INLINE f32x16 FN(get_masked)(const float *x, const uint8_t *mask, size_t i, size_t n) {
    return FN(kept)(FN(mask_bits)(mask + i / 8, n), FN(get)(x + i, n));
}

static void FN(dropout_apply)(
    const float *x, const uint8_t *mask, size_t count, float kept_scale, float *y) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        FN(put)(y + i, FN(get_masked)(x, mask, i, 16) * kept_scale, 16);
    }
    if (i < count) FN(put)(y + i, FN(get_masked)(x, mask, i, count - i) * kept_scale, count - i);
}

INLINE void FN(dropout_add_step)(
    const float *x, const uint8_t *mask, float kept_scale, float *y, size_t i, size_t n) {
    const f32x16 v = FN(get_masked)(x, mask, i, n);
    FN(put)(y + i, FN(fma)(v, (f32x16)kept_scale, FN(get)(y + i, n)), n);
}

static void FN(dropout_add)(
    const float *x, const uint8_t *mask, size_t count, float kept_scale, float *y) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) FN(dropout_add_step)(x, mask, kept_scale, y, i, 16);
    if (i < count) FN(dropout_add_step)(x, mask, kept_scale, y, i, count - i);
}
