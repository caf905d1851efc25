import Foundation
import SkeinFormats
import SkeinModels
import SkeinTestSupport

/// What transformers and PEFT make, in float64, of one small model of a family;
/// Tests/Fixtures/families/make_numbers.py made it, those with magnitudes, and those with adapters of the
/// embedding and the head, with transformers 5.23, torch 2.15, peft 0.21.
package struct FamilyNumbers: Decodable, Sendable {
    package struct Tensor: Decodable {
        package let shape: [Int]
        package let offset: Float
        package let scale: Float
    }

    package struct Row: Decodable {
        package let ids: [Int32]
        package let targets: [Int]
    }

    package struct Missing: Error { package let family: String }

    /// config.json.
    package let config: String
    /// Whether the adapter has magnitudes (DoRA).
    package let magnitudes: Bool?
    package let tensors: [String: Tensor]
    package let rank: Int
    package let alpha: Float
    package let rankStabilized: Bool
    package let targets: [String]
    package let rows: [Row]
    package let prompts: [[Int32]]
    package let scoreSpread: Double
    /// Sum over the targets of all rows.
    package let loss: Double
    /// The logits of each row at its last two places.
    package let logits: [[Double]]
    /// The L2 norm of each matrix, and the part along `uniform("probe " + name)`.
    package let gradients: [String: [Double]]
    package let tokens: [[Int32]]

    package static let all: Result<[String: FamilyNumbers], any Error> = Result {
        try ["numbers", "dora", "edges"].reduce(into: [:]) { all, name in
            let url = URL(fileURLWithPath: TestPaths.fixture("families/\(name).json"))
            try all.merge(
                JSONDecoder().decode([String: FamilyNumbers].self, from: Data(contentsOf: url))
            ) { $1 }
        }
    }

    package static func of(_ family: String) throws -> FamilyNumbers {
        guard let numbers = try all.get()[family] else { throw Missing(family: family) }
        return numbers
    }

    /// The names in the file; empty if it cannot be read, which a test notices.
    package static var families: [String] { ((try? all.get()) ?? [:]).keys.sorted() }

    /// Numbers in [-1, 1): Splitmix64 from the name's FNV-1a hash, 24 bits of each word.
    package static func uniform(_ name: String, count: Int) -> [Float] {
        var key: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { key = (key ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (0..<count).map { i in
            var z = key &+ UInt64(i + 1) &* 0x9e37_79b9_7f4a_7c15
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            z ^= z >> 31
            return Float(z >> 40) * 0x1p-23 - 1
        }
    }

    private static func values(_ name: String, _ tensor: Tensor) -> [Float] {
        uniform(name, count: tensor.shape.reduce(1, *)).map { tensor.offset + tensor.scale * $0 }
    }

    /// The model in a folder, opened.
    package func model(in directory: String) throws -> ModelDirectory {
        try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/config.json"))
        try SafetensorsWriter.write(
            tensors.map { name, tensor in
                .init(name: name, shape: tensor.shape, floats: Self.values(name, tensor))
            }, metadata: ["format": "pt"], to: directory + "/model.safetensors")
        return try ModelDirectory.open(directory)
    }

    package func adapter(_ model: ModelConfiguration) throws -> AdapterParameters {
        let divisor = rankStabilized ? Float(rank).squareRoot() : Float(rank)
        let lora = LoRAConfiguration(
            rank: rank, scale: alpha / divisor, dropout: 0,
            targets: targets.compactMap { name in
                model.design.blocks[0].target(module: name)
                    ?? TargetModule.edges.first { $0.name == name }
            },
            layers: 0..<model.layerCount,
            usesMagnitudes: magnitudes ?? false)
        try model.design.check(lora.targets, layers: lora.layers)
        let shape = AdapterShape(lora, model: model)
        let values = shape.layout.entries.flatMap { entry in
            guard entry.shape.count == 2 else {
                return Self.uniform(entry.name, count: entry.count).map { 2 + 0.75 * $0 }
            }
            let scale = Float((0.75 / Double(entry.shape[1])).squareRoot())
            return Self.uniform(entry.name, count: entry.count).map { scale * $0 }
        }
        return AdapterParameters(shape: shape, values: values)
    }

    /// The rows as one batch.
    package var batch: PackedBatch {
        PackedBatch(
            rows.enumerated().map { number, row in
                let targets = Set(row.targets)
                return .init(
                    tokens: row.ids, isTarget: row.ids.indices.map(targets.contains),
                    number: UInt32(number))
            })
    }
}
