import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows

/// Cache files that must not be trusted.
@Suite("token cache files") struct TokenCacheFileTests {
    private func with(
        _ body: (TokenCacheBench, TokenCacheKey, _ bytes: [UInt8]) throws -> Void
    ) throws {
        try TokenCacheBench.with { bench in
            let key = try #require(try bench.key())
            var source = try bench.source()
            _ = try source.file(bench.data)
            try body(bench, key, try bench.bytes(of: key))
        }
    }

    @Test("a file is as long as its counts say, and ends with its checksum")
    func layout() throws {
        try with { bench, key, bytes in
            var source = try bench.source()
            let file = try source.file(bench.data)
            #expect(bytes.count == TokenCacheFile.byteCount(of: file))
            #expect(bytes.starts(with: Array("SKEINTOK".utf8) + key.digest.bytes))
            #expect(TokenCacheBench.sealed(bytes) == bytes)
            #expect(TokenCacheFile.header(of: file).words.count == TokenCacheFile.Header.fieldCount)
        }
    }

    @Test("a file that is cut or has extra bytes is refused")
    func truncated() throws {
        try with { bench, key, bytes in
            for count in 0..<bytes.count {
                #expect(throws: TokenCacheFlaw.self, "\(count)") {
                    try bench.read(Array(bytes[..<count]), key: key)
                }
                // Even with a correct checksum.
                guard count >= 32 else { continue }
                #expect(throws: TokenCacheFlaw.self, "\(count)") {
                    try bench.read(TokenCacheBench.sealed(Array(bytes[..<count])), key: key)
                }
            }
            #expect(throws: TokenCacheFlaw.self) { try bench.read(bytes + [0], key: key) }
        }
    }

    @Test("a flipped bit is found anywhere")
    func flipped() throws {
        try with { bench, key, bytes in
            for place in bytes.indices {
                for bit in 0..<8 {
                    var other = bytes
                    other[place] ^= 1 << bit
                    #expect(throws: TokenCacheFlaw.self, "\(place) \(bit)") {
                        try bench.read(other, key: key)
                    }
                }
            }
        }
    }

    @Test("the file of another key is not used")
    func foreign() throws {
        try with { bench, key, bytes in
            let other = try #require(try bench.key(version: "2"))
            #expect(throws: TokenCacheFlaw.otherKey) { try bench.read(bytes, key: other) }
            var later = bytes
            later[40] = 9
            #expect(throws: TokenCacheFlaw.otherVersion(found: 9)) {
                try bench.read(TokenCacheBench.sealed(later), key: key)
            }
        }
    }

    @Test("counts beyond the file are refused before memory is allocated")
    func oversized() throws {
        try with { bench, key, bytes in
            let remarks = RowRemark.allCases.count
            let lines = (9 + remarks)..<(9 + 2 * remarks)
            let anything = [2, 3, 6, lines.upperBound] + lines.filter { bytes[40 + 8 * $0] > 0 }
            for field in 1..<TokenCacheFile.Header.fieldCount {
                for value in [1 << 31, 1 << 40, 1 << 41, 1 << 62, UInt64.max] {
                    var other = bytes
                    let place = 40 + 8 * field
                    for byte in 0..<8 {
                        other[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
                    }
                    // Any count or number of lines is valid here, and any longest row.
                    if anything.contains(field), value <= 1 << 40 { continue }
                    #expect(throws: TokenCacheFlaw.self, "field \(field) = \(value)") {
                        try bench.read(TokenCacheBench.sealed(other), key: key)
                    }
                }
            }
        }
    }

    @Test("a crafted file gives no row that the model cannot compute")
    func hostile() throws {
        try with { bench, key, bytes in
            let seed: UInt64 = 20_261_122
            let random = AddressedRandom(seed: seed, purpose: .dropout)
            var refused = 0
            for round in 0..<3000 {
                var other = bytes
                let words = (bytes.count - 200 - 32) / 4
                let draw = random.block(UInt32(round))
                // After the header; a small number, which is the most dangerous kind, or any.
                let place = 200 + 4 * (Int(draw.x) % words)
                let value = draw.y % 2 == 0 ? draw.z % 500 : draw.z
                for byte in 0..<4 {
                    other[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
                }
                do {
                    let file = try bench.read(TokenCacheBench.sealed(other), key: key)
                    for row in file.encoded.rows {
                        #expect(
                            row.fits(
                                vocabularySize: TokenCacheBench.vocabularySize,
                                positions: TokenCacheBench.maximumLength)
                                && row.targets.allSatisfy { $0.lowerBound >= 1 },
                            "seed \(seed), round \(round)")
                    }
                } catch is TokenCacheFlaw {
                    refused += 1
                }
            }
            #expect(refused > 300, "seed \(seed)")
        }
    }
}
