import Testing

@testable import SkeinText

@Suite struct UTF8StreamTests {
    @Test("half a character is held back, and is U+FFFD when the rest never comes")
    func held() {
        var stream = UTF8Stream()
        let goose = Array("🪿".utf8)
        #expect(stream.text(of: [0x61] + goose[..<2]) == "a")
        #expect(stream.text(of: Array(goose[2...2])) == "")
        #expect(stream.text(of: Array(goose[3...]) + [0x62]) == "🪿b")
        #expect(stream.text(of: Array(goose[..<3])) == "")
        #expect(stream.rest() == "\u{FFFD}")
        #expect(stream.rest() == "")
    }

    @Test("a byte that belongs to no character is U+FFFD at once")
    func stray() {
        var stream = UTF8Stream()
        #expect(stream.text(of: [0x80]) == "\u{FFFD}")
        #expect(stream.text(of: [0xC3]) == "")
        #expect(stream.text(of: [0x61]) == "\u{FFFD}a")
        #expect(stream.text(of: [0xFF]) + stream.text(of: [0x62, 0x62, 0x62]) == "\u{FFFD}bbb")
    }

    @Test("whatever the bytes and however they are cut, the text is that of all at once")
    func cuts() {
        // Leads, continuations and letters, so that every kind of sequence and of damage occurs.
        let alphabet: [UInt8] = [
            0x61, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0xF5, 0xFF,
        ]
        var random = SplitMix(state: 1)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            var stream = UTF8Stream()
            var text = ""
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                text.unicodeScalars += stream.text(of: Array(rest.prefix(count))).unicodeScalars
                rest = rest.dropFirst(count)
            }
            text.unicodeScalars += stream.rest().unicodeScalars
            let whole = String(decoding: bytes, as: UTF8.self)
            #expect(Array(text.utf8) == Array(whole.utf8), "\(bytes)")
        }
    }

    /// Steele, Lea and Flood 2014: the same numbers every time.
    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
