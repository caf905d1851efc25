/// Loads, stores and conversions that all kernels share, and the plain half-width types.
extension QuantizationBlocks {
    @inline(__always)
    static func codes(at source: UnsafeRawPointer) -> Codes {
        source.loadUnaligned(as: Codes.self)
    }

    @inline(__always)
    static func store(_ lanes: Lanes, to out: UnsafeMutablePointer<Float>) {
        UnsafeMutableRawPointer(out).storeBytes(of: lanes, as: Lanes.self)
    }

    @inline(__always)
    static func floats(_ codes: Codes) -> Lanes {
        // From signed integers it is one instruction on SSE2; from unsigned ones it is five.
        Lanes(SIMD4<Int32>(truncatingIfNeeded: codes))
    }

    /// The f16 at `source` as Float. Exact; done with integers, because a CPU without F16C would call
    /// a library function for each one.
    @inline(__always)
    static func half(at source: UnsafeRawPointer) -> Float {
        let bits = UInt32(source.loadUnaligned(as: UInt16.self))
        let shifted = (bits & 0x7fff) << 13
        let sign = (bits & 0x8000) << 16
        let exponent = shifted & 0x0f80_0000
        if exponent == 0 {
            // Zero or subnormal: 2^-14 (1 + fraction) - 2^-14 is exact and never a subnormal Float.
            let smallest = Float(bitPattern: 113 << 23)
            let value = Float(bitPattern: shifted + 113 << 23) - smallest
            return Float(bitPattern: value.bitPattern | sign)
        }
        // The exponent's bias goes from 15 to 127; infinity and NaN have the highest exponent in both.
        let bias: UInt32 = exponent == 0x0f80_0000 ? 224 << 23 : 112 << 23
        return Float(bitPattern: (shifted + bias) | sign)
    }

    /// Four lanes of `half(at:)`.
    @inline(__always)
    private static func halves(at source: UnsafeRawPointer) -> Lanes {
        let bits = SIMD4<UInt32>(
            truncatingIfNeeded: source.loadUnaligned(as: SIMD4<UInt16>.self))
        let shifted = (bits & 0x7fff) &<< 13
        let sign = (bits & 0x8000) &<< 16
        let exponent = shifted & 0x0f80_0000
        let smallest = Lanes(repeating: Float(bitPattern: 113 << 23))
        let small = unsafeBitCast(shifted &+ (113 << 23), to: Lanes.self) - smallest
        var normal = shifted &+ (112 << 23)
        normal.replace(with: shifted &+ (224 << 23), where: exponent .== 0x0f80_0000)
        normal.replace(
            with: unsafeBitCast(small, to: SIMD4<UInt32>.self), where: exponent .== 0)
        return unsafeBitCast(normal | sign, to: Lanes.self)
    }

    static func f16(
        _ source: UnsafeRawPointer, _ count: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        let whole = count & ~3
        for index in stride(from: 0, to: whole, by: 4) {
            store(halves(at: source + index * 2), to: out + index)
        }
        for index in whole..<count { out[index] = half(at: source + index * 2) }
    }

    /// bf16 is the upper half of a Float.
    static func bf16(
        _ source: UnsafeRawPointer, _ count: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        let whole = count & ~3
        for index in stride(from: 0, to: whole, by: 4) {
            let bits = (source + index * 2).loadUnaligned(as: SIMD4<UInt16>.self)
            let wide = SIMD4<UInt32>(truncatingIfNeeded: bits) &<< 16
            store(unsafeBitCast(wide, to: Lanes.self), to: out + index)
        }
        for index in whole..<count {
            let bits = UInt32((source + index * 2).loadUnaligned(as: UInt16.self))
            out[index] = Float(bitPattern: bits << 16)
        }
    }
}
