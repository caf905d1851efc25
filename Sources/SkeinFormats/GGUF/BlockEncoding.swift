/// Rows of Float to the blocks of an element type: the inverse of `QuantizationBlocks`.
///
/// Every block is a function of its own numbers, so equal rows give equal bytes for any number of
/// threads. F16, BF16, Q8_0, Q4_0 and Q5_0 are bit for bit what gguf-py's `gguf.quants.quantize`
/// gives (`BlockEncodingTests`); Q4_K and Q6_K search scales as llama.cpp's reference quantizers do,
/// whose sums have another order.
///
/// Letters: `d` scale, `q` code, `x` = the weight.
enum BlockEncoding {
    typealias Lanes = SIMD4<Float>

    /// Types that can be written.
    static let types: [ElementType] = [.f32, .f16, .bf16, .q8x0, .q4x0, .q5x0, .q4K, .q6K]

    /// Writes `blocks` x `type.blockBytes` bytes.
    ///
    /// - Parameters:
    ///   - type: One of `types`.
    ///   - x: `blocks` x `type.blockElements` finite floats of at most `type.largest`.
    ///   - blocks: The number of blocks; 0 is fine.
    ///   - out: Room for all bytes, of any alignment.
    static func encode(
        _ type: ElementType, _ x: UnsafePointer<Float>, blocks: Int,
        into out: UnsafeMutableRawPointer
    ) {
        switch type {
        case .f32: out.copyMemory(from: x, byteCount: blocks * 4)
        case .f16: f16(x, blocks, out)
        case .bf16: bf16(x, blocks, out)
        case .q8x0: q8x0(x, blocks, out)
        case .q4x0: q4x0(x, blocks, out)
        case .q5x0: q5x0(x, blocks, out)
        case .q4K: q4K(x, blocks, out)
        case .q6K: q6K(x, blocks, out)
        default: preconditionFailure("\(type.name) is not written")
        }
    }

    private static func f16(
        _ x: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutableRawPointer
    ) {
        let whole = count & ~3
        for index in stride(from: 0, to: whole, by: 4) {
            out.storeBytes(of: halves(lanes(x + index)), toByteOffset: index * 2, as: Codes.self)
        }
        for index in whole..<count {
            out.storeBytes(of: half(x[index]), toByteOffset: index * 2, as: UInt16.self)
        }
    }

    private typealias Codes = SIMD4<UInt16>

    /// The upper half of each Float, rounded to nearest, ties to even.
    private static func bf16(
        _ x: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutableRawPointer
    ) {
        func upper(_ x: Lanes) -> Codes {
            let bits = unsafeBitCast(BFloat16Arithmetic.round(x), to: SIMD4<UInt32>.self)
            return Codes(truncatingIfNeeded: bits &>> 16)
        }
        let whole = count & ~3
        for index in stride(from: 0, to: whole, by: 4) {
            out.storeBytes(of: upper(lanes(x + index)), toByteOffset: index * 2, as: Codes.self)
        }
        for index in whole..<count {
            out.storeBytes(
                of: upper(Lanes(repeating: x[index]))[0], toByteOffset: index * 2, as: UInt16.self)
        }
    }

    /// d = max |x| / 127; q = x / d, rounded half away from zero.
    private static func q8x0(
        _ x: UnsafePointer<Float>, _ blocks: Int, _ out: UnsafeMutableRawPointer
    ) {
        for index in 0..<blocks {
            let (x, block) = (x + index * 32, out + index * 34)
            let d = abs(extreme(x, 32)) / 127
            let inverse = Self.inverse(d)
            block.storeBytes(of: half(d), as: UInt16.self)
            for lane in stride(from: 0, to: 32, by: 4) {
                let q = SIMD4<Int8>(
                    truncatingIfNeeded: integers(awayFromZero(lanes(x + lane) * inverse)))
                block.storeBytes(of: q, toByteOffset: 2 + lane, as: SIMD4<Int8>.self)
            }
        }
    }

