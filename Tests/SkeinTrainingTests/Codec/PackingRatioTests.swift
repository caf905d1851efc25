import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// How much smaller packing makes real gradients.
@Suite struct PackingRatioTests {
    /// The gradients of SmolLM2-135M's B matrices over a batch of step 0, from PyTorch. B is zero
    /// there, so A has no gradient; gradients of later steps are much like these numbers.
    private func gradient() throws -> [Float] {
        let file = try SafetensorsFile(
            path: TestPaths.fixture("reference/grads_step0_lora_B.safetensors"))
        return file.tensors.keys.sorted().flatMap { file.tensors[$0]?.floats() ?? [] }
    }

    @Test(
        "packed gradients of a real model are small enough",
        arguments: [(GradientCodec.fp32, 1.12), (.bf16, 2.5), (.int8, 3.9)])
    func ratio(codec: GradientCodec, bar: Double) throws {
        var gradient = try gradient()
        let bytes = codec.pack(&gradient, seed: 0, step: 1, microBatch: 0)
        let ratio = Double(4 * gradient.count) / Double(bytes.count)
        print("packing: \(codec) \(gradient.count) numbers, ratio \(ratio)")
        #expect(ratio >= bar)
        #expect(try codec.unpack(bytes, count: gradient.count) == gradient)
    }

    @Test("a million numbers unpack to the rounded numbers", arguments: GradientCodec.allCases)
    func whole(codec: GradientCodec) throws {
        let some = try gradient()
        var rounded = (0..<921_600).map { some[$0 % some.count] }
        var packed = rounded
        let bytes = codec.pack(&packed, seed: 0, step: 1, microBatch: 0)
        codec.round(&rounded, seed: 0, step: 1, microBatch: 0)
        #expect(try codec.unpack(bytes, count: 921_600) == rounded)
    }
}
