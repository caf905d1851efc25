import Testing

@testable import SkeinBasics

@Suite struct AddressedRandomTests {
    @Test("Philox4x32-10 gives the known answers of Random123")
    func knownAnswers() {
        let zero = AddressedRandom.philox(counter: [0, 0, 0, 0], key: [0, 0])
        #expect(zero == [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8])
        let ones = AddressedRandom.philox(
            counter: .init(repeating: .max), key: .init(repeating: .max))
        #expect(ones == [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd])
        let pi = AddressedRandom.philox(
            counter: [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            key: [0xa409_3822, 0x299f_31d0])
        #expect(pi == [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1])
    }

    @Test("a permutation holds every index once and depends on its address")
    func permutation() {
        let random = AddressedRandom(seed: 7, purpose: .epochOrder)
        let order = random.permutation(count: 1000, 1)
        #expect(order.sorted() == Array(0..<1000))
        #expect(order == random.permutation(count: 1000, 1))
        #expect(order != random.permutation(count: 1000, 2))
        #expect(order != AddressedRandom(seed: 8, purpose: .epochOrder).permutation(count: 1000, 1))
        #expect(random.permutation(count: 0) == [])
        #expect(random.permutation(count: 1) == [0])
    }

    @Test("normal numbers are quantiles of the middles of words, as Python's NormalDist has them")
    func normal() {
        for (word, expected) in [
            (UInt32(0), -6.337957754553789), (12345, -4.535422762090429),
            (1 << 30, -0.6744897498297384), (3_000_000_000, 0.5200680618488762),
            (.max, 6.337957754553789),
        ] {
            let found = Double(AddressedRandom.normal(word))
            #expect(abs(found / expected - 1) < 3e-7, "\(word): \(found)")
        }
        #expect(abs(AddressedRandom.normal(1 << 31)) < 1e-9)
        for word in stride(from: UInt32(0), to: .max - 20_000_000, by: 16_777_259) {
            #expect(AddressedRandom.normal(word) < AddressedRandom.normal(word + 16_777_259))
            #expect(AddressedRandom.normal(word) == -AddressedRandom.normal(~word))
        }
    }
}
