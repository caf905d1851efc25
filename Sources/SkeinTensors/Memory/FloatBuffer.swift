import Foundation

/// Memory for floats, aligned for vectors, without the semantics of arrays.
///
/// It is filled before another thread sees it, or has one owner; hence Sendable.
package final class FloatBuffer: @unchecked Sendable {
    package let base: UnsafeMutablePointer<Float>
    package let count: Int

    /// Buffers of at least this many bytes get large pages.
    static let largePageThreshold = 16 << 20

    /// Uninitialized memory; the system hands out a page when it is first written.
    package init(count: Int) {
        let raw = LargePages.allocate(
            byteCount: max(count, 1) * MemoryLayout<Float>.stride,
            threshold: Self.largePageThreshold)
        base = raw.bindMemory(to: Float.self, capacity: max(count, 1))
        self.count = count
    }

    deinit {
        free(base)
    }
}
