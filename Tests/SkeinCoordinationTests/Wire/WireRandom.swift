import Foundation

/// SplitMix64: contents of messages for tests, from a seed that the test prints.
struct WireRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }

    /// SKEIN_TEST_SEED, which draws others, or always the same; printed with what it draws.
    static func seed(_ test: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["SKEIN_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? 1
        print("\(test): SKEIN_TEST_SEED=\(seed)")
        return seed
    }

    mutating func upTo(_ limit: Int) -> Int { Int.random(in: 0...limit, using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func integer<Integer: FixedWidthInteger>() -> Integer {
        // Small numbers and borders as often as others.
        switch next() % 4 {
        case 0: 0
        case 1: .max
        default: Integer(truncatingIfNeeded: next())
        }
    }

    /// At most `limit` bytes of UTF-8, with characters of one to four bytes.
    mutating func text(_ limit: Int, least: Int = 0) -> String {
        let letters: [Character] = ["a", "Z", "0", "-", " ", "é", "鵝", "🪿", "\""]
        let length = Int.random(in: least...limit, using: &self)
        var text = ""
        while let letter = letters.randomElement(using: &self),
            text.utf8.count + letter.utf8.count <= length
        { text.append(letter) }
        return text.utf8.count < least ? "x" : text
    }
}

extension Optional {
    struct Missing: Error {}

    /// The value, or a test failure.
    func found() throws -> Wrapped {
        guard let self else { throw Missing() }
        return self
    }
}
