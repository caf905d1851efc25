import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// What transformers and llama.cpp's conversion say of a small model of each family;
/// Tests/Fixtures/families/make.py made them.
struct FamilyGolden: Sendable, CustomTestStringConvertible {
    struct Rotation: Decodable {
        let inverse: [Float]
        let factor: Float
    }

    /// A value with its GGUF type.
    struct Value: Decodable {
        let u: UInt32?
        let f: Float?
        let s: String?
        let b: [Bool]?

        var value: GGUFImage.Value {
            if let u { return .uint32(u) }
            if let f { return .float32(f) }
            if let b { return .bools(b) }
            return .string(s ?? "")
        }
    }

    struct Metadata: Decodable {
        let metadata: [String: Value]
        let divisors: [String: [Float]]
        let shapes: [String: [Int]]
        /// The file's names of tensors by the folder's: of block 3, and outside of the blocks.
        let names: [String: String]
    }

    struct Parts: Decodable {
        let tensors: [String: [Int]]
        let rotations: [String: Rotation]
        let gguf: Metadata
    }

    let name: String
    var testDescription: String { name }

    static let all = [
        "llama", "qwen2", "qwen2-windows", "qwen3", "smollm3", "granite", "granitemoehybrid",
        "mistral", "ministral3", "olmo2", "olmo3", "gemma2", "gemma3_text", "gemma3", "mistral3",
        "phi3", "phi3-long",
    ].map { FamilyGolden(name: $0) }

    private static let file = TestPaths.fixture("families/families.json")

    func parts() throws -> Parts {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.file))
        let all = try JSONDecoder().decode([String: Parts].self, from: data)
        guard let parts = all[name] else { throw FormatError.notFound(path: name) }
        return parts
    }

    /// config.json as an object.
    func configuration() throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.file))
        let all = try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]]
        return all?[name]?["config"] as? [String: Any] ?? [:]
    }

    /// The configuration that is read from config.json after a change.
    func folder(
        changing change: (inout [String: Any]) -> Void = { _ in }
    ) throws -> ModelConfiguration {
        var fields = try configuration()
        change(&fields)
        return try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(
                Array(JSONSerialization.data(withJSONObject: fields)),
                to: directory + "/config.json")
            return try FamilyRegistry.standard.read(ModelDescription.open(directory)).configuration
        }
    }

    /// The GGUF file's metadata, and small tensors whose presence it depends on.
    func image() throws -> GGUFImage {
        let gguf = try parts().gguf
        var image = GGUFImage()
        image.metadata = gguf.metadata.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: $0.value.value) }
        for (name, floats) in gguf.divisors.sorted(by: { $0.key < $1.key }) {
            image.tensors.append(tensor(name, [UInt64(floats.count)], floats: floats))
        }
        for (name, shape) in gguf.shapes.sorted(by: { $0.key < $1.key }) {
            image.tensors.append(
                tensor(
                    name, shape.reversed().map { UInt64($0) },
                    floats: [Float](repeating: 0, count: shape.reduce(1, *))))
        }
        return image
    }

    /// The family that reads the GGUF file.
    func family() throws -> any ModelFamily {
        let image = try image()
        return try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            return try FamilyRegistry.standard.read(
                ModelDescription.open(directory + "/tiny.gguf")
            ).family
        }
    }

    /// The configuration that is read from GGUF metadata after a change.
    func gguf(changing change: (inout GGUFImage) -> Void = { _ in }) throws -> ModelConfiguration {
        var image = try image()
        change(&image)
        return try Self.read(image)
    }

    static func read(_ image: GGUFImage) throws -> ModelConfiguration {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            return try FamilyRegistry.standard.read(ModelDescription.open(directory + "/tiny.gguf"))
                .configuration
        }
    }
}

extension GGUFImage {
    /// Sets a key, or removes it; `name` without the architecture.
    mutating func set(_ name: String, _ value: Value?) {
        var architecture = ""
        for entry in metadata {
            if entry.key == "general.architecture", case .string(let name) = entry.value {
                architecture = name
            }
        }
        metadata.removeAll { $0.key == "\(architecture).\(name)" }
        if let value { metadata.append((key: "\(architecture).\(name)", value: value)) }
    }
}
