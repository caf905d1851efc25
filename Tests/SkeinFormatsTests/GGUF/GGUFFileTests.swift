import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct GGUFFileTests {
    @Test("every kind of metadata value is read")
    func values() throws {
        var image = GGUFImage()
        image.metadata = [
            ("a", .uint32(7)), ("b", .uint64(.max)), ("c", .int32(-3)), ("d", .float32(0.5)),
            ("e", .bool(true)), ("f", .string("Ġgrüße")), ("g", .strings(["x", "", "y"])),
            ("h", .int32s([1, -2])), ("i", .float32s([1.5])),
        ]
        let file = try open(image.bytes())
        #expect(
            file.metadata == [
                "a": .unsigned(7), "b": .unsigned(.max), "c": .integer(-3), "d": .float(0.5),
                "e": .bool(true), "f": .string("Ġgrüße"), "g": .strings(["x", "", "y"]),
                "h": .integers([1, -2]), "i": .floats([1.5]),
            ])
        #expect(file.tensors.isEmpty)
    }

    @Test("version 2, another alignment and a file without its last padding are read")
    func variants() throws {
        var image = GGUFImage()
        image.version = 2
        image.alignment = 64
        image.metadata = [("general.alignment", .uint32(64))]
        image.tensors = [
            tensor("one", [3], floats: [1, 2, 3]), tensor("two", [2, 2], floats: [4, 5, 6, 7]),
        ]
        let bytes = image.bytes()
        let file = try open(Array(bytes[..<(bytes.count - 48)]))
        #expect(file.tensors["one"]?.floats() == [1, 2, 3])
        #expect(file.tensors["two"]?.floats() == [4, 5, 6, 7])
        #expect(file.tensors["two"]?.shape == [2, 2])
    }

    @Test("a broken file is refused with what is wrong", arguments: Broken.images)
    func broken(_ broken: Broken) throws {
        try check(broken.bytes, broken.expected)
    }

    @Test("a broken head is refused with what is wrong", arguments: Broken.heads)
    func brokenHead(_ broken: Broken) throws {
        try check(broken.bytes, broken.expected)
    }

    @Test("a file cut anywhere is refused")
    func cut() throws {
        let bytes = small().bytes()
        // The last tensor has 8 bytes; the 24 bytes of padding after it may be missing.
        for length in 0..<(bytes.count - 24) {
            #expect(throws: FormatError.self, "cut to \(length) bytes") {
                _ = try open(Array(bytes[..<length]))
            }
        }
    }

    @Test("a file with random bytes is read or refused, and never read beyond its end")
    func noise() throws {
        let sound = small().bytes()
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/noise.gguf"
            for seed in UInt32(0)..<2000 {
                var bytes = sound
                let words = AddressedRandom(seed: 11, purpose: .benchmark).block(seed)
                for lane in 0..<3 {
                    let place = Int(words[lane] >> 8) % bytes.count
                    bytes[place] = lane == 0 ? 0xff : UInt8(truncatingIfNeeded: words[lane])
                }
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                do {
                    for view in try GGUFFile(path: path).tensors.values { _ = view.floats() }
                } catch is FormatError {
                    continue
                }
            }
        }
    }

    private func check(_ bytes: [UInt8], _ expected: (String) -> FormatError) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/broken.gguf"
            try AtomicFile.write(bytes, to: path)
            #expect(throws: expected(path)) { _ = try GGUFFile(path: path) }
        }
    }

    private func open(_ bytes: [UInt8]) throws -> GGUFFile {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file.gguf"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return try GGUFFile(path: path)
        }
    }

    private func small() -> GGUFImage {
        var image = GGUFImage()
        image.metadata = [("a", .uint32(7)), ("b", .strings(["x", "yz"])), ("c", .int32s([4]))]
        image.tensors = [tensor("t", [2], floats: [1, 2]), tensor("u", [2, 1], floats: [3, 4])]
        return image
    }
}
