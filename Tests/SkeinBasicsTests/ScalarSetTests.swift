import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("Sets of characters")
struct ScalarSetTests {
    @Test("Ranges are sorted, joined where they touch, and cut at surrogates and at the end")
    func normalForm() {
        #expect(ScalarSet([5...6, 1...2, 3...3]).ranges == [1...3, 5...6])
        #expect(ScalarSet([1...9, 2...3]).ranges == [1...9])
        #expect(ScalarSet([0xD000...0xE001]).ranges == [0xD000...0xD7FF, 0xE000...0xE001])
        #expect(ScalarSet([0xD800...0xDFFF, 0x11_0000...UInt32.max]) == .none)
        #expect(ScalarSet([0...UInt32.max]) == .all)
        #expect(ScalarSet(0xD800).isEmpty)
        #expect(ScalarSet(0x41).ranges == [0x41...0x41])
        #expect(ScalarSet.all.inverted == .none)
        #expect(ScalarSet.none.inverted == .all)
        #expect(ScalarSet.all.count == 0x11_0000 - 0x800)
        #expect(
            ScalarSet(table: "41-5A AA\n  D7FF-E000").ranges
                == [0x41...0x5A, 0xAA...0xAA, 0xD7FF...0xD7FF, 0xE000...0xE000])
    }

    @Test("Operations agree with their definition on sampled scalars", arguments: [1, 2, 3])
    func againstBruteForce(seed: UInt64) {
        var random = TestRandom(state: seed)
        for _ in 0..<100 {
            let a = random.scalarSet()
            let b = random.scalarSet()
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
                #expect(ScalarSet(set.ranges).ranges == set.ranges, "seed \(seed)")
            }
            let whole = Set([a.union(b), b.union(a)])
            #expect(whole.count == 1)
        }
    }

    @Test("Categories are those of Swift for every character that Unicode 14 has")
    func categories() throws {
        let swift: [(Unicode.GeneralCategory, String)] = [
            (.uppercaseLetter, "Lu"), (.lowercaseLetter, "Ll"), (.titlecaseLetter, "Lt"),
            (.modifierLetter, "Lm"), (.otherLetter, "Lo"), (.nonspacingMark, "Mn"),
            (.spacingMark, "Mc"), (.enclosingMark, "Me"), (.decimalNumber, "Nd"),
            (.letterNumber, "Nl"), (.otherNumber, "No"), (.connectorPunctuation, "Pc"),
            (.dashPunctuation, "Pd"), (.openPunctuation, "Ps"), (.closePunctuation, "Pe"),
            (.initialPunctuation, "Pi"), (.finalPunctuation, "Pf"), (.otherPunctuation, "Po"),
            (.mathSymbol, "Sm"), (.currencySymbol, "Sc"), (.modifierSymbol, "Sk"),
            (.otherSymbol, "So"), (.spaceSeparator, "Zs"), (.lineSeparator, "Zl"),
            (.paragraphSeparator, "Zp"), (.control, "Cc"), (.format, "Cf"), (.privateUse, "Co"),
        ]
        let names = Dictionary(uniqueKeysWithValues: swift)
        var found = 0
        for value in 0...ScalarSet.lastScalar {
            // U+0295 became a letter without case after Unicode 14.
            guard let properties = Unicode.Scalar(value)?.properties, value != 0x295,
                let age = properties.age, age.major <= 14,
                let name = names[properties.generalCategory]
            else { continue }
            found += 1
            if ScalarSet.byCategory[name]?.contains(value) != true {
                Issue.record("U+\(String(value, radix: 16)) is no \(name)")
            }
        }
        #expect(found > 280_000)
        #expect(Set(ScalarSet.byCategory.keys).isSuperset(of: names.values))
        let groups = ["L", "M", "N", "P", "S", "Z", "C"]
        let sets = try groups.map { try #require(ScalarSet.byCategory[$0]) }
        #expect(sets.reduce(ScalarSet.none) { $0.union($1) } == .all)
        #expect(sets.reduce(0) { $0 + $1.count } == ScalarSet.all.count)
    }

    @Test("A category has a short name, a long one and aliases")
    func names() {
        for name in ScalarSet.byCategory.keys {
            #expect(ScalarSet.category(named: name) == name)
            #expect(ScalarSet.category(looselyNamed: name.lowercased()) == name)
        }
        #expect(ScalarSet.category(named: "Uppercase_Letter") == "Lu")
        #expect(ScalarSet.category(named: "cntrl") == "Cc")
        #expect(ScalarSet.category(looselyNamed: "UPPERCASE letter") == "Lu")
        for name in ["", "Greek", "uppercaseletter", "lu"] {
            #expect(ScalarSet.category(named: name) == nil)
        }
        for name in ["", "Greek", "cntrl", "Combining_Mark"] {
            #expect(ScalarSet.category(looselyNamed: name) == nil)
        }
    }
}
