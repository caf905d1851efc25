import Basics
import Tensors

/// Picks the next token from logits.
public struct Sampler: Sendable, Equatable {
    /// 0 picks the largest logit; above 0, logits are divided by it.
    public var temperature: Float
    /// Only the `topK` largest logits take part; 0 = all.
    public var topK: Int
    /// Of those, the smallest set whose probabilities sum to at least `topP`; 1 = all.
    public var topP: Float
    public var seed: UInt64

    public init(temperature: Float = 0, topK: Int = 0, topP: Float = 1, seed: UInt64 = 0) {
        self.temperature = temperature
        self.topK = topK
        self.topP = topP
        self.seed = seed
    }

    /// The token at `position` of the answer; a function of the logits, the seed and the position.
    ///
    /// Of equal logits the lowest id comes first, so that the result does not depend on a sort.
    public func pick(_ logits: [Float], position: Int) -> Int32 {
        logits.withUnsafeBufferPointer { pick($0, position: position) }
    }

    /// As `pick(_:position:)`, where the logits lie.
    public func pick(_ logits: UnsafeBufferPointer<Float>, position: Int) -> Int32 {
        guard temperature > 0 else { return Self.largest(logits) }
        var order = Array(logits.indices)
        order.sort { logits[$0] != logits[$1] ? logits[$0] > logits[$1] : $0 < $1 }
        if topK > 0 && topK < order.count { order.removeLast(order.count - topK) }
        let top = logits[order[0]]
        let weights = order.map { Double(exponential((logits[$0] - top) / temperature)) }
        let total = weights.reduce(0, +)
        var kept = 0
        var mass = 0.0
        while kept < order.count {
            mass += weights[kept]
            kept += 1
            if mass >= Double(topP) * total { break }
        }
        let words = AddressedRandom(seed: seed, purpose: .sampling).block(
            UInt32(truncatingIfNeeded: position))
        var rest = AddressedRandom.unitDouble(words.x, words.y) * mass
        for i in 0..<kept {
            rest -= weights[i]
            if rest < 0 { return Int32(order[i]) }
        }
        return Int32(order[kept - 1])
    }

    /// The first of the largest, found eight candidates at a time: number by number, a vocabulary
    /// takes as long as a hundredth of a token's products.
    private static func largest(_ logits: UnsafeBufferPointer<Float>) -> Int32 {
        let whole = logits.count & ~7
        var lanes = SIMD8<Float>(repeating: -.infinity)
        for first in stride(from: 0, to: whole, by: 8) {
            let eight = UnsafeRawBufferPointer(logits).loadUnaligned(
                fromByteOffset: first * MemoryLayout<Float>.stride, as: SIMD8<Float>.self)
            lanes.replace(with: eight, where: eight .> lanes)
        }
        let most = logits[whole...].reduce(lanes.max(), max)
        return Int32(logits.firstIndex(of: most) ?? 0)
    }
}
