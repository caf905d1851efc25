import SkeinJSON
import Testing

@testable import SkeinGrammar

/// All short texts are compared with an oracle that knows nothing of the network: it spells out every
/// JSON number without exponent and compares thousandths as integers.
@Suite("Networks of numbers, all short texts")
struct NumberNetworkTests {
    @Test("Every text of up to five bytes is written if and only if it lies within the bounds")
    func decimals() throws {
        let seed: UInt64 = 20261
        var random = NumberRandom(seed: seed)
        for round in 0..<60 {
            let scale = [1_000, 100, 10, 1][random.below(4)]
            let span = scale == 1_000 ? 250 : 4_000
            let sample = Sample(&random, scale: scale, span: span)
            try check(sample, length: round % 2 == 0 ? 5 : 4, "seed \(seed) round \(round)")
        }
    }

    @Test("Every integer of up to five bytes is written if and only if it fits")
    func integers() throws {
        let seed: UInt64 = 20262
        var random = NumberRandom(seed: seed)
        for round in 0..<150 {
            let span = [30, 270, 3_000][random.below(3)]
            var sample = Sample(&random, scale: [1_000, 100][random.below(2)], span: span)
            sample.isInteger = true
            try check(sample, length: round % 8 == 0 ? 5 : 4, "seed \(seed) round \(round)")
        }
    }

    @Test("Every multiple of up to five bytes is written if and only if it fits")
    func multiples() throws {
        let seed: UInt64 = 20263
        var random = NumberRandom(seed: seed)
        for round in 0..<150 {
            let span = [30, 270, 3_000][random.below(3)]
            var sample = Sample(&random, scale: [1_000, 100][random.below(2)], span: span)
            sample.isInteger = random.isHeads()
            let divisor = 1 + random.below(14)
            sample.divisor = (divisor == 14 ? 100 : divisor) * 1_000_000
            try check(sample, length: round % 8 == 0 ? 5 : 4, "seed \(seed) round \(round)")
        }
    }

    @Test("Every multiple with a point of up to five bytes is written if and only if it fits")
    func decimalMultiples() throws {
        let seed: UInt64 = 20264
        var random = NumberRandom(seed: seed)
        for round in 0..<150 {
            let span = [30, 270, 3_000][random.below(3)]
            var sample = Sample(&random, scale: [1_000, 100, 1][random.below(3)], span: span)
            sample.isInteger = random.below(8) == 0
            let divisors = [500, 250, 100, 10, 1, 30, 750, 1_500, 25, 70, 125, 2_400]
            sample.divisor = divisors[random.below(divisors.count)] * 1_000
            try check(sample, length: round % 8 == 0 ? 5 : 4, "seed \(seed) round \(round)")
        }
    }

    private func check(_ sample: Sample, length: Int, _ label: String) throws {
        let places = sample.isInteger ? 0 : sample.exactDivisor()?.scale ?? .max
        let expected = Set(
            (length == 5 ? Self.texts : Self.shortTexts).filter { sample.allows($0.millionths) }
                .map(\.text)
                .filter { $0.split(separator: ".").dropFirst().joined().count <= places })
        let bounds = try sample.bounds()
        guard let network = try NumberTexts.unlessEmpty(bounds) else {
            #expect(expected.isEmpty, "\(label): \(bounds)")
            return
        }
        let found = network.all(ofLength: length)
        #expect(found.symmetricDifference(expected).isEmpty, "\(label): \(bounds)")
        #expect(network.uselessNodes.isEmpty, "\(label): \(bounds)")
        #expect(network.isDeterministic, "\(label): \(bounds)")
        #expect(!bounds.isEmpty, "\(label): \(bounds)")
    }

    private static let shortTexts = texts.filter { $0.text.utf8.count <= 4 }

    /// Every number of up to five bytes without an exponent, and its value.
    private static let texts: [(text: String, millionths: Int)] = {
        var texts: [(text: String, millionths: Int)] = []
        for whole in 0..<100_000 {
            let start = "\(whole)"
            texts.append((start, whole * 1_000_000))
            var unit = 1_000_000
            for places in 1...3 where start.utf8.count + 1 + places <= 5 {
                unit /= 10
                for part in 0..<(1_000_000 / unit) {
                    let digits = String(String(1_000_000 / unit + part).dropFirst())
                    texts.append((start + "." + digits, whole * 1_000_000 + part * unit))
                }
            }
        }
        let negative = texts.filter { $0.millionths > 0 && $0.text.utf8.count < 5 }
        return texts + negative.map { ("-" + $0.text, -$0.millionths) }
    }()
}

/// Random bounds in thousandths.
private struct Sample {
    var low: Int?
    var high: Int?
    var isLowExclusive: Bool
    var isHighExclusive: Bool
    var isInteger = false
    /// In millionths.
    var divisor: Int?

    /// - Parameters:
    ///   - random: where they come from.
    ///   - scale: the bounds are multiples of so many thousandths.
    ///   - span: how far they are from zero, in multiples.
    init(_ random: inout NumberRandom, scale: Int, span: Int) {
        let a = (random.below(2 * span + 1) - span) * scale
        let b = random.below(4) == 0 ? a : (random.below(2 * span + 1) - span) * scale
        let kind = random.below(8)
        // Now and then the wrong way round.
        low = kind == 0 ? nil : kind == 1 ? max(a, b) : min(a, b)
        high = kind == 2 ? nil : kind == 1 ? min(a, b) : max(a, b)
        isLowExclusive = random.below(3) == 0
        isHighExclusive = random.below(3) == 0
    }

    func allows(_ millionths: Int) -> Bool {
        if let low, millionths < low * 1_000 || (isLowExclusive && millionths == low * 1_000) {
            return false
        }
        if let high, millionths > high * 1_000 || (isHighExclusive && millionths == high * 1_000) {
            return false
        }
        if let divisor, millionths % divisor != 0 { return false }
        return !isInteger || millionths % 1_000_000 == 0
    }

    func bounds() throws -> NumberBounds {
        NumberBounds(
            minimum: try low.map(Self.value), maximum: try high.map(Self.value),
            isMinimumExclusive: isLowExclusive, isMaximumExclusive: isHighExclusive,
            divisor: exactDivisor(), isInteger: isInteger)
    }

    func exactDivisor() -> NumberDivisor? {
        guard let divisor else { return nil }
        return NumberDivisor(ExactDecimal(UInt(divisor)).shifted(by: -6))
    }

    private static func value(_ thousandths: Int) throws -> ExactDecimal {
        let size = abs(thousandths)
        let text =
            (thousandths < 0 ? "-" : "") + "\(size / 1_000)."
            + String(String(1_000 + size % 1_000).dropFirst())
        return try #require(ExactDecimal(json: text))
    }
}
