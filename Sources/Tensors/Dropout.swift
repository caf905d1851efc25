import Basics

/// Inverted dropout whose mask is a function of an address: (seed, step, sequence, layer, module).
///
/// The mask is drawn once, in the forward pass, and kept as bits: one per element, 1 = kept.
/// Each decision takes 16 random bits, so the probability is a multiple of 1 / 65536.
public struct Dropout: Sendable {
    /// Kept elements are multiplied by this: 1 / (1 - p).
    public let keptScale: Float
    private let threshold: UInt32
    private let random: AddressedRandom
    /// [256, 8]: for each byte of mask, what its eight elements are multiplied by.
    private let factors: FloatBuffer

    /// `probability`: 0 ..< 1, that an element is dropped.
    public init(probability: Float, seed: UInt64) {
        let steps = (probability * 65536).rounded()
        threshold = UInt32(steps)
        keptScale = 65536 / (65536 - steps)
        random = AddressedRandom(seed: seed, purpose: .dropout)
        factors = FloatBuffer(count: 256 * 8)
        for byte in 0..<256 {
            for bit in 0..<8 { factors.base[byte * 8 + bit] = byte >> bit & 1 == 1 ? keptScale : 0 }
        }
    }

    /// Bytes of mask for `count` elements.
    public static func maskBytes(_ count: Int) -> Int { (count + 7) / 8 }

    /// Draws the mask of `count` elements at an address. Eight Philox blocks at a time.
    ///
    /// Shapes and ranges:
    ///   - mask: `maskBytes(count)` bytes.
    public func draw(
        into mask: UnsafeMutablePointer<UInt8>, count: Int,
        step: UInt32, sequence: UInt32, place: UInt32
    ) {
        let bytes = Self.maskBytes(count)
        var first = 0
        while first < bytes {
            let drawn = eightBytes(UInt32(truncatingIfNeeded: first), step, sequence, place)
            for lane in 0..<min(8, bytes - first) {
                mask[first + lane] = UInt8(truncatingIfNeeded: drawn[lane])
            }
            first += 8
        }
    }

    /// `AddressedRandom.block` for eight indices at once, each turned into a byte of mask.
    ///
    /// Each 32-bit word lies in a 64-bit lane with its upper half zero, which is what the vector
    /// multiplication takes; there is nothing to shuffle. One block at a time, the drawing took 40 %
    /// of a step.
    @inline(__always)
    private func eightBytes(
        _ first: UInt32, _ a: UInt32, _ b: UInt32, _ c: UInt32
    ) -> SIMD8<UInt64> {
        let low = SIMD8<UInt64>(repeating: 0xFFFF_FFFF)
        var c0 = SIMD8<UInt64>(repeating: UInt64(first)) &+ [0, 1, 2, 3, 4, 5, 6, 7]
        var c1 = SIMD8<UInt64>(repeating: UInt64(a))
        var c2 = SIMD8<UInt64>(repeating: UInt64(b))
        var c3 = SIMD8<UInt64>(repeating: UInt64(c))
        var k0 = random.key.x
        var k1 = random.key.y
        for _ in 0..<10 {
            let p0 = (c0 & low) &* SIMD8(repeating: 0xD251_1F53)
            let p1 = (c2 & low) &* SIMD8(repeating: 0xCD9E_8D57)
            c0 = (p1 &>> 32) ^ c1 ^ SIMD8(repeating: UInt64(k0))
            c1 = p1 & low
            c2 = (p0 &>> 32) ^ c3 ^ SIMD8(repeating: UInt64(k1))
            c3 = p0 & low
            k0 &+= 0x9E37_79B9
            k1 &+= 0xBB67_AE85
        }
        var bytes = SIMD8<UInt64>.zero
        for (i, word) in [(UInt64(0), c0), (1, c1), (2, c2), (3, c3)] {
            // Word i decides elements i (lower half) and i + 4 (upper half): 1 = at least threshold.
            let lower = ((word & 0xFFFF) &+ UInt64(65536 - threshold)) &>> 16
            let upper = ((word &>> 16) &+ UInt64(65536 - threshold)) &>> 16
            bytes |= (lower &<< SIMD8(repeating: i)) | (upper &<< SIMD8(repeating: i + 4))
        }
        return bytes
    }

    /// y = x * mask / (1 - p).
    public func apply(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        into y: UnsafeMutablePointer<Float>
    ) {
        let factors = UnsafePointer(self.factors.base)
        var i = 0
        while i + 8 <= count {
            y.store8(i, x.load8(i) * factors.load8(Int(mask[i >> 3]) << 3))
            i += 8
        }
        while i < count {
            y[i] = x[i] * factors[Int(mask[i >> 3]) << 3 + i & 7]
            i += 1
        }
    }

    /// y += x * mask / (1 - p): the backward pass.
    public func add(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        let factors = UnsafePointer(self.factors.base)
        var i = 0
        while i + 8 <= count {
            y.store8(i, y.load8(i) + x.load8(i) * factors.load8(Int(mask[i >> 3]) << 3))
            i += 8
        }
        while i < count {
            y[i] += x[i] * factors[Int(mask[i >> 3]) << 3 + i & 7]
            i += 1
        }
    }
}
