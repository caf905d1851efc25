/* The fourth part of matvec_body.h: query heads that share a key/value head attend together, so that
   keys and values are read once. Each head's sums are those of NAME(attend), operation for
   operation. Letters: H heads, G groups of 16 columns. */

#if FUSED
/* out[h, 16 G columns] of the weighted sums of values; p: [H, stride_p]. */
INLINE void NAME(gather_heads)(const int H, const int G, const float *p, size_t stride_p,
    const float *v, size_t keys, size_t padded, v16f out[4][4]) {
    v16f even[4][4], odd[4][4];
#pragma clang loop unroll(full)
    for (int h = 0; h < H; h++) {
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) even[h][g] = odd[h][g] = (v16f){};
    }
    size_t t = 0;
    for (; t + 2 <= keys; t += 2) {
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            const v16f one = *(const v16fu *)(v + t * padded + 16 * g);
            const v16f other = *(const v16fu *)(v + (t + 1) * padded + 16 * g);
#pragma clang loop unroll(full)
            for (int h = 0; h < H; h++) {
                const float *const weight = p + (size_t)h * stride_p + t;
                even[h][g] = NAME(fma16)(one, SPLAT(weight[0]), even[h][g]);
                odd[h][g] = NAME(fma16)(other, SPLAT(weight[1]), odd[h][g]);
            }
        }
    }
    if (t < keys) {
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            const v16f one = *(const v16fu *)(v + t * padded + 16 * g);
#pragma clang loop unroll(full)
            for (int h = 0; h < H; h++) {
                even[h][g] =
                    NAME(fma16)(one, SPLAT(p[(size_t)h * stride_p + t]), even[h][g]);
            }
        }
    }
#pragma clang loop unroll(full)
    for (int h = 0; h < H; h++) {
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) out[h][g] = even[h][g] + odd[h][g];
    }
}

INLINE void NAME(attend_some)(const int H, const float *q, const float *k, const float *v,
    size_t keys, size_t n, float scale, float *scores, float *out) {
    /* What the registers hold: 2 H G sums. */
    enum { MOST = WIDE ? 4 : 1 };
    const size_t padded = (n + 15) / 16 * 16, room = (keys + 15) / 16 * 16;
    const struct skein_vectors queries = {
        .x = q, .stride_x = n, .spread = q, .stride_spread = n, .count = H};
    NAME(matvec_rows)(SKEIN_PACKED_F32, (const uint8_t *)k, n, (keys + 15) / 16, &queries, scores,
        room, keys, 0);
    float factor[4];
    for (int h = 0; h < H; h++)
        factor[h] = 1.0f / NAME(weigh)(scores + (size_t)h * room, keys, scale);
    for (size_t c = 0; c < n;) {
        v16f sums[4][4];
        const int wide = MOST == 4 && H < 4 && padded - c >= 64;
        if (wide) NAME(gather_heads)(H, MOST, scores, room, v + c, keys, padded, sums);
        else NAME(gather_heads)(H, 1, scores, room, v + c, keys, padded, sums);
        for (int g = 0; g < (wide ? 4 : 1); g++, c += 16) {
            for (int h = 0; h < H; h++) {
                NAME(put)(sums[h][g] * factor[h], n - c, out + (size_t)h * n + c);
            }
        }
    }
}
#endif

static void NAME(attend_heads)(const float *q, size_t heads, const float *k, const float *v,
    size_t keys, size_t n, float scale, float *scores, float *out) {
#if FUSED
    for (size_t h = 0; h < heads;) {
        const size_t left = heads - h;
        const float *const from = q + h * n;
        float *const to = out + h * n;
        /* As even as possible: 4 are 2 and 2. */
        const size_t some = left == 4 || left == 2 ? 2 : left < 3 ? 1 : 3;
        if (some == 3) NAME(attend_some)(3, from, k, v, keys, n, scale, scores, to);
        else if (some == 2) NAME(attend_some)(2, from, k, v, keys, n, scale, scores, to);
        else NAME(attend)(from, k, v, keys, n, scale, scores, to);
        h += some;
    }
#else
    for (size_t h = 0; h < heads; h++)
        NAME(attend)(q + h * n, k, v, keys, n, scale, scores, out + h * n);
#endif
}
