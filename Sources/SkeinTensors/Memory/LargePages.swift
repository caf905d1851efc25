import Foundation
import SkeinBasics

/// Memory in large pages where the system has them: fewer page faults while it is filled and fewer
/// address translations while it is used. If refused, pages are small; nothing else changes.
enum LargePages {
    /// Bytes of a large page on x86-64 and most of arm64.
    private static let size = 2 << 20

    /// Uninitialized memory aligned to 64 bytes, to be given back with `free`. If the system
    /// refuses it, the process ends (`MemoryShortage`).
    ///
    /// `threshold`: from this many bytes on, large pages are requested; the last one may be used
    /// only in part.
    static func allocate(byteCount: Int, threshold: Int) -> UnsafeMutableRawPointer {
        let isLarge = byteCount >= threshold
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, isLarge ? size : 64, max(byteCount, 64)) == 0, let memory
        else { MemoryShortage.end(bytes: byteCount, for: "weights and activations") }
        ask(for: memory, byteCount: byteCount, threshold: threshold)
        return memory
    }

    /// Requests large pages for allocated memory, from the page that it starts in.
    static func ask(for memory: UnsafeMutableRawPointer, byteCount: Int, threshold: Int) {
        guard byteCount >= threshold else { return }
        #if os(Linux)
            let before = Int(bitPattern: memory) % Int(getpagesize())
            _ = madvise(memory - before, byteCount + before, MADV_HUGEPAGE)
        #endif
    }
}
