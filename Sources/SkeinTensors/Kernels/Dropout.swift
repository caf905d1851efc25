import CSkeinKernels
import SkeinBasics

/// Inverted dropout whose mask is a function of an address: (seed, step, sequence, layer, module).
///
/// The mask is drawn once, in the forward pass, and kept as bits: one per element, 1 = kept.
/// Each decision takes 16 random bits, so the probability is a multiple of 1 / 65536.
package struct Dropout: Sendable {
    /// Kept elements are multiplied by this: 1 / (1 - p).
    package let keptScale: Float
    private let threshold: UInt32
    private let random: AddressedRandom

    /// The largest probability allowed: of 65,536 steps, 7 still keep an element. Nearer to 1 the
    /// share would be off by more than a tenth, and at 1 nothing is kept and 0 times infinity is
    /// not a number.
    package static let mostProbable = 0.9999

    /// `probability`: 0 ... `mostProbable`, that an element is dropped.
    package init(probability: Float, seed: UInt64) {
        let steps = (probability * 65536).rounded()
        precondition(steps >= 0 && steps < 65536, "options and readers check the probability")
        threshold = UInt32(steps)
        keptScale = 65536 / (65536 - steps)
        random = AddressedRandom(seed: seed, purpose: .dropout)
    }

    /// Bytes of mask for `count` elements.
    package static func maskBytes(_ count: Int) -> Int { (count + 7) / 8 }

    /// Draws the mask of `count` elements at an address: `AddressedRandom.block` of each byte's index.
    ///
    /// Shapes and ranges:
    ///   - mask: `maskBytes(count)` bytes.
    package func draw(
        into mask: UnsafeMutablePointer<UInt8>, count: Int,
        step: UInt32, sequence: UInt32, place: UInt32
    ) {
        skein_dropout_draw(
            skein_level(), mask, Self.maskBytes(count), random.key.x, random.key.y, step, sequence,
            place, threshold)
    }

    /// y = x * mask / (1 - p). A dropped element counts as 0, even if it is NaN.
    package func apply(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        into y: UnsafeMutablePointer<Float>
    ) {
        skein_dropout_apply(skein_level(), x, mask, count, keptScale, y)
    }

    /// y += x * mask / (1 - p): the backward pass.
    package func add(
        _ x: UnsafePointer<Float>, mask: UnsafePointer<UInt8>, count: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        skein_dropout_add(skein_level(), x, mask, count, keptScale, y)
    }
}
