import CSkeinZstd

/// One zstd frame for one byte plane. The only file of the room that uses the library.
///
/// A frame says how long its contents are, but the receiver already knows: no frame decides how
/// much is allocated.
enum ZstdFrame {
    /// The first bytes of a frame (RFC 8878, 3.1.1), little endian 0xFD2FB528.
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// The library's memory for one caller, used for all planes of a message.
    final class Compressor {
        private let context = ZSTD_createCCtx()

        deinit { ZSTD_freeCCtx(context) }

        /// Compresses `plane` when the frame fits into `out`.
        ///
        /// - Returns: bytes written; nil if it does not fit, and `out` is then undefined.
        func compress(
            _ plane: UnsafeRawBufferPointer, level: Int32, into out: UnsafeMutableRawBufferPointer
        ) -> Int? {
            let written = ZSTD_compressCCtx(
                context, out.baseAddress, out.count, plane.baseAddress, plane.count, level)
            return ZSTD_isError(written) == 0 ? written : nil
        }
    }

    /// Why bytes are not the frame of a plane.
    enum Problem: Error {
        case notAFrame
        /// The frame promises contents of another length, or none.
        case wrongContents
        /// The frame ends before the bytes do, or after them.
        case wrongEnd
        case damaged
    }

    /// Decodes exactly one frame that fills `out`.
    ///
    /// In one call, straight into `out`: then the library needs no window of its own, whatever size
    /// the frame asks for, and no limit for it is needed.
    static func decompress(
        _ frame: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer
    ) throws(Problem) {
        // Debian's library also reads formats before 1.0, and a skippable frame has no contents.
        guard frame.starts(with: magic) else { throw .notAFrame }
        let contents = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // Unknown and unreadable are the two greatest numbers; no plane is that long.
        guard contents == UInt64(out.count) else { throw .wrongContents }
        let end = ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count)
        guard ZSTD_isError(end) == 0, end == frame.count else { throw .wrongEnd }
        let written = ZSTD_decompress(out.baseAddress, out.count, frame.baseAddress, frame.count)
        guard ZSTD_isError(written) == 0, written == out.count else { throw .damaged }
    }
}
