import Testing

@testable import SkeinTables

/// Snappy's elements (format_description.txt of google/snappy), a checksum and Parquet's runs.
@Suite struct SnappyTests {
    static func decompress(_ bytes: [UInt8], count: Int) throws -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count)
        try out.withUnsafeMutableBytes { out in
            try bytes.withUnsafeBytes { try Snappy.decompress($0, into: out) }
        }
        return out
    }

    private static let good: [([UInt8], String)] = [
        ([0], ""),
        ([3, 2 << 2] + Array("abc".utf8), "abc"),
        // Copies of a 1, 2 and 4-byte distance; the first overlaps itself.
        ([9, 0, 0x61, 1 | 4 << 2, 1], "aaaaaaaaa"),
        ([6, 2 << 2] + Array("abc".utf8) + [2 | 2 << 2, 3, 0], "abcabc"),
        ([6, 2 << 2] + Array("abc".utf8) + [3 | 2 << 2, 3, 0, 0, 0], "abcabc"),
        // Literals whose length takes 1, 2, 3 and 4 bytes.
        ([2, 60 << 2, 1] + Array("ab".utf8), "ab"), ([2, 61 << 2, 1, 0] + Array("ab".utf8), "ab"),
        ([2, 62 << 2, 1, 0, 0] + Array("ab".utf8), "ab"),
        ([2, 63 << 2, 1, 0, 0, 0] + Array("ab".utf8), "ab"),
        // A length of two bytes: 1 literal and three copies of 64.
        (
            [0xC1, 1, 0, 0x62]
                + [UInt8](repeating: 0, count: 3).flatMap { _ in [2 | 63 << 2, 1, 0] as [UInt8] },
            String(repeating: "b", count: 193)
        ),
    ]

    @Test("literals and copies", arguments: good.indices)
    func elements(index: Int) throws {
        let (bytes, text) = Self.good[index]
        #expect(try Self.decompress(bytes, count: text.utf8.count) == Array(text.utf8))
        #expect(text.utf8.count <= Snappy.mostBytes(bytes.count))
    }

    private static let bad: [([UInt8], Int, Snappy.Problem)] = [
        ([], 0, .damaged(offset: 0)), ([0x80], 0, .damaged(offset: 1)),
        ([0x80, 0x80, 0x80, 0x80, 0x80, 0], 0, .damaged(offset: 5)),
        ([4, 2 << 2, 97, 98, 99], 3, .wrongLength), ([0, 0], 0, .damaged(offset: 1)),
        ([3, 2 << 2, 97, 98], 3, .damaged(offset: 1)),
        ([2, 2 << 2, 97, 98, 99], 2, .damaged(offset: 1)),
        ([4, 2 << 2, 97, 98, 99], 4, .damaged(offset: 5)),
        ([3, 63 << 2, 255, 255, 255, 255], 3, .damaged(offset: 1)),
        ([3, 63 << 2, 1], 3, .damaged(offset: 1)),
        // Copies from before the start, from nowhere, and beyond the end.
        ([5, 0, 97, 1, 2], 5, .damaged(offset: 3)), ([5, 0, 97, 1, 0], 5, .damaged(offset: 3)),
        ([4, 0, 97, 1, 1], 4, .damaged(offset: 3)), ([5, 0, 97, 1], 5, .damaged(offset: 3)),
        ([5, 0, 97, 3, 255, 255, 255, 255], 5, .damaged(offset: 3)),
    ]

    @Test("bytes that are no such text", arguments: bad)
    func problems(bytes: [UInt8], count: Int, problem: Snappy.Problem) {
        #expect(throws: problem) { try Self.decompress(bytes, count: count) }
    }

    @Test("the checksum of the nine digits, and of each length against one bit at a time")
    func checksum() {
        #expect(Array("123456789".utf8).withUnsafeBytes(CRC32.of) == 0xCBF4_3926)
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            var crc = ~UInt32(0)
            for byte in bytes {
                crc ^= UInt32(byte)
                for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
            }
            #expect(bytes.withUnsafeBytes(CRC32.of) == ~crc)
        }
    }

    private static func runs(_ bytes: [UInt8], width: Int, most: Int = 100) -> [Int] {
        bytes.withUnsafeBytes { bytes in
            var runs = RunLengths(bytes, width: width)
            var values: [Int] = []
            while values.count < most, let value = runs.next() { values.append(value) }
            return values
        }
    }

    @Test("runs and bit-packed groups, for each width")
    func runs() {
        // The example of Encodings.md: 0 to 7 in three bits each.
        #expect(Self.runs([3, 0b1000_1000, 0b1100_0110, 0b1111_1010], width: 3) == Array(0..<8))
        #expect(Self.runs([6, 5, 4, 1], width: 3) == [5, 5, 5, 1, 1])
        #expect(Self.runs([2, 0x34, 0x12], width: 13) == [0x1234])
        #expect(Self.runs([4], width: 0) == [0, 0])
        #expect(Self.runs([3], width: 0) == [Int](repeating: 0, count: 8))
        for width in 1...32 {
            let values = (0..<16).map { ($0 * 2_654_435_761) & ((1 << width) - 1) }
            var bytes = [UInt8](repeating: 0, count: width * 2)
            for (index, value) in values.enumerated() {
                for bit in 0..<width where value >> bit & 1 == 1 {
                    bytes[(index * width + bit) / 8] |= 1 << UInt8((index * width + bit) % 8)
                }
            }
            #expect(Self.runs([2 << 1 | 1] + bytes, width: width) == values)
            // A last group may lack the bytes that it does not need.
            #expect(
                Self.runs([2 << 1 | 1] + bytes.dropLast(), width: width)
                    == Array(values.prefix((width * 16 - 8) / width)))
        }
    }

    @Test("runs that end too early, are too long or hold values that are too large")
    func wrongRuns() {
        for bytes: [UInt8] in [
            [], [0x80], [2], [3], [0, 1], [1, 1], [2, 8],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        ] {
            #expect(Self.runs(bytes, width: 3).isEmpty)
        }
        #expect(Self.runs([0xFE, 0xFF, 0xFF, 0xFF, 0x7F, 1], width: 1).count == 100)
    }
}
