import Formats
import Tensors

/// The keys and values of the tokens seen so far, per layer: [capacity, G * N] each.
///
/// Not Sendable: one generation owns it.
public final class KVCache {
    /// Tokens that fit.
    public let capacity: Int
    /// Tokens held.
    public internal(set) var count = 0
    private let buffer: FloatBuffer
    private let layerFloats: Int

    public init(model: ModelConfiguration, capacity: Int) {
        self.capacity = capacity
        layerFloats = capacity * model.keyValueHeadCount * model.headDimension
        buffer = FloatBuffer(count: 2 * model.layerCount * layerFloats)
    }

    func keys(_ layer: Int) -> UnsafeMutablePointer<Float> {
        buffer.base + 2 * layer * layerFloats
    }

    func values(_ layer: Int) -> UnsafeMutablePointer<Float> {
        buffer.base + (2 * layer + 1) * layerFloats
    }
}
