/* The second part of matvec_body.h: attention. */

/* e^x for x <= 0, below 2 ulp; 0 below -87: the polynomial of Cephes' expf, no operation fused, so
   that every level has the same bits. */
INLINE v16f NAME(exp16)(v16f x) {
    const v16u vanishes = (v16u)(x < -87.0f);
    const v16u low = (v16u)(x < -88.0f);
    x = (v16f)((low & (v16u)(SPLAT(-88.0f))) | (~low & (v16u)x));
    const v16f shifted = x * 1.44269504f + 12582912.0f;
    const v16f n = shifted - 12582912.0f;
    const v16f r = (x - n * 0.693359375f) - n * -2.1219444e-4f;
    v16f p = r * 1.98756915e-4f + 1.39819995e-3f;
    p = p * r + 8.333452e-3f;
    p = p * r + 4.1665796e-2f;
    p = p * r + 1.66666655e-1f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    return (v16f)(~vanishes & ((v16u)p + ((v16u)shifted << 23)));
}

/* row = e^(scale (row - largest)) in place, then zeros up to the next multiple of 16; the sum. */
INLINE float NAME(weigh)(float *row, size_t seen, float scale) {
    const size_t padded = (seen + 15) / 16 * 16;
    for (size_t i = seen; i < padded; i++) row[i] = -__builtin_inff();
    v16f most = *(const v16fu *)row;
    for (size_t i = 16; i < padded; i += 16) {
        const v16f x = *(const v16fu *)(row + i);
        const v16u larger = (v16u)(x > most);
        most = (v16f)((larger & (v16u)x) | (~larger & (v16u)most));
    }
    float largest = most[0];
#pragma clang loop unroll(full)
    for (int i = 1; i < 16; i++) largest = most[i] > largest ? most[i] : largest;
    v16f sums = {};
    for (size_t i = 0; i < padded; i += 16) {
        const v16f e = NAME(exp16)((*(const v16fu *)(row + i) - largest) * scale);
        *(v16fu *)(row + i) = e;
        sums += e;
    }
    return NAME(folded)(sums);
}

static void NAME(softmax_row)(float *row, size_t seen, size_t count, float scale) {
    const float factor = 1.0f / NAME(weigh)(row, seen, scale);
    size_t i = 0;
    for (; i < seen; i += 16) *(v16fu *)(row + i) *= factor;
    for (; i < count; i++) row[i] = 0;
}

/* Sixteen numbers of a cache, the i-th to the i+15-th, without their scale. Exact. */
INLINE v16f NAME(cached16)(const enum skein_cache_type type, const void *numbers, size_t i) {
    if (type == SKEIN_CACHE_F32) return *(const v16fu *)((const float *)numbers + i);
    if (type == SKEIN_CACHE_INT8)
        return __builtin_convertvector(*(const v16b *)((const int8_t *)numbers + i), v16f);
    return (v16f)(__builtin_convertvector(*(const v16h *)((const uint16_t *)numbers + i), v16u)
        << 16);
}

/* `groups` x 16 columns of the weighted sum of values, two chains each. v: whole rows; column: the
   first. */
INLINE void NAME(gather)(const enum skein_cache_type type, const int groups, const float *p,
    const void *v, size_t column, size_t keys, size_t padded, v16f *out) {
    v16f even[4] = {}, odd[4] = {};
    size_t t = 0;
    for (; t + 2 <= keys; t += 2) {
#pragma clang loop unroll(full)
        for (int g = 0; g < groups; g++) {
            const size_t at = t * padded + column + 16 * g;
            even[g] = NAME(fma16)(NAME(cached16)(type, v, at), SPLAT(p[t]), even[g]);
            odd[g] = NAME(fma16)(NAME(cached16)(type, v, at + padded), SPLAT(p[t + 1]), odd[g]);
        }
    }
    for (int g = 0; t < keys && g < groups; g++) {
        const size_t at = t * padded + column + 16 * g;
        even[g] = NAME(fma16)(NAME(cached16)(type, v, at), SPLAT(p[t]), even[g]);
    }
#pragma clang loop unroll(full)
    for (int g = 0; g < groups; g++) out[g] = even[g] + odd[g];
}

static void NAME(attend)(const float *q, const float *k, const float *v, size_t keys, size_t n,
    float scale, float *scores, float *out) {
    const size_t padded = (n + 15) / 16 * 16;
    NAME(groups)(SKEIN_PACKED_F32, (const uint8_t *)k, n, (keys + 15) / 16, q, 0, scores, keys, 0);
    const float factor = 1.0f / NAME(weigh)(scores, keys, scale);
    for (size_t c = 0; c < n;) {
        v16f sums[4];
        const int groups = padded - c >= 64 ? 4 : 1;
        if (groups == 4) {
            NAME(gather)(SKEIN_CACHE_F32, 4, scores, v, c, keys, padded, sums);
        } else {
            NAME(gather)(SKEIN_CACHE_F32, 1, scores, v, c, keys, padded, sums);
        }
        for (int g = 0; g < groups; g++, c += 16) NAME(put)(sums[g] * factor, n - c, out + c);
    }
}

