/* Rounding and packing with vectors of 512 bits, included once per level with
     LEVEL   the end of the names that it defines
     PAIR    a function that rounds two vectors of 16 floats into one of 32 elements, in order
   Each function does as many whole vectors as there are and returns how far it came. */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

/* One row; returns the elements that are done. */
size_t JOIN(skein_bf16_round_row, LEVEL)(const float *x, size_t k, uint16_t *out) {
    size_t i = 0;
    for (; i + 32 <= k; i += 32)
        _mm512_storeu_si512(out + i, PAIR(_mm512_loadu_ps(x + i), _mm512_loadu_ps(x + i + 16)));
    return i;
}

/* One panel from 32 rows, 32 k at a time; returns the k that are done. */
size_t JOIN(skein_bf16_pack_panel, LEVEL)(
    const float *w, size_t stride, size_t k, uint16_t *p) {
    size_t i = 0;
    for (; i + 32 <= k; i += 32) {
        for (size_t half = 0; half < 2; half++) {
            __m512i r[16];
#pragma clang loop unroll(full)
            for (int c = 0; c < 16; c++) {
                const float *row = w + (half * 16 + (size_t)c) * stride + i;
                r[c] = PAIR(_mm512_loadu_ps(row), _mm512_loadu_ps(row + 16));
            }
            transpose(r);
#pragma clang loop unroll(full)
            for (size_t pair = 0; pair < 16; pair++)
                _mm512_storeu_si512(
                    p + (i / 2 + pair) * 2 * SKEIN_BF16_COLUMNS + half * 32, r[pair]);
        }
    }
    return i;
}

/* One pair of k from two rows, 32 columns at a time; returns the columns that are done. */
size_t JOIN(skein_bf16_pack_pair, LEVEL)(
    const float *a, const float *b, size_t n, uint16_t *p, size_t panel) {
    const __m512i order = alternating();
    size_t column = 0;
    for (; column + 32 <= n; column += 32, p += panel) {
        for (size_t half = 0; half < 32; half += 16) {
            const __m512i both =
                PAIR(_mm512_loadu_ps(a + column + half), _mm512_loadu_ps(b + column + half));
            _mm512_storeu_si512(p + half * 2, _mm512_permutexvar_epi16(order, both));
        }
    }
    return column;
}

#undef JOIN
#undef JOIN_
#undef LEVEL
#undef PAIR
