import CSkeinZstd

/// One zstd frame for one page. The only file of the room that uses the library.
enum ZstdPage {
    /// The first bytes of a frame (RFC 8878, 3.1.1), little endian 0xFD2FB528.
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// Block_Maximum_Size (RFC 8878, 3.1.1.2.4).
    private static let blockBytes = 128 << 10

    /// The longest text that the blocks of a frame can hold; nil if `frame` is no frame.
    ///
    /// The frame's own claim of its length is not trusted.
    static func mostBytes(_ frame: UnsafeRawBufferPointer) -> Int? {
        guard frame.count >= 6, frame.starts(with: magic) else { return nil }
        let descriptor = Int(frame[4])
        let isSingleSegment = descriptor & 0x20 != 0
        let contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]
        var place = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3] + contentSize
        var total = 0
        while place + 3 <= frame.count {
            let head =
                Int(frame[place]) | Int(frame[place + 1]) << 8 | Int(frame[place + 2]) << 16
            let size = head >> 3
            place += 3
            switch head >> 1 & 3 {
            case 0: (total, place) = (total + min(size, blockBytes), place + size)
            case 1: (total, place) = (total + min(size, blockBytes), place + 1)
            case 2: (total, place) = (total + blockBytes, place + size)
            default: return nil
            }
            if head & 1 == 1 { return place <= frame.count ? total : nil }
        }
        return nil
    }

    /// Decodes exactly one frame that fills `out`.
    ///
    /// In one call, straight into `out`: then the library needs no window of its own, whatever size
    /// the frame asks for.
    ///
    /// - Parameters:
    ///   - frame: for which `mostBytes` is not nil.
    ///   - out: as long as the frame's contents must be.
    /// - Returns: whether it does.
    static func decompress(
        _ frame: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let end = ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count)
        guard ZSTD_isError(end) == 0, end == frame.count else { return false }
        let written = ZSTD_decompress(out.baseAddress, out.count, frame.baseAddress, frame.count)
        return ZSTD_isError(written) == 0 && written == out.count
    }
}
