import SkeinJSON
import Testing

@testable import SkeinGrammar

@Suite("Bounds of numbers")
struct NumberBoundsTests {
    @Test("An intersection contains what both contain")
    func intersection() throws {
        let seed: UInt64 = 20264
        var random = NumberRandom(seed: seed)
        for round in 0..<400 {
            let a = Self.bounds(&random)
            let b = Self.bounds(&random)
            let both = try #require(a.intersection(b))
            #expect(both == b.intersection(a), "seed \(seed) round \(round)")
            var hasAny = false
            for tenths in -60...60 {
                let value = try #require(ExactDecimal(json: "\(tenths)e-1"))
                let isIn = a.contains(value) && b.contains(value)
                hasAny = hasAny || isIn
                #expect(both.contains(value) == isIn, "seed \(seed) round \(round): \(value)")
            }
            #expect(!(hasAny && both.isEmpty), "seed \(seed) round \(round)")
        }
    }

    @Test("Divisors meet in their least common multiple, up to the limit")
    func divisors() {
        let table: [(a: NumberDivisor, b: NumberDivisor, both: NumberDivisor?)] = [
            (4, 6, 12), (1, 7, 7), (5, 5, 5), (64, 64, 64), (4096, 2, 4096), (63, 65, 4095),
            (64, 65, nil), (4096, 3, nil), ("0.5", "0.25", "0.5"), ("0.2", "0.3", "0.6"),
            ("0.5", 3, 3), ("1.5", 2, 6), ("0.75", "0.01", "0.75"), ("0.511", "0.512", nil),
            (4096, "0.000000000000001", 4096), (4095, "0.000000000000512", 4095),
            (4095, "0.511", nil),
        ]
        for row in table {
            let both = NumberBounds(divisor: row.a).intersection(NumberBounds(divisor: row.b))
            #expect(both?.divisor == row.both, "\(row)")
            let turned = NumberBounds(divisor: row.b).intersection(NumberBounds(divisor: row.a))
            #expect(turned == both, "\(row)")
        }
        #expect(NumberBounds(divisor: 3).intersection(NumberBounds())?.divisor == 3)
        #expect(NumberBounds().intersection(NumberBounds(divisor: 3))?.divisor == 3)
    }

    @Test("Divisors beyond the limits are none")
    func limits() throws {
        for text in [
            "0", "-1", "-0.5", "4097", "409.6", "5.13", "0.0000000000000001", "1e300", "1e-300",
        ] {
            let number = try #require(ExactDecimal(json: text))
            #expect(NumberDivisor(number) == nil, "\(text)")
        }
        #expect(try NumberDivisor(#require(ExactDecimal(json: "5.10"))) == "5.1")
    }

    @Test("What a comparison of the bounds shows to be empty is empty")
    func empty() {
        #expect(NumberBounds(minimum: "2", maximum: "1").isEmpty)
        #expect(NumberBounds(minimum: "1", maximum: "1", isMinimumExclusive: true).isEmpty)
        #expect(NumberBounds(minimum: "1", maximum: "1", isMaximumExclusive: true).isEmpty)
        #expect(NumberBounds(minimum: "1.1", maximum: "1.9", isInteger: true).isEmpty)
        #expect(NumberBounds(minimum: "7", maximum: "7", divisor: 2).isEmpty)
        #expect(!NumberBounds(minimum: "1", maximum: "1").isEmpty)
        #expect(!NumberBounds(minimum: "1.5", maximum: "2.5", isInteger: true).isEmpty)
        #expect(!NumberBounds().isEmpty)
        #expect(NumberBounds(minimum: "1e999999999", maximum: "1e999999998").isEmpty)
    }

    private static func bounds(_ random: inout NumberRandom) -> NumberBounds {
        func end() -> ExactDecimal? {
            random.below(4) == 0 ? nil : ExactDecimal(json: "\(random.below(101) - 50)e-1")
        }
        return NumberBounds(
            minimum: end(), maximum: end(), isMinimumExclusive: random.isHeads(),
            isMaximumExclusive: random.isHeads(),
            divisor: random.isHeads() ? nil : .init(.init(UInt(1 + random.below(4)))),
            isInteger: random.isHeads())
    }
}
