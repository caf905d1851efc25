/// ggml's K types: blocks of 256 weights whose groups of 16 or 32 have scales of their own.
extension QuantizationBlocks {
    /// 16 bytes (scale in the low nibble, minimum in the high one), 64 bytes of 2-bit codes, d, dmin:
    /// y = (d scale) q - (dmin minimum), groups of 16.
    static func q2K(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 84
            let d = half(at: block + 80)
            let dmin = half(at: block + 82)
            for group in 0..<16 {
                let scale = block.load(fromByteOffset: group, as: UInt8.self)
                let dl = d * Float(scale & 15)
                let ml = dmin * Float(scale &>> 4)
                // Four groups' codes share a byte, two bits each; 32 bytes serve 128 elements.
                let shift = UInt8(group / 2 % 4 * 2)
                let packed = block + 16 + group / 8 * 32 + group % 2 * 16
                let y = out + index * 256 + group * 16
                for lane in stride(from: 0, to: 16, by: 4) {
                    let q = (codes(at: packed + lane) &>> shift) & 3
                    store(dl * floats(q) - ml, to: y + lane)
                }
            }
        }
    }

    /// 32 bytes of third bits, 64 bytes of 2-bit codes, 12 bytes of 6-bit scales, d:
    /// y = d (scale - 32) (q - 4 where the third bit is clear), groups of 16.
    static func q3K(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 110
            let d = half(at: block + 108)
            for group in 0..<16 {
                let dl = d * Float(q3KScale(block, group))
                let y = out + index * 256 + group * 16
                for lane in stride(from: 0, to: 16, by: 4) {
                    store(dl * (floats(q3KCodes(block, group, lane)) - 4), to: y + lane)
                }
            }
        }
    }

    /// The scale of a group of Q3_K, -32 to 31.
    @inline(__always)
    static func q3KScale(_ block: UnsafeRawPointer, _ group: Int) -> Int32 {
        // The low nibble is in byte group % 8, the upper two bits in byte 8 + group % 4.
        let scales = block + 96
        let low = scales.load(fromByteOffset: group % 8, as: UInt8.self)
        let high = scales.load(fromByteOffset: 8 + group % 4, as: UInt8.self)
        let nibble = group < 8 ? low & 15 : low &>> 4
        return Int32(nibble | ((high &>> UInt8(group / 4 * 2)) & 3) &<< 4) - 32
    }

    /// Four codes of a group of Q3_K, with 4 more where the third bit is set.
    @inline(__always)
    static func q3KCodes(_ block: UnsafeRawPointer, _ group: Int, _ lane: Int) -> Codes {
        let packed = block + 32 + group / 8 * 32 + group % 2 * 16 + lane
        let q = (codes(at: packed) &>> UInt8(group / 2 % 4 * 2)) & 3
        let third = (codes(at: block + group % 2 * 16 + lane) &>> UInt8(group / 2)) & 1
        return q | third &<< 2
    }

    /// d, dmin, 12 bytes of 6-bit scales and minima, 128 bytes: y = (d scale) q - (dmin minimum),
    /// groups of 32; low nibbles of 32 bytes are one group, high nibbles the next.
    static func q4K(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 144
            let d = half(at: block)
            let dmin = half(at: block + 2)
            for group in 0..<8 {
                let (scale, minimum) = scaleAndMinimum(of: group, at: block + 4)
                let dl = d * Float(scale)
                let ml = dmin * Float(minimum)
                let y = out + index * 256 + group * 32
                for lane in stride(from: 0, to: 32, by: 4) {
                    store(dl * floats(q4KCodes(block, group, lane)) - ml, to: y + lane)
                }
            }
        }
    }

    /// Four codes of a group of Q4_K.
    @inline(__always)
    static func q4KCodes(_ block: UnsafeRawPointer, _ group: Int, _ lane: Int) -> Codes {
        (codes(at: block + 16 + group / 2 * 32 + lane) &>> UInt8(group % 2 * 4)) & 15
    }

    /// Like Q4_K, after 32 bytes whose bit g is the fifth bit of group g's codes.
    static func q5K(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 176
            let d = half(at: block)
            let dmin = half(at: block + 2)
            for group in 0..<8 {
                let (scale, minimum) = scaleAndMinimum(of: group, at: block + 4)
                let dl = d * Float(scale)
                let ml = dmin * Float(minimum)
                let y = out + index * 256 + group * 32
                for lane in stride(from: 0, to: 32, by: 4) {
                    store(dl * floats(q5KCodes(block, group, lane)) - ml, to: y + lane)
                }
            }
        }
    }

    /// Four codes of a group of Q5_K.
    @inline(__always)
    static func q5KCodes(_ block: UnsafeRawPointer, _ group: Int, _ lane: Int) -> Codes {
        let packed = block + 48 + group / 2 * 32 + lane
        let low = (codes(at: packed) &>> UInt8(group % 2 * 4)) & 15
        let high = (codes(at: block + 16 + lane) &>> UInt8(group)) & 1
        return low | high &<< 4
    }

    /// 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales, d:
    /// y = (d scale) (q - 32), groups of 16.
    static func q6K(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<blocks {
            let block = source + index * 210
            let d = half(at: block + 208)
            for group in 0..<16 {
                let scale = block.load(fromByteOffset: 192 + group, as: Int8.self)
                let dl = d * Float(scale)
                let y = out + index * 256 + group * 16
                for lane in stride(from: 0, to: 16, by: 4) {
                    store(dl * (floats(q6KCodes(block, group, lane)) - 32), to: y + lane)
                }
            }
        }
    }

    /// Four codes of a group of Q6_K.
    @inline(__always)
    static func q6KCodes(_ block: UnsafeRawPointer, _ group: Int, _ lane: Int) -> Codes {
        // In each half of 128: 32 elements are the low nibbles of the first 32 bytes, then of the
        // next 32, then the high nibbles of both; bit pairs follow the same four steps.
        let step = group / 2 % 4
        let within = group % 2 * 16 + lane
        let packed = block + group / 8 * 64 + step % 2 * 32 + within
        let upper = block + 128 + group / 8 * 32 + within
        let low = (codes(at: packed) &>> UInt8(step / 2 * 4)) & 15
        let high = (codes(at: upper) &>> UInt8(step * 2)) & 3
        return low | high &<< 4
    }

    /// The 6-bit scale and minimum of group 0 ..< 8 from Q4_K's and Q5_K's 12 bytes.
    ///
    /// Groups 0 ..< 4 have theirs in the low six bits of bytes 0 ..< 4 and 4 ..< 8; the upper two bits
    /// of these bytes and the nibbles of bytes 8 ..< 12 are those of groups 4 ..< 8.
    @inline(__always)
    static func scaleAndMinimum(
        of group: Int, at scales: UnsafeRawPointer
    ) -> (scale: UInt8, minimum: UInt8) {
        let first = scales.load(fromByteOffset: group % 4, as: UInt8.self)
        let second = scales.load(fromByteOffset: 4 + group % 4, as: UInt8.self)
        if group < 4 { return (first & 63, second & 63) }
        let third = scales.load(fromByteOffset: 8 + group % 4, as: UInt8.self)
        return ((third & 15) | (first &>> 2) & 48, (third &>> 4) | (second &>> 2) & 48)
    }
}
