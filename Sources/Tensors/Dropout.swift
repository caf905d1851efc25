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

    /// `probability`: 0 ..< 1, that an element is dropped.
    public init(probability: Float, seed: UInt64) {
        let steps = (probability * 65536).rounded()
        threshold = UInt32(steps)
        keptScale = 65536 / (65536 - steps)
        random = AddressedRandom(seed: seed, purpose: .dropout)
    }

    /// Bytes of mask for `count` elements.
    public static func maskBytes(_ count: Int) -> Int { (count + 7) / 8 }

    /// Draws the mask of `count` elements at an address.
    ///
    /// `mask`: `maskBytes(count)` bytes.
    public func draw(
        into mask: UnsafeMutablePointer<UInt8>, count: Int,
        step: UInt32, sequence: UInt32, place: UInt32
    ) {
        for byte in 0..<Self.maskBytes(count) {
            let words = random.block(UInt32(truncatingIfNeeded: byte), step, sequence, place)
            // Lane i of `low` and `high` decides elements i and i + 4.
            let low = (words & 0xFFFF) .>= threshold
            let high = (words &>> 16) .>= threshold
            mask[byte] = Self.bits(low) | Self.bits(high) << 4
        }
    }

    @inline(__always)
    private static func bits(_ mask: SIMDMask<SIMD4<Int32>>) -> UInt8 {
        let ones = SIMD4<UInt32>.zero.replacing(with: [1, 2, 4, 8], where: mask)
        return UInt8(truncatingIfNeeded: ones.wrappedSum())
    }

    /// y = x * mask / (1 - p).
    public func apply(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        into y: UnsafeMutablePointer<Float>
    ) {
        forEach8(mask, count) { i, kept in
            y.store8(i, Float8.zero.replacing(with: x.load8(i) * keptScale, where: kept))
        } tail: { i, kept in
            y[i] = kept ? x[i] * keptScale : 0
        }
    }

    /// y += x * mask / (1 - p): the backward pass.
    public func add(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        forEach8(mask, count) { i, kept in
            let d = Float8.zero.replacing(with: x.load8(i) * keptScale, where: kept)
            y.store8(i, y.load8(i) + d)
        } tail: { i, kept in
            if kept { y[i] += x[i] * keptScale }
        }
    }

    @inline(__always)
    private func forEach8(
        _ mask: UnsafePointer<UInt8>, _ count: Int,
        _ body: (Int, SIMDMask<SIMD8<Int32>>) -> Void, tail: (Int, Bool) -> Void
    ) {
        let lanes: SIMD8<UInt32> = [1, 2, 4, 8, 16, 32, 64, 128]
        var i = 0
        while i + 8 <= count {
            let byte = SIMD8<UInt32>(repeating: UInt32(mask[i >> 3]))
            body(i, (byte & lanes) .!= 0)
            i += 8
        }
        while i < count {
            tail(i, mask[i >> 3] >> UInt8(i & 7) & 1 == 1)
            i += 1
        }
    }
}
