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
    /// The smallest set of those takes part whose probabilities sum to at least `topP`; 1 = all.
    package var topP: Float
    /// Only those with at least this share of the largest probability take part; 0 = all.
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
    /// The lowest id of equal logits comes first, so that the result does not depend on a sort.
    package func pick(_ logits: [Float], position: Int, among allowed: TokenSet? = nil) -> Int32 {
        logits.withUnsafeBufferPointer { pick($0, position: position, among: allowed) }
    }

    /// Like `pick(_:position:among:)`, without a copy. `allowed` is not empty; nil: all tokens.
    package func pick(
        _ logits: UnsafeBufferPointer<Float>, position: Int, among allowed: TokenSet? = nil
    ) -> Int32 {
        guard temperature > 0 else {
            return allowed.map { Self.largest(logits, among: $0) }
                ?? Int32(DescendingOrder.placeOfLargest(logits))
        }
        guard let allowed else { return Int32(draw(logits, position: position)) }
        let ids = allowed.tokens.prefix { Int($0) < logits.count }
        return ids.map { logits[Int($0)] }.withUnsafeBufferPointer {
            ids[draw($0, position: position)]
        }
    }

    /// The place of the token at `position` of the answer among the candidates' logits.
    ///
    /// Candidates are ordered only as far as they are looked at: an order of a whole vocabulary
    /// would take as long as a token's products.
    private func draw(_ logits: UnsafeBufferPointer<Float>, position: Int) -> Int {
        var order = DescendingOrder(logits, step: temperature * 4)
        let top = order.largest
        let most = topK > 0 ? min(topK, logits.count) : logits.count
        func weight(_ place: Int) -> Double {
            Double(exponential((logits[place] - top) / temperature))
        }
        var (kept, mass) = (most, 0.0)
        if most == logits.count {
            mass = exponentialTotal(logits, shift: top, divisor: temperature)
        } else {
            for rank in 0..<most { mass += weight(order[rank]) }
        }
        if topP < 1 || minP > 0 {
            let wanted = Double(topP) * mass
            (kept, mass) = (0, 0)
            while kept < most {
                let next = weight(order[kept])
                // The first one has the weight 1.
                if kept > 0, next < Double(minP) { break }
                mass += next
                kept += 1
                if mass >= wanted { break }
            }
        }
        let words = AddressedRandom(seed: seed, purpose: .sampling).block(
            UInt32(truncatingIfNeeded: position))
        var rest = AddressedRandom.unitDouble(words.x, words.y) * mass
        for rank in 0..<kept {
            rest -= weight(order[rank])
            if rest < 0 { return order[rank] }
        }
        return order[kept - 1]
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

extension Sampler {
    /// A token of a value, and whether the model would have gone on otherwise with more room.
    package struct Choice: Sendable, Equatable {
        package let token: Int32
        package let isCutShort: Bool
    }

    /// Picks the next token of a value that a grammar allows, or one that ends it where it is complete.
    ///
    /// Shapes and ranges:
    ///   - logits: [V].
    ///   - fitting: after whose tokens the value can still be completed within its limit.
    ///   - all: that the grammar allows, the same object where all fit; nil: what the model would
    ///     have said with more room is not asked for.
    ///   - ends: tokens that end the turn, allowed where the value is complete.
    package func choose(
        _ logits: UnsafeBufferPointer<Float>, position: Int, among fitting: TokenMask,
        of all: TokenMask?, ends: Set<Int32>
    ) -> Choice {
        let allowed = fitting.tokens(orEnding: ends)
        let token = pick(logits, position: position, among: allowed)
        guard let all, all !== fitting else { return Choice(token: token, isCutShort: false) }
        let wanted = pick(logits, position: position, among: all.tokens(orEnding: ends))
        return Choice(token: token, isCutShort: !allowed.contains(wanted))
    }
}

extension TokenMask {
    /// The tokens of the mask, and those of `ends` where the turn may end.
    fileprivate func tokens(orEnding ends: Set<Int32>) -> TokenSet {
        var tokens = tokens
        guard allowsEnd else { return tokens }
        for token in ends where Int(token) < tokens.size { tokens.insert(token) }
        return tokens
    }
}
