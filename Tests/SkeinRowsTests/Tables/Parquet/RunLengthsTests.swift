import Testing

@testable import SkeinRows

/// The small codes of pages: checksums, and the runs of levels and indices.
@Suite struct RunLengthsTests {
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
        // The example of that page: 0 to 7 in three bits each.
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
