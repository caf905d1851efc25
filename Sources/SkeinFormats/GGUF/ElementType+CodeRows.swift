/// Types that are rewritten as rows of codes: their numbers, bit for bit, in a fraction of the bytes
/// that floats take.
extension ElementType {
    /// What the type is rewritten as; nil for those that are not.
    package var codeRows: CodeRows? {
        switch self {
        case .q5x0, .iq4NL: .q8x0
        case .q4K: .q4K
        case .q5K: .q5K
        case .q3K, .q6K, .iq4XS: .q6K
        case .q4x0, .q4x1, .q5x1, .q8x0, .q2K, .mxfp4, .bf16, .f16, .f32: nil
        }
    }

    /// Rewrites blocks of a type with `codeRows`.
    ///
    /// Shapes and ranges:
    ///   - source: `blocks` * `blockBytes` bytes at any alignment.
    ///   - out: `blocks` * `codeRows.blockBytes` bytes.
    package func rewrite(
        from source: UnsafeRawPointer, blocks: Int, into out: UnsafeMutableRawPointer
    ) {
        guard let form = codeRows else { preconditionFailure("\(self) has no rows of codes") }
        for index in 0..<blocks {
            let block = source + index * blockBytes
            let to = out + index * form.blockBytes
            switch form {
            case .q8x0: rewriteQ8(block, to)
            case .q4K: Self.rewriteQ4K(block, to)
            case .q5K: Self.rewriteQ5K(block, to)
            case .q6K: rewriteQ6K(block, to)
            }
        }
    }

    /// Q5_0 and IQ4_NL.
    private func rewriteQ8(_ block: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) {
        to.copyMemory(from: block, byteCount: 2)
        if self == .iq4NL { return Self.writeTableCodes(block + 2, to + 2) }
        let high = block.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
        for lane in 0..<16 {
            let byte = block.load(fromByteOffset: 6 + lane, as: UInt8.self)
            for (nibble, place) in [(Int(byte & 15), lane), (Int(byte >> 4), lane + 16)] {
                let code = (nibble | Int(high >> UInt32(place) & 1) << 4) - 16
                to.storeBytes(of: Int8(code), toByteOffset: 2 + place, as: Int8.self)
            }
        }
    }

    private static func rewriteQ4K(_ block: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) {
        writeScalesAndMinima(block, to)
        for group in 0..<8 {
            for lane in stride(from: 0, to: 16, by: 4) {
                let low = QuantizationBlocks.q4KCodes(block, group, lane)
                let high = QuantizationBlocks.q4KCodes(block, group, lane + 16)
                store(low | high &<< 4, to + 20 + group * 16 + lane)
            }
        }
    }

    private static func rewriteQ5K(_ block: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) {
        writeScalesAndMinima(block, to)
        for group in 0..<8 {
            for lane in stride(from: 0, to: 32, by: 4) {
                store(
                    QuantizationBlocks.q5KCodes(block, group, lane), to + 20 + group * 32 + lane)
            }
        }
    }

    /// Q6_K, Q3_K and IQ4_XS, whose scale of 32 stands twice.
    private func rewriteQ6K(_ block: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) {
        let d = self == .q6K ? 208 : self == .q3K ? 108 : 0
        to.copyMemory(from: block + d, byteCount: 2)
        to.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
        let (scales, codes) = (to + 4, to + 20)
        for group in 0..<16 {
            let scale =
                switch self {
                case .q6K: block.load(fromByteOffset: 192 + group, as: Int8.self)
                case .q3K: Int8(QuantizationBlocks.q3KScale(block, group))
                default: Int8(QuantizationBlocks.iq4XSScale(block, group / 2))
                }
            scales.storeBytes(of: scale, toByteOffset: group, as: Int8.self)
        }
        if self == .iq4XS {
            for group in 0..<8 {
                Self.writeTableCodes(block + 8 + group * 16, codes + group * 32)
            }
            return
        }
        for group in 0..<16 {
            for lane in stride(from: 0, to: 16, by: 4) {
                let q =
                    self == .q6K
                    ? QuantizationBlocks.q6KCodes(block, group, lane) &- 32
                    : QuantizationBlocks.q3KCodes(block, group, lane) &- 4
                Self.store(q, codes + group * 16 + lane)
            }
        }
    }

    /// d, dmin, scales and minima of Q4_K and Q5_K.
    private static func writeScalesAndMinima(
        _ block: UnsafeRawPointer, _ to: UnsafeMutableRawPointer
    ) {
        to.copyMemory(from: block, byteCount: 4)
        for group in 0..<8 {
            let (scale, minimum) = QuantizationBlocks.scaleAndMinimum(of: group, at: block + 4)
            to.storeBytes(of: scale, toByteOffset: 4 + group, as: UInt8.self)
            to.storeBytes(of: minimum, toByteOffset: 12 + group, as: UInt8.self)
        }
    }

    /// 32 codes of the IQ4 types from 16 bytes: low nibbles are the first 16.
    private static func writeTableCodes(
        _ packed: UnsafeRawPointer, _ to: UnsafeMutableRawPointer
    ) {
        for lane in 0..<16 {
            let byte = Int(packed.load(fromByteOffset: lane, as: UInt8.self))
            to.storeBytes(of: nonlinearCodes[byte & 15], toByteOffset: lane, as: Int8.self)
            to.storeBytes(of: nonlinearCodes[byte >> 4], toByteOffset: lane + 16, as: Int8.self)
        }
    }

    private static let nonlinearCodes = (0..<16).map {
        Int8(QuantizationBlocks.nonlinearValues[$0])
    }

    @inline(__always)
    private static func store(_ codes: QuantizationBlocks.Codes, _ to: UnsafeMutableRawPointer) {
        to.storeBytes(of: codes, as: QuantizationBlocks.Codes.self)
    }
}
