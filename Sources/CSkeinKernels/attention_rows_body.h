/* What attention computes between its products, at one level. */

/* Subnormal numbers may remain: the products take them for zeros. */
INLINE u16x16 FN(round)(f32x16 v) {
#if SKEIN_BF16
    return (u16x16)_mm512_cvtneps_pbh((__m512)v);
#else
    return FN(rounded)(v);
#endif
}

#include "exponential_body.h"
#include "tanh_body.h"

/* x = m 2^e, m in sqrt(1/2) ..< sqrt(2); ln m = 2 (s + s^3/3 + ... + s^9/9), s = (m-1)/(m+1),
   |s| <= 0.172. For normal positive numbers; NaN stays. */
INLINE f32x16 FN(log)(f32x16 x) {
    const u32x16 offset = (u32x16)x - 0x3f3504f3;
    const f32x16 e = __builtin_convertvector((i32x16)offset >> 23, f32x16);
    const f32x16 m = (f32x16)((offset & 0x7fffff) + 0x3f3504f3);
    const f32x16 s = (m - 1.0f) / (m + 1.0f), z = s * s;
    f32x16 p = FN(fma)(z, (f32x16)(2.0f / 9), (f32x16)(2.0f / 7));
    p = FN(fma)(p, z, (f32x16)(2.0f / 5));
    p = FN(fma)(p, z, (f32x16)(2.0f / 3));
    p = FN(fma)(p * z, s, e * -2.1219444e-4f);
    p = FN(fma)(s, (f32x16)2.0f, p);
    p = FN(fma)(e, (f32x16)0.693359375f, p);
    return x != x ? x : p;
}

/* Bits of the lanes i + 0...15 that are before `end`. */
INLINE unsigned FN(before)(size_t i, size_t end) {
    return i >= end ? 0 : end - i >= 16 ? 0xffff : (1u << (end - i)) - 1;
}

INLINE float FN(largest)(const float *s, size_t seen) {
    const f32x16 least = -__builtin_inff();
    f32x16 lanes = least, other = least;
    size_t i = 0;
    for (; i + 32 <= seen; i += 32) {
        lanes = FN(larger)(FN(get)(s + i, 16), lanes);
        other = FN(larger)(FN(get)(s + i + 16, 16), other);
    }
    lanes = FN(larger)(other, lanes);
    for (; i + 16 <= seen; i += 16) lanes = FN(larger)(FN(get)(s + i, 16), lanes);
    float largest = -__builtin_inff();
    for (; i < seen; i++) largest = s[i] > largest ? s[i] : largest;
    const f32x8 eight = lanes.lo > lanes.hi ? lanes.lo : lanes.hi;
    const f32x4 four = eight.lo > eight.hi ? eight.lo : eight.hi;
    const f32x2 two = four.lo > four.hi ? four.lo : four.hi;
    const float one = two.x > two.y ? two.x : two.y;
    return one > largest ? one : largest;
}

/* s = cap tanh(factor * s) for the vectors that hold elements first ..< limit. */
INLINE void FN(cap_scores)(float *s, size_t first, size_t limit, float factor, float cap) {
    for (size_t i = first / 16 * 16; i < limit; i += 16) {
        FN(put)(s + i, FN(tanh)(FN(get)(s + i, 16) * factor) * cap, 16);
    }
}

static void FN(attention_exponentiate)(const struct skein_attention_scores *t) {
    const float scale = t->cap == 0 ? t->scale : 1;
    for (size_t r = 0; r < t->rows; r++) {
        float *const s = t->s + r * t->stride_s;
        uint16_t *const p = t->p + r * t->stride_p;
        const ptrdiff_t before = t->hidden + (ptrdiff_t)r;
        const size_t hidden = before > 0 ? (size_t)before : 0, seen = t->seen + r;
        if (t->cap != 0) FN(cap_scores)(s, hidden, t->limit, t->scale / t->cap, t->cap);
        const float shift = FN(largest)(s + hidden, seen - hidden) * scale;
        f32x16 lanes = 0;
        size_t i = 0;
        for (; i < hidden; i += 16) {
            const f32x16 x = FN(fma)(FN(get)(s + i, 16), (f32x16)scale, (f32x16)-shift);
            const f32x16 e = FN(kept)(FN(before)(i, seen) & ~FN(before)(i, hidden), FN(exp)(x));
            const u16x16 half = FN(round)(e);
            lanes += e;
            memcpy(p + i, &half, sizeof half);
        }
        for (; i + 16 <= seen; i += 16) {
            const f32x16 x = FN(fma)(FN(get)(s + i, 16), (f32x16)scale, (f32x16)-shift);
            const f32x16 e = FN(exp)(x);
            const u16x16 half = FN(round)(e);
            lanes += e;
            memcpy(p + i, &half, sizeof half);
        }
        for (; i < t->limit; i += 16) {
            const f32x16 x = FN(fma)(FN(get)(s + i, 16), (f32x16)scale, (f32x16)-shift);
            const f32x16 e = FN(kept)(FN(before)(i, seen), FN(exp)(x));
            const u16x16 half = FN(round)(e);
            lanes += e;
            memcpy(p + i, &half, sizeof half);
        }
        t->sums[r] = FN(sum)(lanes);
        t->shifts[r] = shift;
    }
}

