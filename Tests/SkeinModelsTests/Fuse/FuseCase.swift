import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// A small random model of a family, an adapter for it, and the matrices that both are.
struct FuseCase {
    let model: ModelDirectory
    let adapter: AdapterParameters

    /// Writes a folder with the configuration of a golden and random weights.
    static func folder(
        _ golden: FamilyGolden, in directory: String, setting fields: [String: Any] = [:]
    ) throws -> ModelDirectory {
        try AtomicFile.makeDirectory(directory)
        let configuration = try golden.configuration().merging(fields) { $1 }
        try AtomicFile.write(
            Array(JSONSerialization.data(withJSONObject: configuration)),
            to: directory + "/config.json")
        let shapes = try golden.folder().requiredTensors
        try SafetensorsWriter.write(
            TinyModel().weights(shapes.map { ($0.name, $0.shape) }).map {
                SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats)
            }, metadata: ["format": "pt"], to: directory + "/model.safetensors")
        return try ModelDirectory.open(directory)
    }

    /// - Parameters:
    ///   - model: the base.
    ///   - targets: nil for all, slices of fused modules each with matrices of their own.
    init(_ model: ModelDirectory, targets: [TargetModule]? = nil) {
        self.model = model
        let targets = targets ?? TargetModule.allCases
        var others: [LoRAConfiguration.Place: LoRAConfiguration.Strength?] = [:]
        // One module has a rank and a scale of its own, as PEFT's patterns give it.
        if targets.contains(.down) {
            others[.init(layer: 0, module: .down)] = .init(rank: 2, scale: 0.25)
        }
        let shape = AdapterShape(
            LoRAConfiguration(
                rank: 3, scale: 1.5, dropout: 0, targets: targets,
                layers: 0..<model.configuration.layerCount, exceptions: others),
            model: model.configuration)
        adapter = AdapterParameters(shape: shape, values: TinyDecoder.parameters(shape))
    }

    /// Runs `body` on a case of the whole list.
    var input: FuseInput {
        get throws { try FuseInput(model: model, adapter: adapter) }
    }

    /// The numbers of each vector and projection by a name of their own, whatever the files' names,
    /// as the model computes with them: norms with what is added to them.
    static func numbers(
        _ model: ModelDirectory, _ adapter: AdapterParameters? = nil
    ) throws -> [String: [Float]] {
        let configuration = model.configuration
        let design = configuration.design
        var numbers: [String: [Float]] = [:]
        func norm(_ name: String) throws -> [Float] {
            try model.tensor(name + ".weight").floats().map { $0 + design.normOffset }
        }
        var embedding = try model.tensor(design.names.embedding).floats()
        if let adapter, let pair = adapter.shape.embedding {
            add(pair, adapter, to: &embedding, isTransposed: true)
        }
        numbers["embedding"] = embedding
        numbers["norm"] = try model.tensor(design.names.finalNorm).floats().map {
            $0 + design.normOffset
        }
        if !configuration.tiedEmbeddings {
            var head = try model.tensor(design.names.head).floats()
            if let adapter, let pair = adapter.shape.head { add(pair, adapter, to: &head) }
            numbers["head"] = head
        }
        for (layer, block) in design.blocks.enumerated() {
            let headNorms = block.headNorms.map { [$0.query, $0.key] } ?? []
            for (place, name) in (block.norms.names + headNorms).enumerated() {
                numbers["\(layer) norm \(place)"] = try norm(design.tensor(name, in: layer))
            }
            for projection in block.projections {
                let view = try model.tensor(design.tensor(projection.name + ".weight", in: layer))
                var floats = view.floats()
                if let adapter, let pair = adapter.shape.pair(projection.module, in: layer) {
                    add(pair, adapter, to: &floats)
                }
                numbers["\(layer) \(projection.module.name)"] = floats
                guard projection.hasBias else { continue }
                let bias = try model.tensor(design.tensor(projection.tensor + ".bias", in: layer))
                let rows = projection.rows ?? 0..<projection.outputs
                numbers["\(layer) \(projection.module.name) bias"] = Array(bias.floats()[rows])
            }
        }
        return numbers
    }

    private static func add(
        _ pair: AdapterShape.Pair, _ adapter: AdapterParameters, to floats: inout [Float],
        isTransposed: Bool = false
    ) {
        let (rank, scale) = (pair.rank, pair.scale)
        for row in 0..<pair.outputs {
            for column in 0..<pair.inputs {
                var sum = 0.0
                for k in 0..<rank {
                    let a = Double(adapter.values[pair.a + k * pair.inputs + column])
                    let b = Double(adapter.values[pair.b + row * rank + k])
                    // The factor goes where the product takes it, so that sums round alike.
                    sum +=
                        isTransposed
                        ? Double(scale) * a * b : Double(scale) * b * a
                }
                let index =
                    isTransposed
                    ? column * pair.outputs + row : row * pair.inputs + column
                floats[index] = Float(Double(floats[index]) + sum)
            }
        }
    }

    /// The first name under which both differ by more than `tolerance`, with the difference.
    static func difference(
        _ found: [String: [Float]], _ expected: [String: [Float]], tolerance: Float = 0
    ) -> String? {
        if Set(found.keys) != Set(expected.keys) { return "other tensors" }
        for (name, numbers) in expected.sorted(by: { $0.key < $1.key }) {
            guard let others = found[name], others.count == numbers.count else { return name }
            let worst = zip(numbers, others).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
            // Norms of Gemma are 1 + w in one file and w in the other.
            if !(worst <= (name.contains("norm") ? max(tolerance, 1e-6) : tolerance)) {
                return "\(name): \(worst)"
            }
        }
        return nil
    }
}
