import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// A broken GGUF file and the error that it must give.
struct Broken: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let expected: @Sendable (_ path: String) -> FormatError

    init(
        _ name: String, _ bytes: [UInt8], _ expected: @escaping @Sendable (String) -> FormatError
    ) {
        testDescription = name
        self.bytes = bytes
        self.expected = expected
    }

    /// A file with `tensors` alone, or with metadata alone.
    private static func image(
        _ tensors: [GGUFImage.Tensor] = [],
        metadata: [(key: String, value: GGUFImage.Value)] = []
    ) -> [UInt8] {
        var image = GGUFImage()
        image.tensors = tensors
        image.metadata = metadata
        return image.bytes()
    }

    /// Magic, version, no tensors, one key, and then `tail`.
    private static func head(
        version: UInt32 = 3, tensors: UInt64 = 0, keys: UInt64 = 1, _ tail: (inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes = Array("GGUF".utf8)
        GGUFImage.append(version, to: &bytes)
        GGUFImage.append(tensors, to: &bytes)
        GGUFImage.append(keys, to: &bytes)
        tail(&bytes)
        return bytes
    }

    /// A key "k" with the type id `type`, and then `numbers`, each of 8 bytes.
    private static func key(_ type: UInt32, _ numbers: UInt64...) -> [UInt8] {
        head { bytes in
            GGUFImage.append("k", to: &bytes)
            GGUFImage.append(type, to: &bytes)
            for number in numbers { GGUFImage.append(number, to: &bytes) }
        }
    }

    /// An array of type `type` with a stated count.
    private static func array(_ type: UInt32, count: UInt64) -> [UInt8] {
        head { bytes in
            GGUFImage.append("k", to: &bytes)
            GGUFImage.append(UInt32(9), to: &bytes)
            GGUFImage.append(type, to: &bytes)
            GGUFImage.append(count, to: &bytes)
            bytes += [0, 0, 0]
        }
    }

    private static func stated(_ offset: UInt64) -> GGUFImage.Tensor {
        var second = tensor("second", [1], floats: [2])
        second.statedOffset = offset
        return second
    }

    static let heads: [Broken] = [
        Broken("empty", []) {
            .truncated(path: $0, offset: 0, field: "magic", expected: 4, found: 0)
        },
        Broken("other magic", Array("GGJT1234".utf8)) {
            .badMagic(path: $0, expected: "GGUF", found: "0x47474a54")
        },
        Broken("version 1", head(version: 1) { _ in }) { .unsupportedVersion(path: $0, found: 1) },
        Broken("version 4", head(version: 4) { _ in }) { .unsupportedVersion(path: $0, found: 4) },
        Broken("big-endian", head(version: 0x0300_0000) { _ in }) {
            .unsupportedVersion(path: $0, found: 0x0300_0000)
        },
        Broken("tensor count", head(tensors: .max) { _ in }) {
            .overLimit(path: $0, field: "tensor count", limit: 65_536, found: .max)
        },
        Broken("key count", head(keys: 1 << 40) { _ in }) {
            .overLimit(path: $0, field: "metadata count", limit: 65_536, found: 1 << 40)
        },
        Broken("key beyond the end", head { GGUFImage.append(UInt64(5), to: &$0) }) {
            .truncated(path: $0, offset: 32, field: "metadata key", expected: 5, found: 0)
        },
        Broken("key of 2^63", head { GGUFImage.append(UInt64(1) << 63, to: &$0) }) {
            .overLimit(path: $0, field: "metadata key", limit: 1 << 30, found: 1 << 63)
        },
        Broken(
            "key that is not text",
            head {
                GGUFImage.append(UInt64(1), to: &$0)
                $0 += [0xff, 0, 0, 0]
            }
        ) { .notText(path: $0, offset: 24, field: "metadata key") },
        Broken("value type", key(13)) {
            .badField(path: $0, field: "k", expected: "a value type of 0 to 12", found: "type 13")
        },
        Broken("string beyond the end", key(8, 1 << 20)) {
            .truncated(path: $0, offset: 45, field: "k", expected: 1 << 20, found: 0)
        },
        Broken("array of arrays", array(9, count: 1)) {
            .badField(
                path: $0, field: "k", expected: "an array of numbers, bools or strings",
                found: "an array of type 9")
        },
        Broken("array of 2^40", array(4, count: 1 << 40)) {
            .overLimit(path: $0, field: "k", limit: 1 << 30, found: 1 << 40)
        },
        Broken("array beyond the end", array(10, count: 1 << 30)) {
            .truncated(path: $0, offset: 49, field: "k", expected: 1 << 33, found: 3)
        },
        Broken("strings beyond the end", array(8, count: 1 << 30)) {
            .truncated(path: $0, offset: 49, field: "k", expected: 1 << 33, found: 3)
        },
    ]

    static let images: [Broken] = [
        Broken("key twice", image(metadata: [("a", .bool(true)), ("a", .bool(true))])) {
            .duplicate(path: $0, name: "a")
        },
        Broken("alignment 0", image(metadata: [("general.alignment", .uint32(0))])) {
            .badField(
                path: $0, field: "general.alignment", expected: "a power of two up to 1048576",
                found: "0")
        },
        Broken("alignment 48", image(metadata: [("general.alignment", .uint32(48))])) {
            .badField(
                path: $0, field: "general.alignment", expected: "a power of two up to 1048576",
                found: "48")
        },
        Broken("alignment as text", image(metadata: [("general.alignment", .string("32"))])) {
            .badField(
                path: $0, field: "general.alignment", expected: "a power of two up to 1048576",
                found: "a string")
        },
        Broken("split", image(metadata: [("split.count", .uint32(3))])) {
            .splitFile(path: $0, parts: 3)
        },
        Broken(
            "tensor twice", image([tensor("t", [1], floats: [1]), tensor("t", [1], floats: [1])])
        ) { .duplicate(path: $0, name: "t") },
        Broken("name of 64", image([tensor(String(repeating: "n", count: 64), [1], floats: [1])])) {
            .overLimit(path: $0, field: "tensor name", limit: 63, found: 64)
        },
        Broken("five dimensions", image([tensor("t", [1, 1, 1, 1, 1], floats: [1])])) {
            .overLimit(path: $0, field: "dimensions of t", limit: 4, found: 5)
        },
        Broken("dimension 0", image([tensor("t", [0], floats: [])])) {
            .badTensor(
                path: $0, tensor: "t", field: "dimension", expected: "1 to 2^63 - 1", found: "0")
        },
        Broken("dimension 2^63", image([tensor("t", [1 << 63], floats: [])])) {
            .badTensor(
                path: $0, tensor: "t", field: "dimension", expected: "1 to 2^63 - 1",
                found: "9223372036854775808")
        },
        Broken("elements overflow", image([tensor("t", [1 << 32, 1 << 32], floats: [])])) {
            .badTensor(
                path: $0, tensor: "t", field: "element count", expected: "below 2^63",
                found: "[4294967296, 4294967296]")
        },
        Broken("bytes overflow", image([tensor("t", [1 << 62], floats: [])])) {
            .badTensor(
                path: $0, tensor: "t", field: "byte count", expected: "below 2^63",
                found: "[4611686018427387904]")
        },
        Broken(
            "part of a block",
            image([GGUFImage.Tensor(name: "t", dimensions: [33], type: 2, data: [0])])
        ) {
            .badTensor(
                path: $0, tensor: "t", field: "row length", expected: "a multiple of 32 for Q4_0",
                found: "33")
        },
        Broken(
            "type Q8_1", image([GGUFImage.Tensor(name: "t", dimensions: [32], type: 9, data: [])])
        ) { .unsupportedElementType(path: $0, tensor: "t", found: "Q8_1") },
        Broken(
            "type 99", image([GGUFImage.Tensor(name: "t", dimensions: [32], type: 99, data: [])])
        ) { .unsupportedElementType(path: $0, tensor: "t", found: "number 99") },
        Broken("offset leaves a hole", image([tensor("t", [1], floats: [1]), stated(64)])) {
            .badTensor(
                path: $0, tensor: "second", field: "offset", expected: "32", found: "64")
        },
        Broken("offset overlaps", image([tensor("t", [1], floats: [1]), stated(0)])) {
            .badTensor(path: $0, tensor: "second", field: "offset", expected: "32", found: "0")
        },
        Broken("data beyond the end", image([tensor("t", [64], floats: [1])])) {
            .truncated(path: $0, offset: 64, field: "t", expected: 256, found: 32)
        },
    ]
}
