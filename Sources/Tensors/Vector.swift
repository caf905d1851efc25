/// Eight floats at a time. Plain IEEE operations in a fixed lane order and no fused multiply-add, so
/// that every CPU gives the same bits; the compiler maps them on whatever registers there are.
typealias Float8 = SIMD8<Float>

extension UnsafePointer<Float> {
    @inline(__always)
    func load8(_ index: Int) -> Float8 {
        UnsafeRawPointer(self + index).loadUnaligned(as: Float8.self)
    }
}

extension UnsafeMutablePointer<Float> {
    @inline(__always)
    func load8(_ index: Int) -> Float8 {
        UnsafeRawPointer(self + index).loadUnaligned(as: Float8.self)
    }

    @inline(__always)
    func store8(_ index: Int, _ value: Float8) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Float8.self)
    }
}

extension Float8 {
    /// The sum of the lanes in a fixed order: halves first.
    @inline(__always)
    var sum8: Float {
        let four = lowHalf + highHalf
        let two = four.lowHalf + four.highHalf
        return two.x + two.y
    }
}

/// The larger of each pair of lanes. (`pointwiseMax` is not inlined.)
@inline(__always)
func max8(_ a: Float8, _ b: Float8) -> Float8 {
    a.replacing(with: b, where: b .> a)
}

/// e^x, below 2 ulp for -87 <= x <= 88; smaller x gives 0, larger x is clamped.
///
/// x = n ln 2 + r, |r| <= ln 2 / 2; e^r by a degree-6 polynomial (Cephes `expf` coefficients); 2^n
/// goes into the exponent bits. Rounding to n adds and subtracts 1.5 * 2^23, which rounds to nearest
/// without a library call.
@inline(__always)
func exp8(_ x: Float8) -> Float8 {
    let clamped = max8(x, Float8(repeating: -88)).replacing(with: 88, where: x .> 88)
    let magic = Float8(repeating: 12_582_912)
    let shifted = clamped * 1.442_695_04 + magic
    let n = shifted - magic
    let r = (clamped - n * 0.693_359_375) - n * -2.121_944_4e-4
    var p = r * 1.987_569_15e-4 + 1.398_199_95e-3
    p = p * r + 8.333_452e-3
    p = p * r + 4.166_579_6e-2
    p = p * r + 1.666_666_55e-1
    p = p * r + 0.5
    p = p * (r * r) + r + 1
    let bits = unsafeBitCast(shifted, to: SIMD8<Int32>.self) &<< 23
    let scaled = unsafeBitCast(
        unsafeBitCast(p, to: SIMD8<Int32>.self) &+ bits, to: Float8.self)
    return scaled.replacing(with: 0, where: x .< -87)
}

/// `exp8` for one number: the same bits as in a vector.
@inline(__always)
func exp1(_ x: Float) -> Float {
    exp8(Float8(repeating: x))[0]
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

/// e^x for one number, with the bits of the vector kernels; below 2 ulp for -87 <= x <= 88.
public func exponential(_ x: Float) -> Float {
    exp1(x)
}
