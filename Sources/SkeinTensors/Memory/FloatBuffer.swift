import Foundation

/// Memory for floats, aligned for vectors, that no array semantics touch.
///
/// Whoever fills it does so before anybody else sees it, or owns it alone; hence Sendable.
package final class FloatBuffer: @unchecked Sendable {
    package let base: UnsafeMutablePointer<Float>
    package let count: Int

    /// Bytes from which on pages are large.
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
