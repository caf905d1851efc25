import SkeinBasics
import SkeinGrammar
import SkeinTensors

/// Picks the next token from logits.
///
/// First, tokens that are not allowed drop out. Then penalties change logits, and temperature, top-k,
/// top-p and min-p say which of the rest take part.
package struct Sampler: Sendable, Equatable {
    /// 0 picks the largest logit; above 0, logits are divided by it.
    package var temperature: Float
    /// Only the `topK` largest logits take part; 0 = all.
    package var topK: Int
    /// Of those, the smallest set whose probabilities sum to at least `topP`; 1 = all.
    package var topP: Float
    /// Of those, the ones with at least this share of the largest probability; 0 = all.
    package var minP: Float
    package var penalties: TokenPenalties
    package var seed: UInt64

    package init(
        temperature: Float = 0, topK: Int = 0, topP: Float = 1, minP: Float = 0,
        penalties: TokenPenalties = TokenPenalties(), seed: UInt64 = 0
    ) {
        self.temperature = temperature
        self.topK = topK
        self.topP = topP
        self.minP = minP
        self.penalties = penalties
        self.seed = seed
    }

    /// The token at `position` of the answer; a function of the logits, the seed, the position, and
    /// what is allowed.
    ///
    /// Of equal logits the lowest id comes first, so that the result does not depend on a sort.
    package func pick(_ logits: [Float], position: Int, among allowed: TokenSet? = nil) -> Int32 {
        logits.withUnsafeBufferPointer { pick($0, position: position, among: allowed) }
    }

    /// Like `pick(_:position:among:)`, without a copy. `allowed` is not empty; nil: all tokens.
    package func pick(
        _ logits: UnsafeBufferPointer<Float>, position: Int, among allowed: TokenSet? = nil
    ) -> Int32 {
        guard temperature > 0 else {
            return allowed.map { Self.largest(logits, among: $0) } ?? Self.largest(logits)
        }
        let order = ranked(logits, among: allowed)
        let top = logits[order[0]]
        let weights = order.map { Double(exponential((logits[$0] - top) / temperature)) }
        let total = weights.reduce(0, +)
        var kept = 0
        var mass = 0.0
        while kept < order.count {
            // The first one has the weight 1.
            if kept > 0, weights[kept] < Double(minP) { break }
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

    /// The candidates, the largest logit first, of equal ones the lowest id.
    private func ranked(
        _ logits: UnsafeBufferPointer<Float>, among allowed: TokenSet?
    ) -> [Int] {
        // One integer orders by both: integers compare faster than a closure does.
        var keys: [UInt64]
        if let allowed {
            keys = allowed.tokens.compactMap {
                Int($0) < logits.count ? Self.key(logits[Int($0)], Int($0)) : nil
            }
        } else {
            keys = logits.indices.map { Self.key(logits[$0], $0) }
        }
        if (1...Self.fewCandidates).contains(topK), topK < keys.count {
            keys = Self.smallest(topK, of: keys)
        } else {
            keys.sort()
            if topK > 0 && topK < keys.count { keys.removeLast(keys.count - topK) }
        }
        return keys.map { Int($0 & 0xffff_ffff) }
    }

    /// Up to this many are selected one by one; for more, everything is sorted.
    private static let fewCandidates = 256

    /// Ascending where logits descend, then ids ascend.
    private static func key(_ logit: Float, _ id: Int) -> UInt64 {
        // Adding zero makes -0 and 0 equal. Bits of negative numbers ascend the other way round.
        let bits = (logit + 0).bitPattern
        let ascending = bits >> 31 == 0 ? bits | 0x8000_0000 : ~bits
        return UInt64(~ascending) << 32 | UInt64(id)
    }

    private static func smallest(_ count: Int, of keys: [UInt64]) -> [UInt64] {
        var best = Array(keys[..<count]).sorted()
        for key in keys[count...] where key < best[count - 1] {
            best.removeLast()
            let place = best.firstIndex { $0 > key } ?? best.count
            best.insert(key, at: place)
        }
        return best
    }

    /// Whether all logits are finite: zero times another number is zero, and nothing else is.
    package static func areFinite(_ logits: UnsafeBufferPointer<Float>) -> Bool {
        let raw = UnsafeRawBufferPointer(logits)
        let whole = logits.count & ~7
        var zeros = SIMD8<Float>()
        for first in stride(from: 0, to: whole, by: 8) {
            zeros +=
                raw.loadUnaligned(
                    fromByteOffset: first * MemoryLayout<Float>.stride, as: SIMD8<Float>.self) * 0
        }
        return all(zeros .== 0) && logits[whole...].allSatisfy(\.isFinite)
    }

    /// The first of the largest, found eight candidates at a time: one at a time, a vocabulary
    /// would take a hundredth of a token's products.
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

    /// The first of the largest that are allowed. Where all of eight are, they are compared at once.
    private static func largest(
        _ logits: UnsafeBufferPointer<Float>, among allowed: TokenSet
    ) -> Int32 {
        let raw = UnsafeRawBufferPointer(logits)
        var best: Int32 = -1
        var most = -Float.infinity
        func consider(_ id: Int) {
            if best < 0 || logits[id] > most {
                best = Int32(id)
                most = logits[id]
            }
        }
        allowed.words.withUnsafeBufferPointer { words in
            for (index, word) in words.enumerated() where word != 0 {
                var rest = word
                while rest != 0 {
                    let bit = rest.trailingZeroBitCount
                    let first = 64 * index + bit
                    if first >= logits.count { return }
                    if bit % 8 == 0, rest >> UInt64(bit) & 0xff == 0xff, first + 8 <= logits.count {
                        let eight = raw.loadUnaligned(
                            fromByteOffset: first * MemoryLayout<Float>.stride,
                            as: SIMD8<Float>.self)
                        if best < 0 || any(eight .> SIMD8(repeating: most)) {
                            for lane in 0..<8 { consider(first + lane) }
                        }
                        rest &= ~(0xff << UInt64(bit))
                    } else {
                        consider(first)
                        rest &= rest - 1
                    }
                }
            }
        }
        return max(best, 0)
    }
}
