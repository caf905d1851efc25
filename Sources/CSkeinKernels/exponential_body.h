/* e^x at one level, for the files of kernels that need it. */

/* e^r - 1, r = x - n ln 2, by a polynomial of degree 6 (coefficients of Cephes' expf). */
INLINE f32x16 FN(exp_minus_1)(f32x16 x, f32x16 n) {
    f32x16 r = FN(fma)(n, (f32x16)-0.693359375f, x);
    r = FN(fma)(n, (f32x16)2.1219444e-4f, r);
    f32x16 p = FN(fma)(r, (f32x16)1.98756915e-4f, (f32x16)1.39819995e-3f);
    p = FN(fma)(p, r, (f32x16)8.333452e-3f);
    p = FN(fma)(p, r, (f32x16)4.1665796e-2f);
    p = FN(fma)(p, r, (f32x16)1.66666655e-1f);
    p = FN(fma)(p, r, (f32x16)0.5f);
    return FN(fma)(p, r * r, r);
}

/* e^x, `clamped` being x or, above 88, 88. It is n ln 2 + r, |r| <= ln 2 / 2. Adding and
   subtracting 1.5 * 2^23 rounds to an integer; with 127 more, the lowest bits of the sum are the
   exponent's bits of 2^n. Multiplying by it keeps NaN. */
INLINE f32x16 FN(exp_clamped)(f32x16 x, f32x16 clamped) {
    const f32x16 magic = 12582912.0f + 127.0f;
    const f32x16 shifted = FN(fma)(clamped, (f32x16)1.44269504f, magic);
    const f32x16 p = FN(exp_minus_1)(clamped, shifted - magic) + 1.0f;
    const f32x16 power = (f32x16)((u32x16)shifted << 23);
    return x < -87.0f ? 0.0f : p * power;
}

INLINE f32x16 FN(exp)(f32x16 x) {
    const f32x16 high = 88.0f;
    return FN(exp_clamped)(x, x > high ? high : x);
}
