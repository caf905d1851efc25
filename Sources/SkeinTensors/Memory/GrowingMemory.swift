import CSkeinKernels
import Foundation
import SkeinBasics

/// Memory for floats that grows and keeps the pages it has: a fresh page costs a page fault and is
/// cleared by the system, a tenth of a step whose batch is the largest so far.
///
/// Not Sendable: it moves when it grows.
package final class GrowingMemory {
    private var memory: UnsafeMutableRawPointer?
    private var base: UnsafeMutablePointer<Float>?
    private var count = 0

    package init() {}

    deinit {
        free(memory)
    }

    /// The whole memory.
    package var contents: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: base, count: count)
    }

    /// At least `count` floats that start on a cache line. Invalidates the result of an earlier
    /// call, and its contents.
    package func reserve(_ count: Int) -> UnsafeMutablePointer<Float> {
        if let base, count <= self.count { return base }
        let alignment = 64
        let bytes = count * MemoryLayout<Float>.stride + alignment
        guard let grown = realloc(memory, bytes) else {
            MemoryShortage.end(bytes: bytes, for: "activations")
        }
        LargePages.ask(for: grown, byteCount: bytes, threshold: FloatBuffer.largePageThreshold)
        let offset = -Int(bitPattern: grown) & (alignment - 1)
        let base = (grown + offset).bindMemory(to: Float.self, capacity: count)
        (memory, self.base, self.count) = (grown, base, count)
        return base
    }
}

/// What the allocator does with memory that was freed.
package enum FreedMemory {
    /// Keeps freed blocks below 32 MiB. Call before anything large is allocated.
    ///
    /// Every step allocates and frees megabytes of gradients and parameters; given back to the
    /// system each time, they cost a fifth of a coordinator's processor time in page faults.
    package static func keep() {
        skein_keep_freed_memory()
    }
}
