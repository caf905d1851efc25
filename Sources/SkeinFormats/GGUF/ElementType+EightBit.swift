/// Types whose numbers are an f16 scale for each 32 elements, times whole numbers of at most 8 bits:
/// Q8_0 holds them exactly, in fewer bytes than floats take.
extension ElementType {
    /// Whether `asEightBit` knows the type.
    package var hasEightBitForm: Bool { self == .q5x0 || self == .iq4NL }

    /// Rewrites blocks of a type with `hasEightBitForm` as Q8_0's, with the same numbers bit for bit.
    ///
    /// Shapes and ranges:
    ///   - source: `blocks` * `blockBytes` bytes at any alignment.
    ///   - out: `blocks` * 34 bytes: a scale, then 32 codes.
    package func asEightBit(
        from source: UnsafeRawPointer, blocks: Int, into out: UnsafeMutableRawPointer
    ) {
        precondition(hasEightBitForm, "\(self) has no form of 8 bits")
        for index in 0..<blocks {
            let block = source + index * blockBytes
            let to = out + index * ElementType.q8x0.blockBytes
            to.copyMemory(from: block, byteCount: 2)
            let high = self == .q5x0 ? block.loadUnaligned(fromByteOffset: 2, as: UInt32.self) : 0
            let nibbles = block + blockBytes - 16
            for lane in 0..<16 {
                let byte = nibbles.load(fromByteOffset: lane, as: UInt8.self)
                let (low, upper) = (Int(byte & 15), Int(byte >> 4))
                for (nibble, place) in [(low, lane), (upper, lane + 16)] {
                    let code =
                        self == .q5x0
                        ? (nibble | Int(high >> UInt32(place) & 1) << 4) - 16
                        : Self.nonlinearCodes[nibble]
                    to.storeBytes(of: Int8(code), toByteOffset: 2 + place, as: Int8.self)
                }
            }
        }
    }

    private static let nonlinearCodes = (0..<16).map {
        Int(QuantizationBlocks.nonlinearValues[$0])
    }
}
