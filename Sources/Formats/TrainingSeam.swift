// A minimal stand-in for the parts of this room that Training writes checkpoints with, so that
// Training compiles and its tests run before the real ones are merged. Not to be merged.
import Basics
import Foundation

public struct TensorView: Sendable {
    public let name: String
    public let shape: [Int]
    let file: MappedFile
    let range: Range<Int>

    public func floats() -> [Float] {
        file.withBytes {
            UnsafeRawBufferPointer(rebasing: $0[range]).withMemoryRebound(to: Float.self) {
                Array($0)
            }
        }
    }
}

public struct SafetensorsFile: Sendable {
    public let tensors: [String: TensorView]

    public init(path: String) throws {
        let file = try MappedFile(path: path)
        guard file.count >= 8 else {
            throw FileError.shortRead(path: path, expected: 8, found: file.count)
        }
        let header = file.withBytes { Int($0.loadUnaligned(as: UInt64.self)) }
        let object = try JSONSerialization.jsonObject(
            with: file.withBytes { Data($0[8..<(8 + header)]) })
        var tensors: [String: TensorView] = [:]
        for (name, value) in object as? [String: Any] ?? [:] where name != "__metadata__" {
            guard let fields = value as? [String: Any], let shape = fields["shape"] as? [Int],
                let offsets = fields["data_offsets"] as? [Int]
            else { continue }
            tensors[name] = TensorView(
                name: name, shape: shape, file: file,
                range: (8 + header + offsets[0])..<(8 + header + offsets[1]))
        }
        self.tensors = tensors
    }
}

public enum SafetensorsWriter {
    public struct Tensor {
        let name: String
        let shape: [Int]
        let floats: [Float]

        public init(name: String, shape: [Int], floats: [Float]) {
            self.name = name
            self.shape = shape
            self.floats = floats
        }
    }

    public static func write(
        _ tensors: [Tensor], metadata: [String: String], to path: String
    ) throws {
        var offset = 0
        var fields: [JSONLine.Field] = [
            ("__metadata__", .object(metadata.sorted { $0.key < $1.key }.map { ($0, .string($1)) }))
        ]
        var payload: [UInt8] = []
        for tensor in tensors.sorted(by: { $0.name < $1.name }) {
            let end = offset + 4 * tensor.floats.count
            fields.append(
                (
                    tensor.name,
                    .object([
                        ("dtype", .string("F32")),
                        ("shape", .array(tensor.shape.map { .integer($0) })),
                        ("data_offsets", .array([.integer(offset), .integer(end)])),
                    ])
                ))
            offset = end
            tensor.floats.withUnsafeBytes { payload += $0 }
        }
        var header = Array(JSONLine(fields).text.utf8)
        while header.count % 8 != 0 { header.append(0x20) }
        let length = withUnsafeBytes(of: UInt64(header.count).littleEndian) { Array($0) }
        try AtomicFile.write(length + header + payload, to: path)
    }
}

public struct AdapterConfiguration: Sendable, Equatable {
    public var rank: Int
    public var alpha: Double
    public var dropout: Double
    public var targetModules: [String]
    public var layersToTransform: [Int]?
    public var baseModelName: String
    public var usesRankStabilizedScale: Bool

    public init(
        rank: Int, alpha: Double, dropout: Double, targetModules: [String],
        layersToTransform: [Int]?, baseModelName: String, usesRankStabilizedScale: Bool
    ) {
        self.rank = rank
        self.alpha = alpha
        self.dropout = dropout
        self.targetModules = targetModules
        self.layersToTransform = layersToTransform
        self.baseModelName = baseModelName
        self.usesRankStabilizedScale = usesRankStabilizedScale
    }
}

public struct AdapterFiles: Sendable {
    public let configuration: AdapterConfiguration
    public let tensors: [String: TensorView]

    public static func read(_ directory: String) throws -> AdapterFiles {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory + "/adapter_config.json"))
        let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] ?? [:]
        return AdapterFiles(
            configuration: AdapterConfiguration(
                rank: object["r"] as? Int ?? 0, alpha: object["lora_alpha"] as? Double ?? 0,
                dropout: object["lora_dropout"] as? Double ?? 0,
                targetModules: object["target_modules"] as? [String] ?? [],
                layersToTransform: object["layers_to_transform"] as? [Int],
                baseModelName: object["base_model_name_or_path"] as? String ?? "",
                usesRankStabilizedScale: object["use_rslora"] as? Bool ?? false),
            tensors: try SafetensorsFile(path: directory + "/adapter_model.safetensors").tensors)
    }

    public static func write(
        configuration: AdapterConfiguration, tensors: [SafetensorsWriter.Tensor],
        to directory: String
    ) throws {
        let line = JSONLine([
            ("r", .integer(configuration.rank)), ("lora_alpha", .number(configuration.alpha)),
            ("lora_dropout", .number(configuration.dropout)),
            ("target_modules", .array(configuration.targetModules.map { .string($0) })),
            (
                "layers_to_transform",
                configuration.layersToTransform.map { .array($0.map { .integer($0) }) } ?? .null
            ),
            ("base_model_name_or_path", .string(configuration.baseModelName)),
            ("use_rslora", .bool(configuration.usesRankStabilizedScale)),
        ])
        try AtomicFile.write(line.text, to: directory + "/adapter_config.json")
        try SafetensorsWriter.write(
            tensors, metadata: ["format": "pt"], to: directory + "/adapter_model.safetensors")
    }
}
