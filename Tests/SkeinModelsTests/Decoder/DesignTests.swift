import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Every field of a design, switched on alone and together: gradients, equal bits and generation.
@Suite struct DesignTests {
    /// A family that differs from Llama in what a case says.
    struct MadeUp: ModelFamily {
        let modelTypes = ["made_up"]
        let gguf: GGUFLayout? = nil
        let folderNormOffset: Float
        let change: @Sendable (inout DecoderDesign) -> Void

        func design(of model: ModelConfiguration) -> DecoderDesign {
            var design = Llama().design(of: model)
            change(&design)
            return design
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let normOffset: Float
        let change: @Sendable (inout DecoderDesign) -> Void

        init(
            _ name: String, normOffset: Float = 0,
            _ change: @escaping @Sendable (inout DecoderDesign) -> Void
        ) {
            testDescription = name
            self.normOffset = normOffset
            self.change = change
        }

        /// A change of every block.
        static func blocks(
            _ name: String, _ change: @escaping @Sendable (inout BlockDesign) -> Void
        ) -> Case {
            Case(name) { for layer in $0.blocks.indices { change(&$0.blocks[layer]) } }
        }
    }

    static let gemma = Case("as Gemma 2 and 3", normOffset: 0.5) { design in
        design.embeddingMultiplier = 8
        design.logitsSoftCap = 1.5
        for layer in design.blocks.indices {
            design.blocks[layer].norms.afterAttention = "n2"
            design.blocks[layer].norms.afterFeedForward = "n4"
            design.blocks[layer].activation = .geGLU
            design.blocks[layer].attentionSoftCap = 0.8
            design.blocks[layer].attentionScale = 0.4
            design.blocks[layer].residualMultiplier = 0.75
        }
        design.blocks[0].window = 4
        design.blocks[1].headNorms = BlockDesign.HeadNorms(query: "qn", key: "kn", extent: .head)
    }

    static let cases = [
        Case("normOffset", normOffset: 1) { _ in },
        Case("embeddingMultiplier") { $0.embeddingMultiplier = 12 },
        Case("logitsMultiplier") { $0.logitsMultiplier = 0.25 },
        Case("logitsSoftCap") { $0.logitsSoftCap = 1.5 },
        .blocks("window 1") { $0.window = 1 },
        .blocks("window 5") { $0.window = 5 },
        .blocks("a window of more than the rows") { $0.window = 100 },
        .blocks("attentionScale") { $0.attentionScale = 0.7 },
        .blocks("attentionSoftCap") { $0.attentionSoftCap = 0.7 },
        .blocks("no rotation") { $0.rotaryTable = nil },
        Case("partial rotation") { $0.rotaryTables[0].dimension = 8 },
        Case("a factor of the rotation") { $0.rotaryTables[0].attentionFactor = 1.25 },
        Case("a second table") { design in
            design.rotaryTables.append(design.rotaryTables[0])
            design.rotaryTables[1].theta = 100
            design.blocks[1].rotaryTable = 1
        },
        Case("other divisors for long rows") { design in
            design.rotaryTables[0].divisors = (0..<8).map { 1 + Float($0) / 8 }
            design.rotaryTables[0].longDivisors = (0..<8).map { 2 + Float($0) }
            design.rotaryTables[0].longFrom = 8
        },
        .blocks("growth of queries") {
            $0.queryGrowth = BlockDesign.QueryGrowth(beta: 0.5, original: 4)
        },
        .blocks("norms of heads") {
            $0.headNorms = BlockDesign.HeadNorms(query: "qn", key: "kn", extent: .head)
        },
        .blocks("norms of projections") {
            $0.headNorms = BlockDesign.HeadNorms(query: "qn", key: "kn", extent: .projection)
        },
        .blocks("norms after") {
            $0.norms = BlockDesign.Norms(afterAttention: "n2", afterFeedForward: "n4")
        },
        .blocks("norms before and after") {
            $0.norms.afterAttention = "n2"
            $0.norms.afterFeedForward = "n4"
        },
        .blocks("geGLU") { $0.activation = .geGLU },
        .blocks("residualMultiplier") { $0.residualMultiplier = 0.25 },
        .blocks("biases") { block in
            for i in block.projections.indices { block.projections[i].hasBias = true }
        },
        gemma,
    ]

