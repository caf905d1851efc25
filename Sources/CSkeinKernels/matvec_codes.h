/* The part of matvec_body.h for the K types: 256 columns share d (and dmin), and groups of 32 of them,
   of 16 with Q6_K, have whole numbers for scales. A scale times d is exact. */

/* Bytes before the codes of 256 columns: d, dmin, scales, minima. */
#define K_HEAD 320
/* Bytes of the codes of 32 columns. */
#define K_CODES(type) ((type) == SKEIN_PACKED_Q4_K ? 256 : 512)
#define K_BYTES(type) (K_HEAD + 8 * K_CODES(type))

/* Group i's scales, one for each row. */
INLINE v16f NAME(k_scale)(enum skein_packed type, const uint8_t *p, v16f d, size_t i) {
    const uint8_t *scales = p + 64 + 16 * i;
    if (type == SKEIN_PACKED_Q6_K) return d * __builtin_convertvector(*(const v16b *)scales, v16f);
    return d * __builtin_convertvector(__builtin_convertvector(*(const v16c *)scales, v16i), v16f);
}

/* Group i's minima. */
INLINE v16f NAME(k_minimum)(const uint8_t *p, v16f dmin, size_t i) {
    const uint8_t *minima = p + 192 + 16 * i;
    return dmin * __builtin_convertvector(__builtin_convertvector(*(const v16c *)minima, v16i), v16f);
}

/* Fetches what lies AHEAD of the head and of the codes of group i. */
INLINE void NAME(k_fetch)(enum skein_packed type, const uint8_t *p, size_t i) {
    for (size_t line = 0; i == 0 && line < K_HEAD; line += 64)
        __builtin_prefetch(p + AHEAD + line, 0, 3);
    for (size_t line = 0; line < K_CODES(type); line += 64)
        __builtin_prefetch(p + AHEAD + K_HEAD + K_CODES(type) * i + line, 0, 3);
}

/* One group of rows; inlined with a constant type. */
INLINE v16f NAME(k_group)(enum skein_packed type, const uint8_t *p, size_t columns, const float *x,
    const float *spread) {
    v16f sum = {};
    const float *sums = spread + columns;
    for (size_t b = 0; b < columns / 256; b++, p += K_BYTES(type)) {
        const v16f d = NAME(half16)(p), dmin = NAME(half16)(p + 32);
        for (size_t i = 0; i < 8; i++, x += 32, spread += 32, sums++) {
            const uint8_t *codes = p + K_HEAD + K_CODES(type) * i;
            NAME(k_fetch)(type, p, i);
            if (type == SKEIN_PACKED_Q6_K) {
                for (size_t h = 0; h < 2; h++) {
                    const v16f one = NAME(bytes)(16, codes + 256 * h, x + 16 * h);
                    sum = NAME(fma16)(NAME(k_scale)(type, p, d, 2 * i + h), one, sum);
                }
                continue;
            }
            const v16f one = type == SKEIN_PACKED_Q4_K ? NAME(nibbles)(codes, spread)
                                                       : NAME(bytes)(32, codes, x);
            sum = NAME(fma16)(NAME(k_scale)(type, p, d, i), one, sum);
            sum = NAME(fma16)(NAME(k_minimum)(p, dmin, i), SPLAT(-*sums), sum);
        }
    }
    return sum;
}

/* Columns first ..< first + count of one group as numbers. */
INLINE void NAME(k_unpack)(enum skein_packed type, const uint8_t *group, size_t first, size_t count,
    float *out, size_t stride) {
    for (size_t c = first / 32; c < (first + count) / 32; c++, out += 32 * stride) {
        const uint8_t *p = group + c / 8 * K_BYTES(type);
        const size_t i = c % 8;
        const uint8_t *codes = p + K_HEAD + K_CODES(type) * i;
        const v16f d = NAME(half16)(p), dmin = NAME(half16)(p + 32);
        if (type == SKEIN_PACKED_Q4_K) {
            const v16f scale = NAME(k_scale)(type, p, d, i), minimum = NAME(k_minimum)(p, dmin, i);
            for (int w = 0; w < 4; w++) {
                const v16u words = *(const v16uu *)(codes + 64 * w);
#pragma clang loop unroll(full)
                for (int n = 0; n < 8; n++) {
                    const v16f q = NAME(nibble)(words, n) * UNDO(n);
                    *(v16fu *)(out + stride * COLUMN(w, n)) = scale * q - minimum;
                }
            }
            continue;
        }
        for (size_t k = 0; k < 32; k++) {
            const v16f q = __builtin_convertvector(*(const v16b *)(codes + 16 * k), v16f);
            if (type == SKEIN_PACKED_Q6_K) {
                *(v16fu *)(out + stride * k) = NAME(k_scale)(type, p, d, 2 * i + k / 16) * q;
            } else {
                *(v16fu *)(out + stride * k) =
                    NAME(k_scale)(type, p, d, i) * q - NAME(k_minimum)(p, dmin, i);
            }
        }
    }
}
