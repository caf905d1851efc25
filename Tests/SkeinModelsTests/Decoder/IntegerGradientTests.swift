import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Loss and gradients of whole passes in int8 beside a model in float64 that quantizes in the same way;
/// Tests/Fixtures/int8/make.py made it (torch 2.15, numpy 2.4).
///
/// A number that fp32 rounds to one integer and float64 to the next would move a gradient by 1e-4. There is
/// none: make.py says which weights and rows see to that. As int8 has the same bits everywhere, a
/// processor cannot bring one back.
@Suite struct IntegerGradientTests {
    private struct Golden: Decodable {
        /// config.json.
        let config: String
        let shapes: [String: [Int]]
        let rank: Int
        let alpha: Float
        let rows: [FamilyNumbers.Row]
        let loss: Double

        static func read() throws -> Golden {
            let url = URL(fileURLWithPath: TestPaths.fixture("int8/numbers.json"))
            return try JSONDecoder().decode(Golden.self, from: Data(contentsOf: url))
        }

        /// make.py has the same two functions.
        private static func values(_ name: String, _ shape: [Int]) -> [Float] {
            let uniform = FamilyNumbers.uniform(name, count: shape.reduce(1, *))
            guard shape.count == 2 else { return uniform.map { 1 + 0.5 * $0 } }
            return uniform.enumerated().map { place, number in
                let even = 2 * (62 * Double(number)).rounded(.towardZero)
                let odd = isOdd(place / shape[1], place % shape[1], shape) ? 1.0 : 0
                return Float((even + odd) * 0x1p-10)
            }
        }

        private static func isOdd(_ row: Int, _ column: Int, _ shape: [Int]) -> Bool {
            let (i, j) = (row % 64, column % 64)
            return i == j || (i == 0 && j >= min(64, shape[0] - (row - i)))
                || (j == 0 && i >= min(64, shape[1] - (column - j)))
        }

        func model(in directory: String) throws -> ModelDirectory {
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/config.json"))
            try SafetensorsWriter.write(
                shapes.map { name, shape in
                    .init(name: name, shape: shape, floats: Self.values(name, shape))
                }, metadata: ["format": "pt"], to: directory + "/model.safetensors")
            return try ModelDirectory.open(directory)
        }

        func shape(_ model: ModelConfiguration) -> AdapterShape {
            AdapterShape(
                LoRAConfiguration(
                    rank: rank, scale: alpha / Float(rank), dropout: 0,
                    targets: TargetModule.allCases, layers: 0..<model.layerCount), model: model)
        }

        func parameters(_ shape: AdapterShape) -> [Float] {
            shape.layout.entries.flatMap { entry in
                FamilyNumbers.uniform(entry.name, count: entry.count).map { $0 / 8 }
            }
        }

        var batch: PackedBatch {
            PackedBatch(
                rows.enumerated().map { number, row in
                    .init(
                        tokens: row.ids, isTarget: row.ids.indices.map(Set(row.targets).contains),
                        number: UInt32(number))
                })
        }
    }

    /// The relative error of the loss, and of each matrix's gradient by name.
    private func errors(
        _ compute: ComputeType, _ residence: WeightResidence = .resident
    ) throws -> (loss: Double, gradients: [String: Double]) {
        try TestPaths.withTemporaryDirectory { directory in
            let golden = try Golden.read()
            let model = try golden.model(in: directory)
            let shape = golden.shape(model.configuration)
            let weights = try DecoderWeights(
                model: model, residence: residence, compute: compute, positions: 64, threads: 1)
            var gradient = [Float](repeating: .nan, count: shape.layout.count)
            let loss = Decoder(weights: weights, adapter: shape).gradient(
                of: golden.batch, parameters: golden.parameters(shape), dropout: nil,
                workspace: DecoderWorkspace(), into: &gradient)
            let expected = try SafetensorsFile(
                path: TestPaths.fixture("int8/gradients.safetensors"))
            #expect(Set(expected.tensors.keys) == Set(shape.layout.entries.map(\.name)))
            var gradients: [String: Double] = [:]
            for entry in shape.layout.entries {
                let view = try expected.tensor(entry.name)
                #expect(view.shape == entry.shape)
                var numbers = [Float](repeating: 0, count: entry.count)
                view.dequantize(rows: 0..<view.rows, into: &numbers)
                gradients[entry.name] = CentralDifference.relativeError(
                    gradient[entry.range].map(Double.init), numbers.map(Double.init))
            }
            return (abs(loss.lossSum / golden.loss - 1), gradients)
        }
    }

    @Test(
        "the gradient of each matrix is that of float64 with the same quantization",
        arguments: [WeightResidence.resident, .streamed])
    func reference(residence: WeightResidence) throws {
        let (loss, gradients) = try errors(.int8, residence)
        #expect(gradients.count == 28)
        #expect(loss < 1e-6, "loss")
        for (name, error) in gradients { #expect(error <= 1e-5, "\(name)") }
    }

    @Test("without quantization each is far from it")
    func unquantized() throws {
        let (loss, gradients) = try errors(.fp32)
        #expect(loss > 1e-4)
        for (name, error) in gradients { #expect(error > 1e-3, "\(name)") }
    }
}