    /// A folder of random weights for the case's design.
    private func model(_ tested: Case, tiny: TinyModel = TinyModel()) throws -> ModelDirectory {
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeHuggingFaceFolder(to: directory)
            var fields = tiny.configuration()
            fields["model_type"] = "made_up"
            try AtomicFile.write(
                Array(JSONSerialization.data(withJSONObject: fields)),
                to: directory + "/config.json")
            let families = FamilyRegistry([
                MadeUp(folderNormOffset: tested.normOffset, change: tested.change)
            ])
            let needed = try families.read(ModelDescription.open(directory)).configuration
                .requiredTensors
            try SafetensorsWriter.write(
                tiny.weights(needed).map {
                    SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats)
                }, metadata: [:], to: directory + "/model.safetensors")
            return try ModelDirectory.open(directory, families: families)
        }
    }

    private func decoder(
        _ model: ModelDirectory, targets: [TargetModule] = TargetModule.allCases,
        residence: WeightResidence = .resident, compute: ComputeType = .fp32,
        checkpointing: Bool = false, layers: Range<Int> = 0..<2
    ) throws -> Decoder {
        let weights = try DecoderWeights(
            model: model, residence: residence, compute: compute, positions: 256, threads: 1)
        let lora = LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0, targets: targets, layers: layers)
        return Decoder(
            weights: weights, adapter: AdapterShape(lora, model: weights.configuration),
            gradientCheckpointing: checkpointing)
    }

    private static let batch = TinyDecoder.batch([9, 5, 14])

    private func gradient(_ decoder: Decoder) throws -> (loss: Double, gradient: [Float]) {
        let shape = try #require(decoder.adapter)
        let parameters = TinyDecoder.parameters(shape)
        var gradient = [Float](repeating: .nan, count: parameters.count)
        let loss = decoder.gradient(
            of: Self.batch, parameters: parameters, dropout: nil, workspace: DecoderWorkspace(),
            into: &gradient)
        return (loss.lossSum, gradient)
    }

    @Test("every matrix has the gradient of the loss", arguments: cases)
    func gradients(tested: Case) throws {
        let model = try model(tested)
        for layers in [0..<2, 1..<2] {
            let decoder = try decoder(model, layers: layers)
            let shape = try #require(decoder.adapter)
            let parameters = TinyDecoder.parameters(shape)
            let workspace = DecoderWorkspace()
            let found = try gradient(decoder).gradient
            var pairs: [(name: String, own: [Double], numeric: [Double])] = []
            for entry in shape.layout.entries {
                let spaced = stride(
                    from: entry.offset, to: entry.offset + entry.count,
                    by: max(1, entry.count / 6))
                // Two steps, so that the term with h^2 cancels: some designs bend sharply.
                let numeric = [Float(3e-2), 1.5e-2].map { step in
                    CentralDifference.gradient(
                        at: parameters, indices: Array(spaced), step: step
                    ) { point in
                        decoder.loss(of: Self.batch, parameters: point, workspace: workspace)
                            .lossSum
                    }
                }
                pairs.append(
                    (
                        entry.name, spaced.map { Double(found[$0]) },
                        zip(numeric[0], numeric[1]).map { (4 * $1 - $0) / 3 }
                    ))
            }
            // What rounding leaves of the differences is the same for all: small gradients are
            // compared with a share of the others.
            func norm(_ numbers: [Double]) -> Double {
                numbers.reduce(0) { $0 + $1 * $1 }.squareRoot()
            }
            let typical = norm(pairs.flatMap(\.numeric)) / Double(pairs.count).squareRoot()
            for (name, own, numeric) in pairs {
                let error = norm(zip(own, numeric).map(-)) / max(norm(numeric), typical / 4)
                #expect(error < 1e-2, "\(name): \(error)")
            }
        }
    }

    @Test("each field changes the loss", arguments: cases)
    func effect(tested: Case) throws {
        if tested.testDescription == "a window of more than the rows" { return }
        let plain = try gradient(try decoder(try model(Case("none") { _ in }))).loss
        #expect(try gradient(try decoder(try model(tested))).loss != plain)
    }

    @Test("checkpointing and streaming give the same bits", arguments: cases)
    func equalBits(tested: Case) throws {
        let model = try model(tested)
        for compute in ComputeType.allCases {
            for targets in [TargetModule.allCases, [.query], [.down]] {
                let plain = try gradient(try decoder(model, targets: targets, compute: compute))
                for (residence, checkpointing) in [
                    (WeightResidence.streamed, false), (.resident, true), (.streamed, true),
                ] {
                    let other = try gradient(
                        try decoder(
                            model, targets: targets, residence: residence, compute: compute,
                            checkpointing: checkpointing))
                    #expect(other.loss == plain.loss && other.gradient == plain.gradient)
                }
            }
        }
    }

    @Test("bf16 is fp32 up to rounding", arguments: cases)
    func rounded(tested: Case) throws {
        let model = try model(tested)
        let single = try gradient(try decoder(model))
        let rounded = try gradient(try decoder(model, compute: .bf16))
        #expect(abs(rounded.loss - single.loss) < 0.02 * single.loss)
        let error = CentralDifference.relativeError(
            rounded.gradient.map(Double.init), single.gradient.map(Double.init))
        #expect(error < 0.08, "\(error)")
    }

    @Test("generation has training's logits, at once and step by step", arguments: cases)
    func generation(tested: Case) throws {
        let decoder = try decoder(try model(tested))
        let shape = try #require(decoder.adapter)
        let parameters = TinyDecoder.parameters(shape)
        let tokens = (0..<40).map { (i: Int) -> Int32 in Int32((i * 37 + 5) % 320) }
        for length in [7, 40] {
            // The loss of the last token alone is -log softmax of the logits before it.
            let batch = PackedBatch([
                .init(
                    tokens: Array(tokens[..<length]),
                    isTarget: (0..<length).map { $0 == length - 1 }, number: 0)
            ])
            let expected = decoder.loss(
                of: batch, parameters: parameters, workspace: DecoderWorkspace()
            ).lossSum
            let row = Array(tokens[..<(length - 1)])
            let atOnce = DecoderSession(decoder: decoder, parameters: parameters, capacity: 64)
            let stepwise = DecoderSession(decoder: decoder, parameters: parameters, capacity: 64)
            _ = stepwise.logits(after: Array(row[..<3]))
            var last: [Float] = []
            for token in row[3...] { last = stepwise.logits(after: [token], as: .answer) }
            for logits in [atOnce.logits(after: row), last] {
                let largest = Double(logits.max() ?? 0)
                let sum = logits.reduce(0) { $0 + exp(Double($1) - largest) }
                let loss = log(sum) + largest - Double(logits[Int(tokens[length - 1])])
                #expect(abs(loss - expected) < 1e-4 * max(1, expected), "\(loss) \(expected)")
            }
        }
    }
}
