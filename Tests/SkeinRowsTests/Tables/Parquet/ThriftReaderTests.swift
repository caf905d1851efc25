import Testing

@testable import SkeinRows

/// Thrift's compact protocol, and bytes that break it.
@Suite struct ThriftReaderTests {
    /// Reads a struct and skips all of it.
    private static func skip(_ bytes: [UInt8]) -> TableProblem? {
        bytes.withUnsafeBytes { bytes in
            var reader = ThriftReader(bytes, part: "it", fileOffset: 100)
            do throws(TableProblem) {
                try reader.structure { (reader, field) throws(TableProblem) in
                    try reader.skip(field)
                }
                return reader.place == bytes.count ? nil : .notParquet
            } catch {
                return error
            }
        }
    }

    @Test(
        "each type is skipped",
        arguments: [
            [0], [0x11, 0x12, 0], [0x13, 7, 0], [0x14, 0x80, 1, 0], [0x15, 5, 0x16, 6, 0],
            [0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0], [0x18, 2, 65, 66, 0], [0x19, 0x31, 1, 2, 1, 0],
            [0x19, 0xF5, 2, 9, 9, 0], [0x1A, 0x28, 1, 65, 0, 0], [0x1B, 0, 0],
            [0x1B, 1, 0x85, 1, 65, 2, 0], [0x1C, 0x15, 1, 0, 0], [0x05, 0x80, 2, 1, 0],
            [0x1D] + [UInt8](repeating: 3, count: 16) + [0], [0x19, 0x2C, 0, 0x15, 1, 0, 0],
            // An empty list and an empty set as fastparquet writes them.
            [0x19, 0, 0], [0x1A, 0, 0],
        ])
    func whole(bytes: [UInt8]) {
        #expect(Self.skip(bytes) == nil)
        // And without its last byte it is cut off.
        #expect(Self.skip(bytes.dropLast()) != nil)
    }

    private static let wrong: [([UInt8], Int, String)] = [
        ([], 100, "ends too early"), ([0x1E, 0], 101, "has no such type"),
        ([0x10, 0], 101, "has no such type"), ([0x19, 0x10], 102, "has no such type"),
        ([0x1B, 1, 0x0F, 0], 103, "has no such type"), ([0x18, 3, 65, 66], 102, "is cut off"),
        ([0x19, 0xF5, 0xFF, 0xFF, 3], 105, "has too long a list"),
        ([0x1B, 9, 0x55], 102, "has too long a list"), ([0x17, 1, 2], 101, "ends too early"),
        ([0x15] + [UInt8](repeating: 0xFF, count: 10), 111, "has too large an integer"),
        ([0x05, 1, 0], 102, "has no such field"),
        ([0x05, 0x80, 0x80, 4, 0], 104, "has no such field"),
    ]

    @Test("bytes that break the protocol", arguments: wrong)
    func broken(bytes: [UInt8], offset: Int, problem: String) {
        #expect(Self.skip(bytes) == .damaged(part: "it", offset: offset, problem: problem))
    }

    @Test("structs, lists and maps in each other, deeper than the limit")
    func depth() {
        for level: [UInt8] in [[0x1C], [0x19, 0x1C], [0x1B, 1, 0x3C, 0]] {
            let bytes = (0..<100_000).flatMap { _ in level }
            guard case .damaged(_, _, let problem) = Self.skip(bytes) else {
                Issue.record("it was read")
                continue
            }
            #expect(problem == "has too many levels")
        }
    }

    @Test("numbers keep their sign and their size")
    func numbers() throws {
        let values: [(Int, Int32?)] = [
            (0, 0), (-1, -1), (1, 1), (64, 64), (-65, -65), (Int(Int32.max), .max),
            (Int(Int32.min), .min), (1 << 31, nil),
        ]
        for (value, expected) in values {
            let bytes = ThriftValue.bytes([1: .int32(value), 300: .int64(value)])
            bytes.withUnsafeBytes { bytes in
                var reader = ThriftReader(bytes, part: "it", fileOffset: 0)
                var found: (Int32?, Int64?) = (nil, nil)
                do throws(TableProblem) {
                    try reader.structure { (reader, field) throws(TableProblem) in
                        if field.number == 1 {
                            found.0 = try reader.int32(field)
                        } else {
                            found.1 = try reader.int64(field)
                        }
                    }
                } catch {
                    #expect(error == .damaged(part: "it", offset: 6, problem: "is out of range"))
                }
                #expect(found.0 == expected)
                #expect(found.1 == (expected == nil ? nil : Int64(value)))
            }
        }
    }
}