static void FN(attention_normalize)(
    float *y, size_t stride, size_t rows, size_t n, const float *sums, const float *shifts,
    float *log_sum_exp) {
    for (size_t r = 0; r < rows; r++, y += stride) {
        const float inverse = 1 / sums[r];
        size_t i = 0;
        for (; i + 16 <= n; i += 16) FN(put)(y + i, FN(get)(y + i, 16) * inverse, 16);
        if (i < n) FN(put)(y + i, FN(get)(y + i, n - i) * inverse, n - i);
    }
    if (!log_sum_exp) return;
    const f32x16 logs = FN(get)(shifts, rows) + FN(log)(FN(get)(sums, rows));
    FN(put)(log_sum_exp, logs, rows);
}

static void FN(attention_delta)(
    const float *a, const float *b, size_t stride, size_t rows, size_t n, float *delta) {
    for (size_t r = 0; r < rows; r++, a += stride, b += stride) {
        f32x16 lanes = 0;
        size_t i = 0;
        for (; i + 16 <= n; i += 16) {
            lanes = FN(fma)(FN(get)(a + i, 16), FN(get)(b + i, 16), lanes);
        }
        if (i < n) lanes = FN(fma)(FN(get)(a + i, n - i), FN(get)(b + i, n - i), lanes);
        delta[r] = FN(sum)(lanes);
    }
}

INLINE size_t FN(positive)(ptrdiff_t i) { return i > 0 ? (size_t)i : 0; }

/* One key and 16 queries from `i` on; returns dS^T. */
INLINE u16x16 FN(differentiate_row)(
    const struct skein_attention_tile *t, size_t r, size_t i, int masked, int capped) {
    const f32x16 s = FN(get)(t->s + r * t->stride + i, 16);
    const f32x16 dp = FN(get)(t->dp + r * t->stride + i, 16);
    f32x16 p, ds;
    if (capped) {
        const f32x16 y = FN(tanh)(s * (t->scale / t->cap));
        const f32x16 slope = FN(fma)(-y, y, (f32x16)1.0f);
        p = FN(exp)(FN(fma)(y, (f32x16)t->cap, -FN(get)(t->log_sum_exp + i, 16)));
        ds = p * (dp - FN(get)(t->delta + i, 16)) * slope * t->scale;
    } else {
        p = FN(exp)(FN(fma)(s, (f32x16)t->scale, -FN(get)(t->log_sum_exp + i, 16)));
        ds = p * (dp - FN(get)(t->delta + i, 16)) * t->scale;
    }
    if (masked) {
        const ptrdiff_t start = t->first_seen + (ptrdiff_t)r;
        const ptrdiff_t end = start + (ptrdiff_t)t->window;
        const unsigned hidden = FN(before)(i, FN(positive)(start));
        const unsigned bits = FN(before)(i, FN(positive)(end)) & ~hidden;
        p = FN(kept)(bits, p);
        ds = FN(kept)(bits, ds);
    }
    const u16x16 p16 = FN(round)(p), ds16 = FN(round)(ds);
    memcpy(t->p + r * t->stride_p + i, &p16, sizeof p16);
    memcpy(t->ds + r * t->stride_p + i, &ds16, sizeof ds16);
    return ds16;
}

INLINE void FN(differentiate_pair)(
    const struct skein_attention_tile *t, size_t r, size_t i, int both, int masked, int capped) {
    const u16x16 a = FN(differentiate_row)(t, r, i, masked, capped);
    u32x16 pair = __builtin_convertvector(a, u32x16);
    if (both) {
        const u16x16 b = FN(differentiate_row)(t, r + 1, i, masked, capped);
        pair |= __builtin_convertvector(b, u32x16) << 16;
    }
    memcpy(t->packed + i / 32 * t->panel + r * 32 + i % 32 * 2, &pair, sizeof pair);
}

INLINE void FN(differentiate)(const struct skein_attention_tile *tile, int capped) {
    /* A copy, which no store through a pointer can change, so its numbers stay in registers. */
    const struct skein_attention_tile t = *tile;
    /* Vectors of queries that all see all of the tile's keys: [start, end). */
    size_t start = (FN(positive)(t.first_seen + (ptrdiff_t)t.rows - 1) + 15) / 16 * 16;
    if (start > t.queries) start = t.queries;
    size_t end = FN(positive)(t.first_seen + (ptrdiff_t)t.window) / 16 * 16;
    if (end > t.queries) end = t.queries;
    size_t r = 0;
    for (; r + 2 <= t.rows; r += 2) {
        size_t i = 0;
        for (; i < start; i += 16) FN(differentiate_pair)(&t, r, i, 1, 1, capped);
        for (; i < end; i += 16) FN(differentiate_pair)(&t, r, i, 1, 0, capped);
        for (; i < t.queries; i += 16) FN(differentiate_pair)(&t, r, i, 1, 1, capped);
    }
    if (r < t.rows) {
        for (size_t i = 0; i < t.queries; i += 16) FN(differentiate_pair)(&t, r, i, 0, 1, capped);
    }
}

static void FN(attention_differentiate)(const struct skein_attention_tile *tile) {
    if (tile->cap == 0) {
        FN(differentiate)(tile, 0);
    } else {
        FN(differentiate)(tile, 1);
    }
}

#include "attention_pack_body.h"
