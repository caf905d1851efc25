import Foundation
import SkeinGrammar
import Testing

@testable import SkeinInference
@testable import SkeinModels

@Suite("Sampler among allowed tokens")
struct MaskedSamplerTests {
    /// Logits with many equal values, so that ties matter.
    private static func logits(_ count: Int, seed: UInt64) -> [Float] {
        (0..<count).map { index in
            var z = seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            return Float(Int(z >> 33) % 17) - 8
        }
    }

    private static func set(_ tokens: [Int], size: Int) -> TokenSet {
        var set = TokenSet(size: size)
        for token in tokens { set.insert(Int32(token)) }
        return set
    }

    @Test("greedy is the first of the largest that are allowed")
    func greedy() {
        for seed in UInt64(0)..<40 {
            let count = 1 + Int(seed) * 7
            let logits = Self.logits(count, seed: seed)
            for step in [1, 2, 3, 9] {
                let allowed = stride(from: Int(seed) % count, to: count, by: step).map(\.self)
                let most = allowed.map { logits[$0] }.max()
                let expected = allowed.first { logits[$0] == most }
                let picked = Sampler().pick(
                    logits, position: 0, among: Self.set(allowed, size: count))
                #expect(Int(picked) == expected, "seed \(seed), step \(step)")
            }
        }
    }

    @Test("ids beyond the logits are no candidates")
    func beyond() {
        let set = Self.set([3, 70, 120], size: 128)
        #expect(Sampler().pick([0, 0, 0, -5], position: 0, among: set) == 3)
        #expect(Sampler(temperature: 1).pick([0, 0, 0, -5], position: 0, among: set) == 3)
    }

    @Test("sampling draws from the allowed tokens as if there were no others")
    func sampling() {
        let logits = Self.logits(200, seed: 5)
        let allowed = stride(from: 1, to: 200, by: 3).map(\.self)
        // The same tokens moved to the front, in order.
        let front = allowed.map { logits[$0] }
        for sampler in [
            Sampler(temperature: 1, seed: 3), Sampler(temperature: 0.7, topK: 5, seed: 3),
            Sampler(temperature: 2, topP: 0.5, seed: 3),
            Sampler(temperature: 2, minP: 0.2, seed: 3),
        ] {
            for position in 0..<50 {
                let picked = sampler.pick(
                    logits, position: position, among: Self.set(allowed, size: 200))
                #expect(picked == Int32(allowed[Int(sampler.pick(front, position: position))]))
            }
        }
    }

    @Test("min-p keeps the tokens with at least that share of the largest probability")
    func minP() {
        // Probabilities 8 : 4 : 2 : 1.
        let logits: [Float] = [8, 4, 2, 1].map { (x: Int) in Float(Foundation.log(Double(x))) }
        for (minP, kept) in [(Float(0), 4), (0.12, 4), (0.13, 3), (0.3, 2), (0.51, 1), (1, 1)] {
            let sampler = Sampler(temperature: 1, minP: minP, seed: 9)
            let seen = Set((0..<600).map { sampler.pick(logits, position: $0) })
            #expect(seen == Set((0..<Int32(kept)).map(\.self)), "\(minP)")
        }
    }

    @Test("penalties change the logits of used tokens alone")
    func penalties() {
        var uses = TokenUses(prompt: [0, 1])
        uses.count(2)
        uses.count(2)
        uses.count(1)
        var logits: [Float] = [2, -2, 4, 1]
        uses.lower(&logits, by: TokenPenalties(repetition: 2, presence: 0.5, frequency: 0.25))
        // Token 0 is only in the prompt: presence and frequency are about the answer.
        let expected: [Float] = [1, -4.75, 1, 1]
        #expect(logits == expected)
        #expect(TokenPenalties().isOff)
    }
}
