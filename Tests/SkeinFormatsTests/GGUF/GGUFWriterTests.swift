import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct GGUFWriterTests {
    private static let metadata: [(key: String, value: GGUFWriter.Value)] = [
        ("general.architecture", .string("llama")), ("a.u32", .uint32(7)), ("a.i32", .int32(-7)),
        ("a.u64", .uint64(1 << 40)), ("a.f32", .float32(0.5)), ("a.bool", .bool(true)),
        ("a.strings", .strings(["one", "", "zwei"])), ("a.i32s", .int32s([-1, 2])),
        ("a.u32s", .uint32s([3])), ("a.f32s", .float32s([1.5, -2])), ("a.bools", .bools([true])),
        ("a.raw", .raw(type: 2, bytes: [1, 2])),
    ]

    @Test("what is written is read back, with tensors of odd sizes padded")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file.gguf"
            let blocks = [UInt8](repeating: 0, count: 2 * 34)
            try GGUFWriter.write(
                metadata: Self.metadata,
                tensors: [
                    .init(name: "one", shape: [3], floats: [1, 2, 3]),
                    .init(name: "two", shape: [2, 32], elementType: .q8x0) { append in
                        // In two pieces.
                        try blocks[..<34].withUnsafeBytes { try append($0) }
                        try blocks[34...].withUnsafeBytes { try append($0) }
                    },
                    .init(name: "three", shape: [1, 2], floats: [4, 5]),
                ], to: path)
            let file = try GGUFFile(path: path)
            #expect(
                file.metadata == [
                    "general.architecture": .string("llama"), "a.u32": .unsigned(7),
                    "a.i32": .integer(-7), "a.u64": .unsigned(1 << 40), "a.f32": .float(0.5),
                    "a.bool": .bool(true), "a.strings": .strings(["one", "", "zwei"]),
                    "a.i32s": .integers([-1, 2]), "a.u32s": .integers([3]),
                    "a.f32s": .floats([1.5, -2]), "a.bools": .bools([true]),
                    "a.raw": .unsigned(513),
                ])
            #expect(file.tensors["one"]?.floats() == [1, 2, 3])
            #expect(file.tensors["two"]?.shape == [2, 32])
            #expect(file.tensors["two"]?.floats() == [Float](repeating: 0, count: 64))
            #expect(file.tensors["three"]?.floats() == [4, 5])
        }
    }

    @Test("a name that is there twice is refused, and nothing is written")
    func duplicates() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file.gguf"
            let tensor = GGUFWriter.Tensor(name: "one", shape: [1], floats: [1])
            #expect(throws: FormatError.duplicate(path: path, name: "one")) {
                try GGUFWriter.write(metadata: [], tensors: [tensor, tensor], to: path)
            }
            #expect(throws: FormatError.duplicate(path: path, name: "a")) {
                try GGUFWriter.write(
                    metadata: [("a", .bool(true)), ("a", .bool(true))], tensors: [], to: path)
            }
            #expect(!DiskStore().exists(path))
        }
    }
}
