import SkeinFormats
import SkeinTensors
import Testing

@testable import SkeinModels

/// The made-up model by which two machines compare what they compute.
@Suite struct ProbeModelTests {
    private func probe(_ model: ModelConfiguration) -> ProbeModel {
        ProbeModel(like: model, path: "probe")
    }

    @Test(
        "every family has one that its decoder computes, with each kind of its blocks",
        arguments: FamilyGolden.all, [ComputeType.fp32, .bf16])
    func families(golden: FamilyGolden, compute: ComputeType) throws {
        let model = try golden.folder()
        let probe = probe(model)
        try Engine.check(probe.configuration, of: "probe")
        let kinds = model.design.blocks.reduce(into: [BlockDesign]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        #expect(probe.configuration.layerCount == kinds.count)
        #expect(probe.configuration.headDimension == model.headDimension)
        for (own, kind) in zip(probe.configuration.design.blocks, kinds) {
            #expect(own.norms == kind.norms && own.headNorms == kind.headNorms)
            #expect(own.activation == kind.activation)
            #expect((own.window == nil) == (kind.window == nil))
            #expect((own.window ?? 1) < ProbeModel.positions / 2)
        }
        let shape = AdapterShape(
            LoRAConfiguration(
                rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases,
                layers: 0..<kinds.count), model: probe.configuration)
        let decoder = Decoder(
            weights: try DecoderWeights(
                model: probe, residence: .resident, compute: compute,
                positions: ProbeModel.positions, threads: 1), adapter: shape)
        let tokens = (0..<ProbeModel.positions).map { Int32($0 * 7 % 320) }
        let batch = PackedBatch([
            PackedBatch.Sequence(
                tokens: tokens, isTarget: tokens.indices.map { $0 > 2 }, number: 1)
        ])
        let parameters = AdapterParameters(shape: shape, seed: 1).values.map { $0 + 0.01 }
        var gradient = [Float](repeating: .nan, count: parameters.count)
        let loss = gradient.withUnsafeMutableBufferPointer { gradient in
            gradient.baseAddress.map { out in
                decoder.gradient(
                    of: batch, parameters: parameters, dropout: nil,
                    workspace: DecoderWorkspace(), into: out)
            }
        }
        let mean = (loss?.lossSum ?? .nan) / Double(tokens.count - 3)
        #expect(mean > 1 && mean < 30)
        #expect(gradient.allSatisfy { $0.isFinite })
        // Every matrix of the adapter has its part in the answer.
        for entry in shape.layout.entries {
            let part = gradient[entry.offset..<(entry.offset + entry.shape.reduce(1, *))]
            #expect(part.contains { $0 != 0 }, "\(entry.name)")
        }
    }
}
