import Testing

@testable import SkeinRows

/// Snappy's elements (format_description.txt of google/snappy), and bytes that break it.
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
}
