import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct FusedExportTests {
    /// Llama's blocks over Phi-3's two fused modules.
    struct Fused: ModelFamily {
        let modelTypes = ["fused"]
        let gguf: GGUFLayout? = nil

        func design(of model: ModelConfiguration) -> DecoderDesign {
            var design = Llama().design(of: model)
            for layer in design.blocks.indices {
                var next: [String: Int] = [:]
                for i in design.blocks[layer].projections.indices {
                    let module = design.blocks[layer].projections[i].module
                    let tensor: String
                    switch module {
                    case .query, .key, .value: tensor = "self_attn.qkv_proj"
                    case .gate, .up: tensor = "mlp.gate_up_proj"
                    default: continue
                    }
                    let first = next[tensor, default: 0]
                    let end = first + design.blocks[layer].projections[i].outputs
                    next[tensor] = end
                    design.blocks[layer].projections[i].tensor = tensor
                    design.blocks[layer].projections[i].rows = first..<end
                }
            }
            return design
        }
    }

    static let model = ModelConfiguration(
        architecture: "fused", vocabularySize: 320, width: 12, feedForwardWidth: 10,
        layerCount: 2, headCount: 4, keyValueHeadCount: 2, headDimension: 4, contextLength: 64,
        normEpsilon: 1e-5, ropeTheta: 10_000, ropeFrequencyDivisors: nil, tiedEmbeddings: true,
        family: Fused())

    private func shape(_ targets: [TargetModule], layers: Range<Int> = 0..<2) -> AdapterShape {
        AdapterShape(
            LoRAConfiguration(rank: 2, scale: 1.5, dropout: 0, targets: targets, layers: layers),
            model: Self.model)
    }

    @Test("a fused module has one pair of matrices, whose slices share A")
    func fused() {
        let shape = shape([.queryKeyValue, .down])
        #expect(
            shape.layout.entries.prefix(4).map { "\($0.name.split(separator: ".")[6]) \($0.shape)" }
                == [
                    "qkv_proj [2, 12]", "qkv_proj [32, 2]", "down_proj [2, 10]",
                    "down_proj [12, 2]",
                ])
        let pairs = shape.pairs[1].compactMap { $0 }
        #expect(pairs.map(\.module) == [.query, .key, .value, .down])
        #expect(pairs.map(\.sharesA) == [false, true, true, false])
        #expect(Set(pairs[..<3].map(\.a)).count == 1 && Set(pairs[..<3].map(\.address)) == [0])
        #expect(pairs[1].b - pairs[0].b == 16 * 2 && pairs[2].b - pairs[1].b == 8 * 2)
        #expect(FusedExport(shape, model: Self.model) == nil)
    }

    @Test(
        "adapters of slices become one of the module with the same product, and come back",
        arguments: [
            [TargetModule.query, .value], [.query, .key, .value, .output, .gate, .up, .down],
            [.up, .down], [.key], [.query, .gateUp], [.key, .value, .down, .gateUp],
            [.queryKeyValue, .gate, .up], [.query, .embedding, .head], [.key, .value, .head],
        ])
    func slices(targets: [TargetModule]) throws {
        for layers in [0..<2, 1..<2] {
            let own = shape(targets, layers: layers)
            let values = CentralDifference.numbers(own.layout.count, seed: 3, stream: 0)
            let export = try #require(FusedExport(own, model: Self.model))
            let written = export.exported(values)
            for layer in layers {
                for (index, pair) in own.pairs[layer].enumerated() {
                    guard let module = export.shape.pairs[layer][index] else {
                        #expect(pair == nil)
                        continue
                    }
                    let found = product(written, module, rank: export.shape.configuration.rank)
                    let expected =
                        pair.map { product(values, $0, rank: 2) }
                        ?? [Float](repeating: 0, count: found.count)
                    #expect(found == expected)
                }
            }
            for (pair, module) in zip(own.edges, export.shape.edges) {
                #expect(
                    product(written, module, rank: export.shape.configuration.rank)
                        == product(values, pair, rank: 2))
            }
            #expect(own.edges.map(\.module) == export.shape.edges.map(\.module))
            #expect(try export.restored(written) == values)
            var mixed = written
            let spare = try #require(written.firstIndex(of: 0) ?? written.indices.last)
            if written[spare] == 0 {
                mixed[spare] = 1
                #expect(throws: AdapterError.notBlockDiagonal) { try export.restored(mixed) }
            }
        }
    }

    @Test("slices that have one A become their module again, in the layers where they all do")
    func joined() throws {
        let whole = shape([.queryKeyValue, .gateUp, .down])
        let values = CentralDifference.numbers(whole.layout.count, seed: 4, stream: 0)
        let slices = shape([.query, .key, .value, .gate, .up, .down])
        var apart = [Float](repeating: 0, count: slices.layout.count)
        for (own, other) in zip(whole.pairs.joined(), slices.pairs.joined()) {
            guard let own, let other else { continue }
            for i in 0..<(2 * own.inputs) { apart[other.a + i] = values[own.a + i] }
            for i in 0..<(2 * own.outputs) { apart[other.b + i] = values[own.b + i] }
        }
        let back = AdapterParameters(shape: slices, values: apart)
            .joiningSlices(of: Self.model)
        #expect(back.shape == whole && back.values == values)
        // Another A of one slice in one layer: that module stays apart there.
        let key = try #require(slices.pair(.key, in: 1))
        apart[key.a] += 1
        let partly = AdapterParameters(shape: slices, values: apart).joiningSlices(of: Self.model)
        #expect(
            partly.weights.map { $0.name.split(separator: ".")[4] } == [
                "qkv_proj", "gate_up_proj", "down_proj", "q_proj", "k_proj", "v_proj",
                "gate_up_proj",
                "down_proj",
            ])
    }

    /// B A of one slice.
    private func product(_ values: [Float], _ pair: AdapterShape.Pair, rank: Int) -> [Float] {
        var out = [Float](repeating: 0, count: pair.outputs * pair.inputs)
        for row in 0..<pair.outputs {
            for column in 0..<pair.inputs {
                for r in 0..<rank {
                    out[row * pair.inputs + column] +=
                        values[pair.b + row * rank + r] * values[pair.a + r * pair.inputs + column]
                }
            }
        }
        return out
    }
}
