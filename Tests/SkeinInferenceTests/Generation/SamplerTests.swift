import SkeinBasics
import SkeinGrammar
import SkeinTensors
import Testing

@testable import SkeinInference
@testable import SkeinModels

@Suite("Sampler")
struct SamplerTests {
    /// Logits as a language model gives them, a few far above many; with ties, and both zeros.
    private static func logits(_ count: Int, seed: UInt64) -> [Float] {
        let random = AddressedRandom(seed: seed, purpose: .sampling)
        return (0..<count).map { index in
            let words = random.block(UInt32(index))
            let unit = Float(AddressedRandom.unitDouble(words.x, words.y))
            let peak: Float = index % 97 == 3 ? 9 : 0
            let logit = unit * 6 - 4 + peak * unit
            return index % 5 == 0 ? (logit * 2).rounded() / 2 : index % 11 == 0 ? -0.0 : logit
        }
    }

    @Test("numbers come in descending order, of equal ones the lower place first")
    func order() {
        for count in [1, 2, 7, 8, 9, 63, 1000, 3 * DescendingOrder.manyKeys] {
            for (seed, step) in [
                (UInt64(1), Float(4)), (2, 0.01), (3, 1e30), (4, .leastNonzeroMagnitude),
            ] {
                let numbers = Self.logits(count, seed: seed)
                let sorted = numbers.indices.sorted {
                    numbers[$0] != numbers[$1] ? numbers[$0] > numbers[$1] : $0 < $1
                }
                numbers.withUnsafeBufferPointer {
                    var order = DescendingOrder($0, step: step)
                    #expect(order.largest == numbers[sorted[0]])
                    #expect((0..<count).map { order[$0] } == sorted, "\(count), step \(step)")
                }
            }
        }
    }

    @Test("whatever is asked for, a token that is allowed comes out")
    func hostileNumbers() {
        let large = Float.greatestFiniteMagnitude
        let rows: [[Float]] = [
            Self.logits(200, seed: 8), (0..<200).map { _ in 0 }, (0..<200).map { _ in -large },
            (0..<200).map { $0 % 3 == 0 ? large : $0 % 3 == 1 ? -large : .leastNonzeroMagnitude },
        ]
        var allowed = TokenSet(size: 200)
        for id: Int32 in [3, 77, 199] { allowed.insert(id) }
        var uses = TokenUses(prompt: [1, 2, 3, 77])
        for id: Int32 in [3, 3, 5, 500, -1] { uses.count(id) }
        for logits in rows {
            for repetition: Float in [0, .leastNonzeroMagnitude, 1e-38, 0.5, 1, 100] {
                for (presence, frequency) in [(Float(0), Float(0)), (-100, 100), (large, -large)] {
                    var lowered = logits
                    uses.lower(
                        &lowered,
                        by: TokenPenalties(
                            repetition: repetition, presence: presence, frequency: frequency))
                    #expect(lowered.allSatisfy { $0.isFinite })
                    for temperature: Float in [0, .leastNonzeroMagnitude, 1e-6, 1, 100] {
                        for (topK, topP, minP) in [
                            (0, Float(1), Float(0)), (0, 0, 0), (7, 0.5, 0), (0, 0.999, 1),
                        ] {
                            let sampler = Sampler(
                                temperature: temperature, topK: topK, topP: topP, minP: minP)
                            let free = sampler.pick(lowered, position: 1)
                            #expect((0..<200).contains(free))
                            #expect(
                                allowed.contains(
                                    sampler.pick(lowered, position: 1, among: allowed)))
                        }
                    }
                }
            }
        }
    }

    /// What `Sampler` promises, with all candidates in order.
    private static func reference(
        _ sampler: Sampler, _ logits: [Float], position: Int
    ) -> Int32 {
        var order = logits.indices.sorted {
            logits[$0] != logits[$1] ? logits[$0] > logits[$1] : $0 < $1
        }
        if sampler.topK > 0 { order = Array(order.prefix(sampler.topK)) }
        let top = logits[order[0]]
        let weights = order.map { Double(exponential((logits[$0] - top) / sampler.temperature)) }
        let total = weights.reduce(0, +)
        var (kept, mass) = (0, 0.0)
        while kept < order.count, kept == 0 || weights[kept] >= Double(sampler.minP) {
            mass += weights[kept]
            kept += 1
            if mass >= Double(sampler.topP) * total { break }
        }
        let words = AddressedRandom(seed: sampler.seed, purpose: .sampling).block(UInt32(position))
        var rest = AddressedRandom.unitDouble(words.x, words.y) * mass
        for place in 0..<kept {
            rest -= weights[place]
            if rest < 0 { return Int32(order[place]) }
        }
        return Int32(order[kept - 1])
    }

    @Test("tokens are those that an order of all candidates gives")
    func reference() {
        let logits = Self.logits(5000, seed: 7)
        for sampler in [
            Sampler(temperature: 1, seed: 1), Sampler(temperature: 0.2, seed: 2),
            Sampler(temperature: 30, seed: 3), Sampler(temperature: 1, topP: 0.9, seed: 4),
            Sampler(temperature: 1, minP: 0.05, seed: 5),
            Sampler(temperature: 1, topK: 40, seed: 6),
            Sampler(temperature: 2, topK: 300, topP: 0.5, minP: 0.001, seed: 7),
            Sampler(temperature: 1, topK: 5000, seed: 8),
            Sampler(temperature: 1, topK: 9999, seed: 9),
        ] {
            let picked = (0..<300).map { sampler.pick(logits, position: $0) }
            let expected = (0..<300).map { Self.reference(sampler, logits, position: $0) }
            #expect(picked == expected, "\(sampler)")
            #expect(Set(picked).count > 3)
        }
    }

    @Test(
        "a total of exponentials is the sum of the single ones", arguments: [1, 15, 16, 17, 4099])
    func total(count: Int) {
        let numbers = Self.logits(count, seed: 3)
        let single = numbers.reduce(0.0) { $0 + Double(exponential(($1 - 2.5) / 0.7)) }
        let total = numbers.withUnsafeBufferPointer {
            exponentialTotal($0, shift: 2.5, divisor: 0.7)
        }
        #expect(abs(total - single) <= 1e-12 * single)
    }
}
