/* tanh x at one level, for the files of kernels that need it; exponential_body.h comes before. */

/* tanh |x| = E / (E + 2), E = e^y - 1, y = 2 |x| = n ln 2 + r as in exp: E = 2^n (e^r - 1) + (2^n -
   1) cancels nothing, so that small x keep their digits: below 3 ulp. From y = 20 on the quotient
   rounds to 1. NaN stays. */
INLINE f32x16 FN(tanh)(f32x16 x) {
    const f32x16 high = 20.0f, magic = 12582912.0f + 127.0f;
    const u32x16 sign = (u32x16)x & 0x80000000;
    const f32x16 positive = (f32x16)((u32x16)x ^ sign), twice = positive + positive;
    const f32x16 y = twice > high ? high : twice;
    const f32x16 shifted = FN(fma)(y, (f32x16)1.44269504f, magic);
    const f32x16 power = (f32x16)((u32x16)shifted << 23);
    const f32x16 e = FN(fma)(FN(exp_minus_1)(y, shifted - magic), power, power - 1.0f);
    return (f32x16)((u32x16)(e / (e + 2.0f)) | sign);
}
