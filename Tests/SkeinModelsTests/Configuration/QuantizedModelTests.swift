import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Folders with quantized weights: mlx-lm's, bitsandbytes' and FP8.
@Suite struct QuantizedModelTests {
    private static let folders = ["mlx", "nf4", "fp8"]

    private func open(_ name: String) throws -> ModelDirectory {
        try ModelDirectory.open(TestPaths.fixture("quantized/\(name)"))
    }

    @Test("every weight has the reference's numbers", arguments: folders)
    func weights(name: String) throws {
        let model = try open(name)
        let path = TestPaths.fixture("quantized/\(name)/expected.json")
        let expected = try JSONDecoder().decode(
            [String: String].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(Set(expected.keys) == Set(model.configuration.requiredTensors.map(\.name)))
        for (name, digest) in expected {
            let floats = try model.tensor(name).floats()
            let found = floats.withUnsafeBytes { SHA256.digest(of: Array($0)) }
            #expect(found.description == digest, "\(name)")
        }
    }

    @Test("resident and streamed weights give the same bits", arguments: folders)
    func residence(name: String) throws {
        let model = try open(name)
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<1)
        let shape = AdapterShape(lora, model: model.configuration)
        let batch = TinyDecoder.batch([20, 7, 31], vocabulary: 96)
        for compute in ComputeType.allCases {
            let results = try [WeightResidence.resident, .streamed].map { residence in
                let decoder = Decoder(
                    weights: try DecoderWeights(
                        model: model, residence: residence, compute: compute, positions: 64,
                        threads: 2), adapter: shape)
                var gradient = [Float](repeating: .nan, count: shape.layout.count)
                let loss = decoder.gradient(
                    of: batch, parameters: TinyDecoder.parameters(shape), dropout: nil,
                    workspace: DecoderWorkspace(), into: &gradient)
                #expect(gradient.allSatisfy { $0.isFinite })
                return (loss.lossSum, gradient)
            }
            #expect(results[0] == results[1])
        }
    }

    @Test("generation has the training decoder's logits", arguments: folders)
    func generation(name: String) throws {
        let model = try open(name)
        let team = ComputeTeam(threadCount: 2)
        let weights = try GenerationWeights(model: model, team: team)
        let session = DecoderSession(weights: weights, adapter: nil, capacity: 40, team: team)
        let tokens = (0..<30).map { (i: Int) -> Int32 in Int32((i * 37 + 5) % 96) }
        let logits = session.logits(after: tokens).map(Double.init)
        let decoder = Decoder(
            weights: try DecoderWeights(
                model: model, residence: .resident, positions: 64, threads: 1), adapter: nil)
        for target in [0, 7, 95] {
            let row = PackedBatch.Sequence(
                tokens: tokens + [Int32(target)],
                isTarget: [Bool](repeating: false, count: 30) + [true], number: 0)
            let expected = decoder.loss(
                of: PackedBatch([row]), parameters: nil, workspace: DecoderWorkspace()
            ).lossSum
            let most = logits.max() ?? 0
            let loss = log(logits.reduce(0) { $0 + exp($1 - most) }) - (logits[target] - most)
            #expect(abs(loss - expected) < 2e-5 * expected)
        }
        // Weights that are 16-bit numbers are kept as such.
        if name != "fp8" { #expect(weights.embedding.byteCount == 96 * 128 * 2) }
    }

    @Test("codes without a configuration that explains them are named")
    func unexplained() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let fixture = TestPaths.fixture("quantized/fp8")
            for name in ["config.json", "model.safetensors"] {
                try FileManager.default.copyItem(
                    atPath: "\(fixture)/\(name)", toPath: "\(directory)/\(name)")
            }
            let path = directory + "/config.json"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try AtomicFile.write(
                text.replacingOccurrences(of: "quantization_config", with: "no_config"), to: path)
            #expect(
                throws: FormatError.unsupportedElementType(
                    path: directory, tensor: "model.layers.0.self_attn.q_proj.weight",
                    found: "F8_E4M3")
            ) { _ = try ModelDirectory.open(directory) }
        }
    }
}
