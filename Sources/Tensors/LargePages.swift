import Foundation

/// Memory in large pages where the system has them: fewer page faults while it is filled and fewer
/// address translations while it is used. Refused, pages are small, and nothing else changes.
enum LargePages {
    /// Bytes of a large page on x86-64 and most of arm64.
    private static let size = 2 << 20

    /// Uninitialized memory on a multiple of 64 bytes, to be given back with `deallocate`.
    ///
    /// - Parameter threshold: Bytes from which on large pages are asked for; the last one may be filled
    ///   in part only.
    static func allocate(byteCount: Int, threshold: Int) -> UnsafeMutableRawPointer {
        let isLarge = byteCount >= threshold
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(byteCount, 64), alignment: isLarge ? size : 64)
        #if os(Linux)
            if isLarge { _ = madvise(memory, byteCount, MADV_HUGEPAGE) }
        #endif
        return memory
    }
}
