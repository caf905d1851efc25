import SkeinJSON
import Testing

@testable import SkeinGrammar

/// Random ways through networks of long and close bounds, judged from outside.
@Suite("Networks of numbers, judged")
struct NumberJudgeTests {
    @Test("A judge who reads doubles agrees with every text, however long and close the bounds are")
    func doubles() throws {
        let seed: UInt64 = 20265
        var random = NumberRandom(seed: seed)
        var judged = 0
        for round in 0..<1_500 {
            let first = Self.text(&random, digits: 1 + random.below(20))
            let second =
                random.below(3) == 0 ? Self.text(&random, digits: 5) : Self.near(first, &random)
            let a = try #require(ExactDecimal(json: first))
            let b = try #require(ExactDecimal(json: second))
            let bounds = NumberBounds(
                minimum: min(a, b), maximum: max(a, b), isMinimumExclusive: random.isHeads(),
                isMaximumExclusive: random.isHeads())
            guard let network = try NumberTexts.unlessEmpty(bounds) else { continue }
            let low = try #require(Double(min(a, b).description))
            let high = try #require(Double(max(a, b).description))
            for _ in 0..<20 {
                let text = network.randomText(&random)
                let label = "seed \(seed) round \(round): \(text) in \(low)...\(high)"
                let value = try #require(Double(text), "\(label)")
                #expect(bounds.isMinimumExclusive ? value > low : value >= low, "\(label)")
                #expect(bounds.isMaximumExclusive ? value < high : value <= high, "\(label)")
                let exact = try #require(ExactDecimal(json: text), "\(label)")
                #expect(bounds.contains(exact), "\(label)")
                #expect(network.accepts(text), "\(label)")
                judged += 1
            }
        }
        #expect(judged > 10_000)
    }

    @Test("Texts next to bounds of at most 15 digits are written if and only if they fit")
    func neighbours() throws {
        let seed: UInt64 = 20266
        var random = NumberRandom(seed: seed)
        var fitting = 0
        for round in 0..<600 {
            let first = Self.text(&random, digits: 1 + random.below(15))
            let second = Self.text(&random, digits: 1 + random.below(15))
            let a = try #require(ExactDecimal(json: first))
            let b = try #require(ExactDecimal(json: second))
            var bounds = NumberBounds(
                minimum: min(a, b), maximum: max(a, b), isMinimumExclusive: random.isHeads(),
                isMaximumExclusive: random.isHeads())
            let kind = random.below(3)
            bounds.isInteger = kind == 1
            bounds.divisor = kind == 2 ? .init(.init(UInt(1 + random.below(40)))) : nil
            let network = try NumberTexts.unlessEmpty(bounds)
            for _ in 0..<40 {
                let text = Self.near(random.isHeads() ? first : second, &random)
                let value = try #require(ExactDecimal(json: text))
                let fits = bounds.contains(value) && Self.isWritable(text, isWhole: kind != 0)
                fitting += fits ? 1 : 0
                #expect(
                    (network?.accepts(text) ?? false) == fits,
                    "seed \(seed) round \(round): \(text) in \(bounds)")
            }
        }
        #expect(fitting > 2_000)
    }

    /// The rules for the form of texts next to bounds of at most 15 digits: the digits after the
    /// point are at most 16 then, so 15 significant digits are what limits them.
    private static func isWritable(_ text: String, isWhole: Bool) -> Bool {
        let size = text.first == "-" ? text.dropFirst() : text[...]
        if size.count < text.count, size.allSatisfy({ $0 == "0" || $0 == "." }) { return false }
        guard size.contains(".") else {
            return isWhole || size.reversed().drop { $0 == "0" }.count <= 15
        }
        return !isWhole && size.filter { $0 != "." }.drop { $0 == "0" }.count <= 15
    }

    /// A number of so many digits with the point anywhere.
    private static func text(_ random: inout NumberRandom, digits: Int) -> String {
        var digits = (0..<digits).map { _ in "0123456789".randomElement(&random) }
        let point = random.below(digits.count + 1)
        if point < digits.count { digits.insert(".", at: point) }
        return tidy(digits.joined(), isNegative: random.isHeads())
    }

    /// The same text with a digit changed, added or taken away.
    private static func near(_ text: String, _ random: inout NumberRandom) -> String {
        let isNegative = text.first == "-"
        var characters = Array(isNegative ? text.dropFirst() : text[...])
        for _ in 0...random.below(2) {
            let index = random.below(characters.count)
            switch random.below(5) {
            case 0 where characters[index] != ".":
                characters[index] = Character("0123456789".randomElement(&random))
            case 1: characters.append(Character("0123456789".randomElement(&random)))
            case 2 where characters.contains("."): characters.append("0")
            case 3 where characters.count > 1: characters.removeLast()
            case 4 where !characters.contains("."): characters += [".", "0"]
            default: break
            }
        }
        return tidy(
            String(characters), isNegative: random.below(12) == 0 ? !isNegative : isNegative)
    }

    /// Without zeros in front, with a digit on either side of the point.
    private static func tidy(_ text: String, isNegative: Bool) -> String {
        var text = String(text.drop { $0 == "0" })
        if text.isEmpty || text.first == "." { text = "0" + text }
        if text.last == "." { text.removeLast() }
        return (isNegative ? "-" : "") + text
    }
}

extension String {
    fileprivate func randomElement(_ random: inout NumberRandom) -> String {
        let characters = Array(self)
        return String(characters[random.below(characters.count)])
    }
}
