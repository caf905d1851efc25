import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// The whole hand-written backward pass against central differences of the loss.
@Suite struct GradientTests {
    private func check(
        _ lora: LoRAConfiguration, dropout: Float = 0, tiny: TinyModel = TinyModel()
    ) throws {
        let weights = try TinyDecoder.weights(tiny)
        let shape = AdapterShape(lora, model: weights.configuration)
        let decoder = Decoder(weights: weights, adapter: shape)
        let batch = TinyDecoder.batch([9, 5, 14])
        let parameters = TinyDecoder.parameters(shape)
        let workspace = DecoderWorkspace()
        let address =
            dropout > 0
            ? Decoder.DropoutAddress(dropout: Dropout(probability: dropout, seed: 1), step: 3) : nil
        var gradient = [Float](repeating: .nan, count: parameters.count)
        _ = decoder.gradient(
            of: batch, parameters: parameters, dropout: address, workspace: workspace,
            into: &gradient)
        var scratch = gradient
        for entry in shape.layout.entries {
            let spaced = stride(
                from: entry.offset, to: entry.offset + entry.count, by: max(1, entry.count / 12))
            let numeric = CentralDifference.gradient(
                at: parameters, indices: Array(spaced), step: 1e-2
            ) { point in
                // The training pass, so that the same masks are drawn.
                decoder.gradient(
                    of: batch, parameters: point, dropout: address, workspace: workspace,
                    into: &scratch
                ).lossSum
            }
            let own = spaced.map { Double(gradient[$0]) }
            let error = CentralDifference.relativeError(own, numeric)
            #expect(error < 5e-3, "\(entry.name): \(error)")
        }
    }

    @Test("every matrix of all seven projections has the gradient of the loss")
    func allTargets() throws {
        try check(
            LoRAConfiguration(
                rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2))
    }

    @Test("modules with ranks and scales of their own have gradients, too")
    func uneven() throws {
        try check(
            LoRAConfiguration(
                rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2,
                exceptions: [
                    .init(layer: 0, module: .query): .init(rank: 1, scale: 0.5),
                    .init(layer: 0, module: .gate): nil,
                    .init(layer: 1, module: .output): nil,
                    .init(layer: 1, module: .down): .init(rank: 5, scale: 1),
                    .init(layer: 1, module: .value): .init(rank: 4, scale: 2),
                ]))
    }

    @Test("the gradient holds under dropout", arguments: [Float(0.1), 0.5])
    func dropout(probability: Float) throws {
        try check(
            LoRAConfiguration(
                rank: 3, scale: 1, dropout: probability, targets: TargetModule.allCases,
                layers: 0..<2),
            dropout: probability)
    }

    @Test("backward may stop at any layer and projection", arguments: TargetModule.allCases)
    func lowest(module: TargetModule) throws {
        try check(
            LoRAConfiguration(rank: 2, scale: 1, dropout: 0, targets: [module], layers: 1..<2))
        try check(
            LoRAConfiguration(
                rank: 2, scale: 1, dropout: 0, targets: Array(Set([module, .output])),
                layers: 0..<2))
    }

    @Test(
        "heads that together are wider or narrower than the model have gradients, too",
        arguments: TinyModel.otherHeads)
    func otherHeads(tiny: TinyModel) throws {
        try check(
            LoRAConfiguration(
                rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2),
            tiny: tiny)
    }

    @Test("one head for all queries and a head of its own have gradients, too")
    func otherShapes() throws {
        var tiny = TinyModel()
        tiny.keyValueHeadCount = 1
        tiny.tiedEmbeddings = false
        try check(
            LoRAConfiguration(
                rank: 2, scale: 1, dropout: 0, targets: [.query, .key, .value], layers: 0..<2),
            tiny: tiny)
    }
}
