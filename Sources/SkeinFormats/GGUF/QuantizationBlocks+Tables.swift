/// ggml's types whose 4-bit codes are places in a table of 16 values.
extension QuantizationBlocks {
    /// `kvalues_iq4nl` of ggml-common.h.
    static var nonlinearValues: SIMD16<Float> {
        SIMD16(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
    }

    /// E2M1, doubled: the scale is halved instead. A negative zero is a plain one, as in ggml.
    private static var e2m1Values: SIMD16<Float> {
        SIMD16(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
    }

    /// d, 16 bytes: y = d value[q]; low nibbles are elements 0 ..< 16, high nibbles 16 ..< 32.
    static func iq4NL(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        withTable(nonlinearValues) { values in
            for index in 0..<blocks {
                let block = source + index * 18
                tableGroup(block + 2, values, half(at: block), out + index * 32)
            }
        }
    }

    /// d, 16 bits of upper scale bits, 4 bytes of lower ones, 128 bytes: y = (d (scale - 32)) value[q],
    /// groups of 32 with a 6-bit scale each.
    static func iq4XS(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        withTable(nonlinearValues) { values in
            for index in 0..<blocks {
                let block = source + index * 136
                let d = half(at: block)
                for group in 0..<8 {
                    tableGroup(
                        block + 8 + group * 16, values, d * Float(iq4XSScale(block, group)),
                        out + index * 256 + group * 32)
                }
            }
        }
    }

    /// The scale of a group of IQ4_XS, -32 to 31.
    @inline(__always)
    static func iq4XSScale(_ block: UnsafeRawPointer, _ group: Int) -> Int32 {
        let upper = block.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
        let packed = block.load(fromByteOffset: 4 + group / 2, as: UInt8.self)
        let low = Int32(packed &>> UInt8(group % 2 * 4)) & 15
        let high = Int32(upper &>> UInt16(group * 2)) & 3
        return (low | high &<< 4) - 32
    }

    /// An exponent byte e, 16 bytes: y = 2^(e - 128) value[q], nibbles as in IQ4_NL.
    static func mxfp4(
        _ source: UnsafeRawPointer, _ blocks: Int, _ out: UnsafeMutablePointer<Float>
    ) {
        withTable(e2m1Values) { values in
            for index in 0..<blocks {
                let block = source + index * 17
                let exponent = UInt32(block.load(as: UInt8.self))
                // The two smallest are subnormal.
                let bits =
                    exponent < 2 ? UInt32(0x0020_0000) &<< exponent : (exponent &- 1) &<< 23
                tableGroup(block + 1, values, Float(bitPattern: bits), out + index * 32)
            }
        }
    }

    /// 32 elements from 16 bytes at `packed`.
    @inline(__always)
    private static func tableGroup(
        _ packed: UnsafeRawPointer, _ values: UnsafePointer<Float>, _ d: Float,
        _ y: UnsafeMutablePointer<Float>
    ) {
        for lane in 0..<16 {
            let byte = Int((packed + lane).load(as: UInt8.self))
            y[lane] = d * values[byte & 15]
            y[16 + lane] = d * values[byte &>> 4]
        }
    }

    /// Gives `body` the values in memory, where a code can index them.
    @inline(__always)
    static func withTable(_ values: SIMD16<Float>, _ body: (UnsafePointer<Float>) -> Void) {
        withUnsafeBytes(of: values) { bytes in
            if let base = bytes.bindMemory(to: Float.self).baseAddress { body(base) }
        }
    }
}