/* scores = q K^T for `keys` keys from a group on. */
INLINE void NAME(score_piece)(const enum skein_cache_type type, const float *q, const uint8_t *k,
    size_t n, size_t keys, float *scores) {
    const size_t groups = (keys + 15) / 16;
    if (type == SKEIN_CACHE_F32) {
        NAME(groups)(SKEIN_PACKED_F32, k, n, groups, q, 0, scores, keys, 0);
    } else if (type == SKEIN_CACHE_BF16) {
        NAME(groups)(SKEIN_PACKED_BF16, k, n, groups, q, 0, scores, keys, 0);
    } else {
        const size_t bytes = skein_cache_key_bytes(type, n);
        for (size_t g = 0; g < groups; g++) {
            const uint8_t *const codes = k + g * bytes + 64;
            v16f chain[4] = {};
            size_t i = 0;
            for (; i + 4 <= n; i += 4) {
#pragma clang loop unroll(full)
                for (int c = 0; c < 4; c++) {
                    chain[c] = NAME(fma16)(NAME(cached16)(type, codes, 16 * (i + c)),
                        SPLAT(q[i + c]), chain[c]);
                }
            }
            for (; i < n; i++) {
                chain[0] =
                    NAME(fma16)(NAME(cached16)(type, codes, 16 * i), SPLAT(q[i]), chain[0]);
            }
            const v16f sum = (chain[0] + chain[1]) + (chain[2] + chain[3]);
            const v16f scaled = sum * *(const v16fu *)(k + g * bytes);
            NAME(put)(scaled, keys - 16 * g, scores + 16 * g);
        }
    }
}

/* The scores of the keys `low` ..< `end`, low a multiple of 16, in at most two pieces. */
INLINE void NAME(score)(const enum skein_cache_type type, const float *q,
    const struct skein_cached *c, size_t n, size_t low, size_t end, float *scores) {
    const size_t slot = low % c->slots, left = c->slots - slot, count = end - low;
    const size_t whole = count < left ? count : left, rest = count - whole;
    const uint8_t *const k = c->k;
    NAME(score_piece)(type, q, k + slot / 16 * skein_cache_key_bytes(type, n), n, whole, scores);
    NAME(score_piece)(type, q, k, n, rest, scores + whole);
}

INLINE void NAME(attend_typed)(const enum skein_cache_type type, enum skein_level level,
    const float *q, const struct skein_cached *cached, size_t n, float scale, float cap,
    float *scores, float *out) {
    const struct skein_cached c = *cached;
    const size_t padded = (n + 15) / 16 * 16, low = c.first / 16 * 16, hidden = c.first - low;
    const size_t count = c.end - c.first;
    NAME(score)(type, q, &c, n, low, c.end, scores);
    if (cap > 0) skein_softcap(level, scores, hidden + count, scale / cap, cap);
    for (size_t i = 0; i < hidden; i++) scores[i] = -__builtin_inff();
    const float factor = 1.0f / NAME(weigh)(scores, hidden + count, cap > 0 ? 1 : scale);
    const size_t slot = c.first % c.slots, left = c.slots - slot;
    const size_t whole = count < left ? count : left;
    float *const p = scores + hidden;
    if (type == SKEIN_CACHE_INT8) {
        for (size_t t = 0; t < whole; t++) p[t] *= c.value_scales[slot + t];
        for (size_t t = whole; t < count; t++) p[t] *= c.value_scales[t - whole];
    }
    const uint8_t *const v = (const uint8_t *)c.v + slot * skein_cache_value_bytes(type, n);
    for (size_t i = 0; i < n;) {
        v16f sums[4], others[4];
        const int groups = padded - i >= 64 ? 4 : 1;
        if (groups == 4) {
            NAME(gather)(type, 4, p, v, i, whole, padded, sums);
            NAME(gather)(type, 4, p + whole, c.v, i, count - whole, padded, others);
        } else {
            NAME(gather)(type, 1, p, v, i, whole, padded, sums);
            NAME(gather)(type, 1, p + whole, c.v, i, count - whole, padded, others);
        }
        for (int g = 0; g < groups; g++, i += 16) {
            NAME(put)((sums[g] + others[g]) * factor, n - i, out + i);
        }
    }
}

static void NAME(attend_cached)(enum skein_level level, const float *q,
    const struct skein_cached *cached, size_t n, float scale, float cap, float *scores,
    float *out) {
#define CASE(T) \
    case T: NAME(attend_typed)(T, level, q, cached, n, scale, cap, scores, out); break;
    switch (cached->type) {
        CASE(SKEIN_CACHE_F32)
        CASE(SKEIN_CACHE_BF16)
        CASE(SKEIN_CACHE_INT8)
    }
#undef CASE
}

static void NAME(cached_keys)(enum skein_cache_type type, const void *keys, size_t n,
    size_t groups, float *out) {
    const size_t bytes = skein_cache_key_bytes(type, n);
    const uint8_t *k = keys;
    for (size_t g = 0; g < groups; g++, k += bytes, out += 16 * n) {
        if (type == SKEIN_CACHE_INT8) {
            const v16f scale = *(const v16fu *)k;
            for (size_t i = 0; i < n; i++)
                *(v16fu *)(out + 16 * i) =
                    NAME(cached16)(SKEIN_CACHE_INT8, k + 64, 16 * i) * scale;
        } else if (type == SKEIN_CACHE_BF16) {
            for (size_t i = 0; i < n; i++)
                *(v16fu *)(out + 16 * i) = NAME(cached16)(SKEIN_CACHE_BF16, k, 16 * i);
        } else {
            memcpy(out, k, bytes);
        }
    }
}

static void NAME(cached_values)(enum skein_cache_type type, const void *values,
    const float *scales, size_t padded, size_t count, float *out) {
    if (type == SKEIN_CACHE_F32) {
        memcpy(out, values, count * padded * sizeof *out);
        return;
    }
    for (size_t t = 0; t < count; t++, out += padded) {
        for (size_t i = 0; i < padded; i += 16) {
            const size_t at = t * padded + i;
            *(v16fu *)(out + i) = type == SKEIN_CACHE_INT8
                ? NAME(cached16)(SKEIN_CACHE_INT8, values, at) * scales[t]
                : NAME(cached16)(SKEIN_CACHE_BF16, values, at);
        }
    }
}
