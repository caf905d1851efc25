/// Carves aligned pieces out of one buffer, so that a step allocates nothing.
///
/// Without a buffer it only counts, which tells how large the buffer must be.
package struct Arena {
    private let base: UnsafeMutablePointer<Float>?
    /// Floats taken so far.
    package private(set) var used = 0

    /// Counts only.
    package init() { base = nil }

    package init(_ base: UnsafeMutablePointer<Float>) { self.base = base }

    /// `count` floats that start on a cache line; a meaningless pointer while only counting.
    package mutating func take(_ count: Int) -> UnsafeMutablePointer<Float> {
        let start = used
        used += (count + 15) / 16 * 16
        if let base { return base + start }
        return Self.nowhere
    }

    /// `count` bytes that start on a cache line.
    package mutating func takeBytes(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let floats = (count + 3) / 4
        return UnsafeMutableRawPointer(take(floats))
            .bindMemory(to: UInt8.self, capacity: floats * 4)
    }

    /// `count` 16-bit numbers that start on a cache line.
    package mutating func takeHalves(_ count: Int) -> UnsafeMutablePointer<UInt16> {
        let floats = (count + 1) / 2
        return UnsafeMutableRawPointer(take(floats))
            .bindMemory(to: UInt16.self, capacity: floats * 2)
    }

    /// Never read or written: what `take` returns while only counting.
    private nonisolated(unsafe) static let nowhere = UnsafeMutablePointer<Float>.allocate(
        capacity: 1)
}
