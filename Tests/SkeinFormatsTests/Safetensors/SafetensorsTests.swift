import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct SafetensorsTests {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let accepted: Bool
        let base64: String
        var testDescription: String { name }

        static func all() throws -> [Case] {
            let url = URL(fileURLWithPath: TestPaths.fixture("formats/safetensors-cases.json"))
            return try JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
        }
    }

    @Test("valid and broken files get the verdict of the reference reader")
    func verdicts() throws {
        for row in try Case.all() {
            try withFile(Array(Data(base64Encoded: row.base64) ?? Data())) { path in
                do {
                    let file = try SafetensorsFile(path: path)
                    for view in file.tensors.values { _ = view.floats() }
                    #expect(row.accepted, "\(row.name) was accepted")
                } catch let error as FormatError {
                    #expect(!row.accepted, "\(row.name): \(error)")
                    if let expected = Self.refusals(path)[row.name] {
                        #expect(error == expected, "\(row.name)")
                    }
                }
            }
        }
        #expect(Set(Self.refusals("").keys).isSubset(of: try Case.all().map(\.name)))
    }

    /// The exact errors; where the JSON reader words the reason, only the verdict is checked.
    private static func refusals(_ path: String) -> [String: FormatError] {
        func bad(
            _ tensor: String, _ field: String, _ expected: String, _ found: String
        ) -> FormatError {
            .badTensor(path: path, tensor: tensor, field: field, expected: expected, found: found)
        }
        return [
            "hole": bad("b", "offset", "8", "12"),
            "hole at the start": bad("a", "offset", "0", "4"),
            "overlap": bad("b", "offset", "8", "4"),
            "trailing bytes": .badField(
                path: path, field: "data section", expected: "8 bytes", found: "9 bytes"),
            "short data": .truncated(path: path, offset: 62, field: "a", expected: 8, found: 7),
            "duplicate key leaves a hole": .duplicate(path: path, name: "a"),
            "metadata that is no text": .badField(
                path: path, field: "__metadata__.k", expected: "a string", found: "another type"),
            "shape and size differ": bad("a", "byte count", "12", "8"),
            "product overflows": bad("a", "bit count", "below 2^63", "[4294967296, 4294967296, 4]"),
            "unknown type": .unsupportedElementType(path: path, tensor: "a", found: "F128"),
            "negative dimension": bad("a", "dimension", "0 or above", "-2"),
            "descending offsets": bad("a", "data_offsets", "two ascending offsets", "[8, 0]"),
            "one offset": bad("a", "data_offsets", "two ascending offsets", "[0]"),
            "no shape": .missingField(path: path, field: "a.shape"),
            "empty file": .truncated(
                path: path, offset: 0, field: "header length", expected: 8, found: 0),
            "seven bytes": .truncated(
                path: path, offset: 0, field: "header length", expected: 8, found: 7),
            "header beyond the file": .truncated(
                path: path, offset: 8, field: "header", expected: 100, found: 2),
            "header above 100 MB": .overLimit(
                path: path, field: "header length", limit: 100_000_000, found: 100_000_001),
        ]
    }

    @Test(
        "a name that stands for two tensors is refused, however it is spelled",
        arguments: [("a", "a"), ("a", #"\u0061"#), ("caf\u{E9}", "cafe\u{301}")])
    func ambiguous(first: String, second: String) throws {
        let header =
            #"{"\#(first)":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}, "#
            + #""\#(second)":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#
        var bytes: [UInt8] = []
        GGUFImage.append(header, to: &bytes)
        try withFile(bytes + [UInt8](repeating: 0, count: 8)) { path in
            let name = second == "a" ? "a" : "a name in two spellings"
            #expect(throws: FormatError.duplicate(path: path, name: name)) {
                _ = try SafetensorsFile(path: path)
            }
        }
    }

    @Test("a name that stands twice for one tensor is read")
    func repeated() throws {
        let entry = #""a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#
        var bytes: [UInt8] = []
        GGUFImage.append("{\(entry) , \(entry)}", to: &bytes)
        try withFile(bytes + [UInt8](repeating: 0, count: 4)) { path in
            let file = try SafetensorsFile(path: path)
            #expect(file.tensors.keys.sorted() == ["a"])
        }
    }

    @Test("a tensor that is not a float is skipped, and refused as a weight")
    func noWeight() throws {
        let header = #"{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#
        var bytes: [UInt8] = []
        GGUFImage.append(header, to: &bytes)
        try withFile(bytes + [UInt8](repeating: 0, count: 8)) { path in
            let file = try SafetensorsFile(path: path)
            #expect(file.tensors.isEmpty && file.otherTensors == ["a": "I64"])
            #expect(
                throws: FormatError.unsupportedElementType(path: path, tensor: "a", found: "I64")
            ) { _ = try file.tensor("a") }
            #expect(throws: FormatError.missingTensor(path: path, tensor: "b")) {
                _ = try file.tensor("b")
            }
        }
    }

    @Test("the writer writes the reference writer's bytes")
    func writer() throws {
        let path = TestPaths.fixture("formats/adapter.safetensors")
        let file = try SafetensorsFile(path: path)
        #expect(file.metadata == ["format": "pt"] && file.tensors.count == 8)
        let tensors = file.tensors.values.map {
            SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats())
        }
        let original = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(try SafetensorsWriter.bytes(tensors, metadata: ["format": "pt"]) == original)
        try withFile([]) { copy in
            try SafetensorsWriter.write(tensors, metadata: ["format": "pt"], to: copy)
            #expect(try Array(Data(contentsOf: URL(fileURLWithPath: copy))) == original)
        }
    }

    @Test("a name that appears twice is not written")
    func duplicate() {
        let one = SafetensorsWriter.Tensor(name: "a", shape: [1], floats: [1])
        #expect(throws: FormatError.duplicate(path: "", name: "a")) {
            _ = try SafetensorsWriter.bytes([one, one], metadata: [:])
        }
    }

    @Test("a file with random bytes is read or refused, and never read beyond its end")
    func noise() throws {
        let path = TestPaths.fixture("formats/adapter.safetensors")
        let sound = try Array(Data(contentsOf: URL(fileURLWithPath: path)).prefix(8192))
        try withFile([]) { copy in
            for seed in UInt32(0)..<1000 {
                var bytes = sound
                let words = AddressedRandom(seed: 12, purpose: .benchmark).block(seed)
                bytes[Int(words.x >> 8) % 1000] = UInt8(truncatingIfNeeded: words.y)
                bytes[8 + Int(words.z >> 8) % 992] = UInt8(ascii: "0") + UInt8(words.w % 10)
                try Data(bytes).write(to: URL(fileURLWithPath: copy))
                do {
                    for view in try SafetensorsFile(path: copy).tensors.values {
                        _ = view.floats()
                    }
                } catch is FormatError {
                    continue
                }
            }
        }
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file.safetensors"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            try body(path)
        }
    }
}
