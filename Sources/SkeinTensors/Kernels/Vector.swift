import CSkeinKernels

/// Whether this processor has fused multiply-add and the row kernels use it. It changes bits, so a
/// fingerprint names it.
package var isMultiplyAddFused: Bool { skein_elementwise_fused() != 0 }

/// e^x for one number, with the bits of the vector kernels; below 2 ulp for -87 <= x <= 88.
package func exponential(_ x: Float) -> Float {
    skein_exponential(skein_level(), x)
}

/// The sum of e^((x - shift) / divisor), of terms with the bits of `exponential`; the order of
/// additions depends on the number of terms alone.
package func exponentialTotal(
    _ x: UnsafeBufferPointer<Float>, shift: Float, divisor: Float
) -> Double {
    guard let base = x.baseAddress else { return 0 }
    return skein_exponential_total(skein_level(), base, x.count, shift, divisor)
}

/// The dot product of two vectors, in a fixed lane order.
func dot(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    skein_dot(skein_level(), a, b, count)
}

/// The natural logarithm of a positive number, below 2 ulp; NaN for NaN, infinity and negative numbers.
///
/// x = m 2^e with m in sqrt(1/2) ..< sqrt(2), and ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m-1)/(m+1),
/// up to the 23rd power: |s| <= 0.172, so what is left out is below 1e-19. The C library's logarithm
/// differs in the last bit between its versions and between processors with and without fused
/// multiply-add, and the fingerprint names neither.
func logarithm(_ x: Double) -> Double {
    guard x > 0, x.isFinite else { return x == 0 ? -.infinity : .nan }
    var mantissa = x.significand
    var exponent = Double(x.exponent)
    if mantissa >= 1.414_213_562_373_095_1 {
        mantissa /= 2
        exponent += 1
    }
    let s = (mantissa - 1) / (mantissa + 1)
    let square = s * s
    var sum = 0.0
    for k in stride(from: 23.0, through: 3, by: -2) { sum = (sum + 1 / k) * square }
    // ln 2 in two parts, the first of 40 bits, so that its product with the exponent is exact.
    return exponent * 0x1.62e42fefa4p-1
        + (2 * s + (2 * s * sum + exponent * -0x1.8432a1b0e2634p-43))
}
