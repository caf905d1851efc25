import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Widths at which rows would be 4 KiB apart in memory, in fp32 and in bf16: the copies that are
/// made there must still give the gradient.
@Suite struct WideModelTests {
    private static let lora = LoRAConfiguration(
        rank: 3, scale: 2, dropout: 0.1, targets: TargetModule.allCases, layers: 0..<1)

    private static var model: TinyModel {
        var tiny = TinyModel()
        tiny.width = 1024
        tiny.feedForwardWidth = 2048
        tiny.layerCount = 1
        tiny.headCount = 8
        return tiny
    }

    /// One micro-batch of a wide model.
    private struct Pass {
        let decoder: Decoder
        let shape: AdapterShape
        let batch = TinyDecoder.batch([40, 7])
        let workspace = DecoderWorkspace()

        init(_ compute: ComputeType) throws {
            let weights = try TinyDecoder.weights(WideModelTests.model, compute: compute)
            shape = AdapterShape(WideModelTests.lora, model: weights.configuration)
            decoder = Decoder(weights: weights, adapter: shape)
        }

        func gradient(at point: [Float]) -> (loss: Double, gradient: [Float]) {
            var gradient = [Float](repeating: .nan, count: point.count)
            let loss = decoder.gradient(
                of: batch, parameters: point,
                dropout: Decoder.DropoutAddress(
                    dropout: Dropout(probability: 0.1, seed: 9), step: 4),
                workspace: workspace, into: &gradient)
            return (loss.lossSum, gradient)
        }
    }

    @Test("in fp32 the loss's slope along each matrix's gradient is the gradient's norm")
    func single() throws {
        let pass = try Pass(.fp32)
        let parameters = TinyDecoder.parameters(pass.shape)
        let gradient = pass.gradient(at: parameters).gradient
        for entry in pass.shape.layout.entries {
            let range = entry.offset..<entry.offset + entry.count
            let norm = range.reduce(0.0) { $0 + Double(gradient[$1]) * Double(gradient[$1]) }
                .squareRoot()
            try #require(norm > 0)
            func loss(_ distance: Double) -> Double {
                var point = parameters
                for i in range { point[i] += Float(distance / norm) * gradient[i] }
                return pass.gradient(at: point).loss
            }
            let step = 0.01
            let slope = (loss(step) - loss(-step)) / (2 * step)
            #expect(abs(slope - norm) < 0.01 * norm, "\(entry.name): \(slope) of \(norm)")
        }
    }

    @Test("in bf16 the gradient is near to that of fp32")
    func rounded() throws {
        let (single, rounded) = (try Pass(.fp32), try Pass(.bf16))
        let parameters = TinyDecoder.parameters(single.shape)
        let (wanted, found) = (single.gradient(at: parameters), rounded.gradient(at: parameters))
        #expect(abs(found.loss - wanted.loss) < 5e-3 * wanted.loss)
        for entry in single.shape.layout.entries {
            let range = entry.offset..<entry.offset + entry.count
            let error = CentralDifference.relativeError(
                found.gradient[range].map(Double.init), wanted.gradient[range].map(Double.init))
            #expect(error < 0.05, "\(entry.name): relative L2 error \(error)")
        }
    }
}
