import CSkeinZstd

/// One zstd frame for one byte plane. The only file that knows the library.
///
/// A frame says how long its contents are, and the receiver knows it already: nothing is allocated
/// on the word of a frame.
enum ZstdFrame {
    /// The first bytes of a frame (RFC 8878, 3.1.1), little endian 0xFD2FB528.
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// The library's memory for one caller, used for all planes of a message.
    final class Compressor {
        private let context = ZSTD_createCCtx()

        deinit { ZSTD_freeCCtx(context) }

        /// Compresses `plane` when the frame fits into `out`.
        ///
        /// - Returns: bytes written; nil when it does not fit, `out` is then undefined.
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
    /// In one call, straight into `out`: the library needs no window of its own then, whatever size
    /// the frame asks for, so there is no limit of it to set.
    static func decompress(
        _ frame: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer
    ) throws(Problem) {
        // Debian's library reads the formats before 1.0, too; and a skippable frame has no contents.
        guard frame.starts(with: magic) else { throw .notAFrame }
        let contents = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // Unknown and unreadable are the two greatest numbers, which no plane has as its length.
        guard contents == UInt64(out.count) else { throw .wrongContents }
        let end = ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count)
        guard ZSTD_isError(end) == 0, end == frame.count else { throw .wrongEnd }
        let written = ZSTD_decompress(out.baseAddress, out.count, frame.baseAddress, frame.count)
        guard ZSTD_isError(written) == 0, written == out.count else { throw .damaged }
    }
}