    /// d = extreme / -8, so that the number of largest magnitude becomes 0 exactly; q - 8 = x / d.
    /// Low nibbles are elements 0 ..< 16, high nibbles 16 ..< 32.
    private static func q4x0(
        _ x: UnsafePointer<Float>, _ blocks: Int, _ out: UnsafeMutableRawPointer
    ) {
        for index in 0..<blocks {
            let (x, block) = (x + index * 32, out + index * 18)
            let d = extreme(x, 32) / -8
            let inverse = Self.inverse(d)
            block.storeBytes(of: half(d), as: UInt16.self)
            for lane in stride(from: 0, to: 16, by: 4) {
                let low = levels(lanes(x + lane) * inverse, zero: 8)
                let high = levels(lanes(x + 16 + lane) * inverse, zero: 8)
                block.storeBytes(
                    of: low | (high &<< 4), toByteOffset: 2 + lane, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// d = extreme / -16; q - 16 = x / d. Fifth bits are apart.
    private static func q5x0(
        _ x: UnsafePointer<Float>, _ blocks: Int, _ out: UnsafeMutableRawPointer
    ) {
        for index in 0..<blocks {
            let (x, block) = (x + index * 32, out + index * 22)
            let d = extreme(x, 32) / -16
            let inverse = Self.inverse(d)
            block.storeBytes(of: half(d), as: UInt16.self)
            var fifth: UInt32 = 0
            for lane in stride(from: 0, to: 16, by: 4) {
                let low = levels(lanes(x + lane) * inverse, zero: 16)
                let high = levels(lanes(x + 16 + lane) * inverse, zero: 16)
                for i in 0..<4 {
                    fifth |= UInt32(low[i] &>> 4) &<< UInt32(lane + i)
                    fifth |= UInt32(high[i] &>> 4) &<< UInt32(16 + lane + i)
                }
                block.storeBytes(
                    of: (low & 15) | (high &<< 4), toByteOffset: 6 + lane, as: SIMD4<UInt8>.self)
            }
            block.storeBytes(of: fifth, toByteOffset: 2, as: UInt32.self)
        }
    }

    /// The codes of numbers of -`zero` ... `zero`, from 0 to 2 `zero` - 1: rounded half up.
    @inline(__always)
    private static func levels(_ scaled: Lanes, zero: Float) -> SIMD4<UInt8> {
        let shifted = bounded(scaled + (zero + 0.5), 0, 2 * zero - 0.5)
        var whole = nearest(shifted)
        whole.replace(with: whole - 1, where: whole .> shifted)
        return SIMD4<UInt8>(truncatingIfNeeded: integers(whole))
    }

    /// Rounded to nearest, ties away from zero, as C's roundf does.
    @inline(__always)
    private static func awayFromZero(_ x: Lanes) -> Lanes {
        var whole = nearest(x)
        whole.replace(with: whole + 1, where: x - whole .== 0.5 .& (x .> 0))
        whole.replace(with: whole - 1, where: x - whole .== -0.5 .& (x .< 0))
        return whole
    }
}

// What all encoders share.
extension BlockEncoding {
    @inline(__always)
    static func lanes(_ x: UnsafePointer<Float>) -> Lanes {
        UnsafeRawPointer(x).loadUnaligned(as: Lanes.self)
    }

    /// The first number of the largest magnitude; `count` is at least 1.
    @inline(__always)
    static func extreme(_ x: UnsafePointer<Float>, _ count: Int) -> Float {
        var found = x[0]
        for index in 1..<count where abs(x[index]) > abs(found) { found = x[index] }
        return found
    }

    /// 1 / d; 0 where that is no number, since all codes times d are then zero in any case.
    @inline(__always)
    static func inverse(_ d: Float) -> Float {
        let inverse = 1 / d
        return inverse.isFinite ? inverse : 0
    }

    /// The nearest integers, ties to even, of numbers below 2^22 in magnitude.
    @inline(__always)
    static func nearest(_ x: Lanes) -> Lanes {
        // 1.5 x 2^23: the sum has no bits for a fraction.
        (x + 12_582_912) - 12_582_912
    }

    @inline(__always)
    static func nearest(_ x: Float) -> Float { (x + 12_582_912) - 12_582_912 }

    /// Whole numbers below 2^22 in magnitude. A conversion by the type would check each one.
    @inline(__always)
    static func integers(_ x: Lanes) -> SIMD4<Int32> {
        unsafeBitCast(x + 12_582_912, to: SIMD4<Int32>.self) &- 0x4b40_0000
    }

    /// By selection: the standard library's `clamped` takes the lanes one by one.
    @inline(__always)
    static func bounded(_ x: Lanes, _ low: Float, _ high: Float) -> Lanes {
        var x = x
        x.replace(with: Lanes(repeating: low), where: x .< low)
        x.replace(with: Lanes(repeating: high), where: x .> high)
        return x
    }

    /// The f16 nearest to `x`, ties to even.
    @inline(__always)
    static func half(_ x: Float) -> UInt16 { halves(Lanes(repeating: x))[0] }

    /// Four of `half`. With integers: a CPU without F16C would call a library function for each.
    @inline(__always)
    private static func halves(_ x: Lanes) -> SIMD4<UInt16> {
        // Now every number is one of f16, so that nothing is lost below.
        let bits = unsafeBitCast(Float16Arithmetic.round(x), to: SIMD4<UInt32>.self)
        let magnitude = bits & 0x7fff_ffff
        // The exponent's bias goes from 127 to 15; infinity and NaN have the highest in both.
        var half = (magnitude &>> 13) &- (112 << 10)
        half.replace(with: magnitude &>> 13 & 0x3ff | 0x7c00, where: magnitude .>= 0x7f80_0000)
        // Below 2^-14: multiples of 2^-24.
        let small = bounded(unsafeBitCast(magnitude, to: Lanes.self) * 16_777_216, 0, 1024)
        half.replace(
            with: unsafeBitCast(integers(small), to: SIMD4<UInt32>.self),
            where: magnitude .< 0x3880_0000)
        return SIMD4<UInt16>(truncatingIfNeeded: half | (bits &>> 16 & 0x8000))
    }
}

extension ElementType {
    /// Types that numbers can be written in.
    package static var written: [ElementType] { BlockEncoding.types }

    /// The largest magnitude that can be written: beyond it numbers or scales would be infinite.
    package var largest: Float {
        switch self {
        case .f32: .greatestFiniteMagnitude
        case .bf16: Float(bitPattern: 0x7f7f_0000)
        default: 65_504
        }
    }

    /// What a matrix with rows of `columns` numbers is written as when this type is asked for.
    ///
    /// As llama.cpp does: a row that is no whole number of blocks of 256 falls back to blocks of 32,
    /// Q4_K to Q5_0 and Q6_K to Q8_0, and one that is no whole number of these to F16.
    package func fitting(columns: Int) -> ElementType {
        if columns % blockElements == 0 { return self }
        switch self {
        case .q4K where columns % 32 == 0: return .q5x0
        case .q6K where columns % 32 == 0: return .q8x0
        default: return .f16
        }
    }

    /// Writes `blocks` x `blockBytes` bytes of numbers.
    ///
    /// - Parameters:
    ///   - x: `blocks` x `blockElements` finite floats of at most `largest`.
    ///   - blocks: The number of blocks; 0 is fine.
    ///   - out: Room for all bytes, of any alignment.
    package func encode(
        _ x: UnsafePointer<Float>, blocks: Int, into out: UnsafeMutableRawPointer
    ) {
        BlockEncoding.encode(self, x, blocks: blocks, into: out)
    }
}
