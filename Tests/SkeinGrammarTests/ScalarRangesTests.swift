import Testing

@testable import SkeinGrammar

/// Numbers that are a function of a seed (SplitMix64).
struct ScalarRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Mostly near the borders of UTF-8's lengths, of surrogates and of JSON's escapes.
    mutating func scalar() -> UInt32 {
        let borders: [UInt32] = [
            0x0, 0x08, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x7FF, 0xD7FF, 0xE000, 0xFFFF, 0x1_03FF,
            0x1_F600, 0x10_FFFF,
        ]
        while true {
            var value = UInt32.random(in: 0...0x10_FFFF, using: &self)
            if Int.random(in: 0..<4, using: &self) > 0 {
                let border = borders[Int.random(in: 0..<borders.count, using: &self)]
                value = UInt32(
                    clamping: Int(border) + Int.random(in: -3...3, using: &self))
            }
            if Unicode.Scalar(value) != nil { return value }
        }
    }

    mutating func set() -> ScalarRanges {
        let count = Int.random(in: 0...5, using: &self)
        return ScalarRanges(
            (0..<count).map { _ in
                let a = scalar()
                let b = Bool.random(using: &self) ? scalar() : min(a + 3, 0x10_FFFF)
                return min(a, b)...max(a, b)
            })
    }
}

@Suite("Sets of characters")
struct ScalarRangesTests {
    @Test("Ranges are sorted, joined where they touch, and cut at surrogates and at the end")
    func normalForm() {
        #expect(ScalarRanges([5...6, 1...2, 3...3]).ranges == [1...3, 5...6])
        #expect(ScalarRanges([1...9, 2...3]).ranges == [1...9])
        #expect(ScalarRanges([0xD000...0xE001]).ranges == [0xD000...0xD7FF, 0xE000...0xE001])
        #expect(ScalarRanges([0xD800...0xDFFF, 0x11_0000...UInt32.max]) == .none)
        #expect(ScalarRanges([0...UInt32.max]) == .all)
        #expect(ScalarRanges(0xD800).isEmpty)
        #expect(ScalarRanges(0x41).ranges == [0x41...0x41])
        #expect(ScalarRanges.all.inverted == .none)
        #expect(ScalarRanges.none.inverted == .all)
        #expect(ScalarRanges.all.count == 0x11_0000 - 0x800)
    }

    @Test("Operations agree with their definition on sampled scalars", arguments: [1, 2, 3])
    func againstBruteForce(seed: UInt64) {
        var random = ScalarRandom(state: seed)
        for _ in 0..<100 {
            let a = random.set()
            let b = random.set()
            let samples =
                (0..<50).map { _ in random.scalar() }
                + (a.ranges + b.ranges).flatMap { [$0.lowerBound, $0.upperBound] }
            for scalar in samples {
                let inA = a.ranges.contains { $0.contains(scalar) }
                let inB = b.ranges.contains { $0.contains(scalar) }
                #expect(a.contains(scalar) == inA, "seed \(seed)")
                #expect(a.union(b).contains(scalar) == (inA || inB), "seed \(seed)")
                #expect(a.intersection(b).contains(scalar) == (inA && inB), "seed \(seed)")
                #expect(a.subtracting(b).contains(scalar) == (inA && !inB), "seed \(seed)")
                #expect(a.inverted.contains(scalar) == !inA, "seed \(seed)")
            }
            #expect(a.inverted.inverted == a)
            for set in [a.union(b), a.intersection(b), a.subtracting(b), a.inverted] {
                #expect(ScalarRanges(set.ranges).ranges == set.ranges, "seed \(seed)")
            }
            let whole = Set([a.union(b), b.union(a)])
            #expect(whole.count == 1)
        }
    }

    @Test("General categories are those of every scalar, by all their names")
    func categories() throws {
        let names = ["L", "M", "N", "P", "S", "Z", "C"]
        let sets = try names.map { try #require(ScalarCategories.set(named: $0)) }
        #expect(sets.reduce(ScalarRanges.none) { $0.union($1) } == .all)
        #expect(sets.reduce(0) { $0 + $1.count } == ScalarRanges.all.count)
        let upper = try #require(ScalarCategories.set(named: "Lu"))
        #expect(upper == ScalarCategories.set(named: "Uppercase_Letter"))
        var random = ScalarRandom(state: 4)
        for _ in 0..<500 {
            let value = random.scalar()
            let category = Unicode.Scalar(value)?.properties.generalCategory
            #expect(upper.contains(value) == (category == .uppercaseLetter), "seed 4")
        }
        #expect(ScalarCategories.set(named: "Greek") == nil)
        #expect(ScalarCategories.set(named: "") == nil)
    }

    @Test("A class is certain where dialects agree, and its negation is, too")
    func dialects() {
        let arabicDigit: UInt32 = 0x661
        #expect(!ScalarClass.digit.certain.contains(arabicDigit))
        #expect(!ScalarClass.digit.inverted.certain.contains(arabicDigit))
        #expect(ScalarClass.digit.inverted.inverted == .digit)
        for type in [ScalarClass.digit, .word, .space] {
            #expect(type.certain.subtracting(type.possible).isEmpty)
            #expect(type.certain.intersection(type.inverted.certain).isEmpty)
        }
    }
}
