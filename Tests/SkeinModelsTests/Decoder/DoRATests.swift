import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Magnitudes: their gradient, the gradient of A and B beside them, and where they begin. Numbers of
/// PEFT are in `FamilyNumbersTests`.
@Suite struct DoRATests {
    private struct Opened {
        let model: ModelDirectory
        let shape: AdapterShape
        let base: BaseNorms

        func decoder(
            _ residence: WeightResidence = .resident, _ compute: ComputeType = .fp32
        ) throws -> Decoder {
            Decoder(
                weights: try DecoderWeights(
                    model: model, residence: residence, compute: compute, positions: 64, threads: 1),
                adapter: shape, baseNorms: base)
        }

        /// Lengths of the rows of W + s B A, by the offset of the module's magnitudes.
        func lengths(_ values: [Float]) throws -> [Int: [Double]] {
            var found: [Int: [Double]] = [:]
            let design = model.configuration.design
            for (layer, pairs) in shape.pairs.enumerated() {
                for (projection, pair) in zip(design.blocks[layer].projections, pairs) {
                    guard let pair, let magnitude = pair.magnitude else { continue }
                    let w = try model.tensor(design.tensor(projection.name + ".weight", in: layer))
                        .floats()
                    found[magnitude] = (0..<pair.outputs).map { row in
                        (0..<pair.inputs).reduce(0.0) { sum, column in
                            var value = Double(w[row * pair.inputs + column])
                            for k in 0..<pair.rank {
                                value +=
                                    Double(pair.scale)
                                    * Double(values[pair.b + row * pair.rank + k])
                                    * Double(values[pair.a + k * pair.inputs + column])
                            }
                            return sum + value * value
                        }.squareRoot()
                    }
                }
            }
            return found
        }
    }

    private func open(
        rank: Int = 3, _ targets: [TargetModule] = TargetModule.allCases,
        type: TinyModel.WeightType = .f32, _ body: (Opened) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.weightType = type
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let shape = AdapterShape(
                LoRAConfiguration(
                    rank: rank, scale: 2, dropout: 0, targets: targets, layers: 0..<2,
                    usesMagnitudes: true),
                model: model.configuration)
            try body(
                Opened(model: model, shape: shape, base: BaseNorms(model: model, shape: shape)))
        }
    }

    /// Numbers that change every row's direction and length.
    private func values(_ opened: Opened) -> [Float] {
        let start = AdapterParameters(shape: opened.shape, seed: 5, base: opened.base).values
        let noise = CentralDifference.numbers(start.count, seed: 6, stream: 1, spread: 0.05)
        return zip(start, noise).map { $0 + $1 }
    }

    @Test(
        "all gradients are those of the loss, lengths held as they are", arguments: [Float(0), 0.3])
    func gradients(dropout: Float) throws {
        try open { opened in
            let decoder = try opened.decoder()
            let batch = TinyDecoder.batch([9, 5, 14])
            let values = values(opened)
            let workspace = DecoderWorkspace()
            let address =
                dropout > 0
                ? Decoder.DropoutAddress(dropout: Dropout(probability: dropout, seed: 1), step: 3)
                : nil
            var gradient = [Float](repeating: .nan, count: values.count)
            _ = decoder.gradient(
                of: batch, parameters: values, dropout: address, workspace: workspace,
                into: &gradient)
            let held = try opened.lengths(values)
            var scratch = gradient
            for entry in opened.shape.layout.entries {
                let spaced = stride(
                    from: entry.offset, to: entry.offset + entry.count,
                    by: max(1, entry.count / 6))
                var failure: (any Error)?
                let numeric = CentralDifference.gradient(
                    at: values, indices: Array(spaced), step: 1e-2
                ) { point in
                    // With magnitudes that grow as the lengths do, gains stay.
                    var point = point
                    do {
                        for (offset, lengths) in try opened.lengths(point) {
                            for (row, length) in lengths.enumerated() {
                                let before = held[offset]?[row] ?? 0
                                point[offset + row] *= Float(length / before)
                            }
                        }
                    } catch {
                        failure = error
                    }
                    return decoder.gradient(
                        of: batch, parameters: point, dropout: address, workspace: workspace,
                        into: &scratch
                    ).lossSum
                }
                #expect(failure == nil)
                let own = spaced.map { Double(gradient[$0]) }
                let error = CentralDifference.relativeError(own, numeric)
                #expect(error < 5e-3, "\(entry.name): \(error)")
            }
        }
    }

    @Test("an adapter begins with the lengths of the base model's rows, and changes nothing")
    func start() throws {
        try open(type: .q4x0) { opened in
            let start = AdapterParameters(shape: opened.shape, seed: 5, base: opened.base).values
            for (offset, lengths) in try opened.lengths(start) {
                for (row, length) in lengths.enumerated() {
                    #expect(abs(Double(start[offset + row]) / length - 1) < 1e-6)
                }
            }
            let batch = TinyDecoder.batch([9, 5, 14])
            for compute in ComputeType.allCases {
                let decoder = try opened.decoder(.resident, compute)
                let with = decoder.loss(
                    of: batch, parameters: start, workspace: DecoderWorkspace())
                let without = decoder.loss(
                    of: batch, parameters: nil, workspace: DecoderWorkspace())
                #expect(abs(with.lossSum / without.lossSum - 1) < 1e-6)
            }
        }
    }

    @Test("a rank above the tokens of a batch, streamed weights and bf16 give finite, equal bits")
    func shapes() throws {
        try open(rank: 40, [.query, .down], type: .q8x0) { opened in
            let batch = TinyDecoder.batch([3])
            let values = values(opened)
            for compute in ComputeType.allCases {
                let found = try [WeightResidence.resident, .streamed].map { residence in
                    var gradient = [Float](repeating: .nan, count: values.count)
                    _ = try opened.decoder(residence, compute).gradient(
                        of: batch, parameters: values, dropout: nil,
                        workspace: DecoderWorkspace(), into: &gradient)
                    return gradient
                }
                #expect(found[0] == found[1])
                #expect(found[0].allSatisfy { $0.isFinite })
            }
        }
    }

    @Test("a row of zeros has no direction: it stays, and has no gradient")
    func zeroRow() {
        let zeros: [Float] = [0, 0]
        #expect(
            RowLength.merged(
                base: 0, b: zeros, product: zeros, stride: 1, gram: zeros, rank: 2, scale: 1) == 0)
        #expect(RowLength.gain(magnitude: 3, length: 0) == 0)
        // As short as rounding makes it: never below 0.
        #expect(
            RowLength.merged(
                base: 1, b: [1], product: [-1], stride: 1, gram: [0.9999999], rank: 1, scale: 1)
                >= 0)
    }
}
