/// Blocks of quantized weights to Float, bit for bit what gguf-py's `gguf.quants.dequantize` gives.
///
/// Each kernel does the same single-precision operations in the same order; the layouts are those of
/// ggml-common.h. Loads are unaligned, because a block may start at any byte. Four lanes at a time:
/// SIMD16 took twice as long on SSE2. Checked against goldens of every type in
/// `QuantizationBlocksTests`.
///
/// Letters: `d` scale, `m` minimum (f16 in the file), `q` code, `y` = the weight.
enum QuantizationBlocks {
    typealias Codes = SIMD4<UInt8>
    typealias Lanes = SIMD4<Float>

    /// Writes `blocks` x `type.blockElements` floats.
    ///
    /// - Parameters:
    ///   - type: The format of the bytes at `source`.
    ///   - source: `blocks` x `type.blockBytes` readable bytes.
    ///   - blocks: The number of blocks; 0 is fine.
    ///   - out: Room for all floats.
    static func dequantize(
        _ type: ElementType, from source: UnsafeRawPointer, blocks: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        switch type {
        case .f32:
            UnsafeMutableRawPointer(out).copyMemory(from: source, byteCount: blocks * 4)
        case .f16: f16(source, blocks, out)
        case .bf16: bf16(source, blocks, out)
        case .q4x0: q4x0(source, blocks, out)
        case .q4x1: q4x1(source, blocks, out)
        case .q5x0: q5x0(source, blocks, out)
        case .q5x1: q5x1(source, blocks, out)
        case .q8x0: q8x0(source, blocks, out)
        case .q2K: q2K(source, blocks, out)
        case .q3K: q3K(source, blocks, out)
        case .q4K: q4K(source, blocks, out)
        case .q5K: q5K(source, blocks, out)
        case .q6K: q6K(source, blocks, out)
        case .iq4NL: iq4NL(source, blocks, out)
        case .iq4XS: iq4XS(source, blocks, out)
        case .mxfp4: mxfp4(source, blocks, out)
        }
    }

    /// d, 16 bytes: y = (q - 8) d; low nibbles are elements 0 ..< 16, high nibbles 16 ..< 32.
    private static func q4x0(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 18
            let y = out + index * 32
            let d = half(at: block)
            for lane in stride(from: 0, to: 16, by: 4) {
                let q = codes(at: block + 2 + lane)
                store((floats(q & 15) - 8) * d, to: y + lane)
                store((floats(q &>> 4) - 8) * d, to: y + 16 + lane)
            }
        }
    }

    /// d, m, 16 bytes: y = q d + m.
    private static func q4x1(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 20
            let y = out + index * 32
            let d = half(at: block)
            let m = half(at: block + 2)
            for lane in stride(from: 0, to: 16, by: 4) {
                let q = codes(at: block + 4 + lane)
                store(floats(q & 15) * d + m, to: y + lane)
                store(floats(q &>> 4) * d + m, to: y + 16 + lane)
            }
        }
    }

    /// d, 32 fifth bits, 16 bytes: y = (q - 16) d.
    private static func q5x0(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 22
            let y = out + index * 32
            let d = half(at: block)
            let high = block.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
            for lane in stride(from: 0, to: 16, by: 4) {
                let q = codes(at: block + 6 + lane)
                let low = fifthBit(high &>> UInt32(lane), q & 15)
                let upper = fifthBit(high &>> UInt32(16 + lane), q &>> 4)
                store((floats(low) - 16) * d, to: y + lane)
                store((floats(upper) - 16) * d, to: y + 16 + lane)
            }
        }
    }

    /// d, m, 32 fifth bits, 16 bytes: y = q d + m.
    private static func q5x1(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 24
            let y = out + index * 32
            let d = half(at: block)
            let m = half(at: block + 2)
            let high = block.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            for lane in stride(from: 0, to: 16, by: 4) {
                let q = codes(at: block + 8 + lane)
                let low = fifthBit(high &>> UInt32(lane), q & 15)
                let upper = fifthBit(high &>> UInt32(16 + lane), q &>> 4)
                store(floats(low) * d + m, to: y + lane)
                store(floats(upper) * d + m, to: y + 16 + lane)
            }
        }
    }

    /// d, 32 signed bytes: y = q d.
    private static func q8x0(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 34
            let y = out + index * 32
            let d = half(at: block)
            for lane in stride(from: 0, to: 32, by: 4) {
                let q = (block + 2 + lane).loadUnaligned(as: SIMD4<Int8>.self)
                store(Lanes(SIMD4<Int32>(truncatingIfNeeded: q)) * d, to: y + lane)
            }
        }
    }

    /// `codes` with bit 4 set in lane i where bit i of `bits` is set.
    ///
    /// The product copies the four bits to the lowest bits of four bytes.
    @inline(__always)
    private static func fifthBit(_ bits: UInt32, _ codes: Codes) -> Codes {
        let spread = ((bits & 15) &* 0x0020_4081) & 0x0101_0101
        return codes | unsafeBitCast(spread &<< 4, to: Codes.self)
    }
}
