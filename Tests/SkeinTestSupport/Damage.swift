import Foundation
import SkeinBasics

/// Damage to bytes that is a function of a seed and a number: what the tests of readers share.
package struct Damage {
    /// How many damaged inputs a test of a reader draws: `usual`, which takes seconds, or
    /// SKEIN_TEST_MUTATIONS.
    package static func count(_ usual: Int) -> Int { variable("SKEIN_TEST_MUTATIONS") ?? usual }

    /// SKEIN_TEST_SEED draws others.
    package static var seed: UInt64 { UInt64(variable("SKEIN_TEST_SEED") ?? 1) }

    /// As many seeds, the first of them SKEIN_TEST_SEED.
    package static func seeds(_ usual: Int) -> Range<UInt64> {
        seed..<(seed + UInt64(max(1, count(usual))))
    }

    private static func variable(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
    private let number: UInt32
    private var drawn: UInt32 = 0

    /// - Parameter number: of the input.
    package init(number: Int) { self.number = UInt32(truncatingIfNeeded: number) }

    /// A number of 0 ..< `limit`.
    package mutating func below(_ limit: Int) -> Int {
        drawn += 1
        return Int(random.block(number, drawn)[0]) % max(1, limit)
    }

    /// Changes one to four places: another byte, a digit, or a byte gone or doubled.
    package mutating func change(_ bytes: inout [UInt8], within range: Range<Int>) {
        for _ in 0...below(4) {
            let place = range.lowerBound + below(range.count)
            guard bytes.indices.contains(place) else { continue }
            switch below(6) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes[place] = UInt8(ascii: "9")
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(bytes[place], at: place)
            case 4: bytes[place] ^= 1 << UInt8(below(8))
            default:
                // A digit becomes another one, so that numbers in JSON stay numbers.
                if let digit = bytes[place...].firstIndex(where: { (48...57).contains($0) }) {
                    bytes[digit] = UInt8(48 + below(10))
                }
            }
        }
    }
}
