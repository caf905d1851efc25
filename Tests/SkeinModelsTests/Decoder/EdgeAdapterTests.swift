import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// LoRA on the embedding and the head. Numbers of PEFT are in `FamilyNumbersTests`.
@Suite struct EdgeAdapterTests {
    private static func lora(
        _ targets: [TargetModule], layers: Range<Int> = 0..<2
    ) -> LoRAConfiguration {
        LoRAConfiguration(
            rank: 3, scale: 2, dropout: 0, targets: targets, layers: layers,
            exceptions: targets.contains(.head)
                ? [.init(edge: .head): .init(rank: 2, scale: 1)] : [:])
    }

    /// Some numbers of a matrix; of the embedding's A those of tokens that the batch has and has not.
    private static func places(
        _ entry: ParameterLayout.Entry, _ batch: PackedBatch
    ) -> [Int] {
        guard entry.isOfEmbedding, entry.isA else {
            return Array(
                stride(
                    from: entry.offset, to: entry.offset + entry.count,
                    by: max(1, entry.count / 12)))
        }
        let rank = entry.shape[0]
        let tokens = [0, 1, batch.tokens.count / 2, batch.tokens.count - 1].map {
            Int(batch.tokens[$0])
        }
        let other = (0..<entry.shape[1]).first { !batch.tokens.contains(Int32($0)) } ?? 0
        return (tokens + [other]).flatMap { token in
            (0..<rank).map { entry.offset + $0 * entry.shape[1] + token }
        }
    }

    /// B of the embedding has a spread of 1 where its rows have one of 1/8: A moves them far.
    private static func step(_ entry: ParameterLayout.Entry) -> Float {
        entry.isOfEmbedding ? 1e-3 : 1e-2
    }

    private func check(
        _ lora: LoRAConfiguration, dropout: Float = 0, noise: Bool = false,
        tiny: TinyModel = TinyModel(), lengths: [Int] = [9, 5, 14], pairs: PackedBatch.Pairs? = nil
    ) throws {
        let weights = try TinyDecoder.weights(tiny)
        let shape = AdapterShape(lora, model: weights.configuration)
        let decoder = Decoder(weights: weights, adapter: shape)
        let sequences = lengths.enumerated().map { number, length in
            // Few different tokens: most occur at several places.
            PackedBatch.Sequence(
                tokens: (0..<length).map { Int32(($0 * 37 + number) % 11 * 29) },
                isTarget: (0..<length).map { $0 >= length / 2 }, number: UInt32(number))
        }
        let batch = PackedBatch(sequences, pairs: pairs)
        let parameters = TinyDecoder.parameters(shape)
        let workspace = DecoderWorkspace()
        let address =
            dropout > 0
            ? Decoder.DropoutAddress(dropout: Dropout(probability: dropout, seed: 1), step: 3) : nil
        let noiseAddress =
            noise ? Decoder.NoiseAddress(noise: EmbeddingNoise(alpha: 5, seed: 2), step: 3) : nil
        func gradient(_ point: [Float], into gradient: inout [Float]) -> Double {
            decoder.gradient(
                of: batch, parameters: point, dropout: address, noise: noiseAddress,
                workspace: workspace, into: &gradient
            ).lossSum
        }
        var found = [Float](repeating: .nan, count: parameters.count)
        _ = gradient(parameters, into: &found)
        #expect(found.allSatisfy { $0.isFinite })
        var scratch = found
        for entry in shape.layout.entries {
            let places = Self.places(entry, batch)
            let numeric = CentralDifference.gradient(
                at: parameters, indices: places, step: Self.step(entry)
            ) {
                gradient($0, into: &scratch)
            }
            let own = places.map { Double(found[$0]) }
            #expect(own.contains { $0 != 0 }, "\(entry.name)")
            let error = CentralDifference.relativeError(own, numeric)
            // Losses of pairs are differences: as in `PairLossTests`.
            #expect(error < (pairs == nil ? 5e-3 : 1e-2), "\(entry.name): \(error)")
        }
        guard let embedding = shape.embedding else { return }
        let known = Set(batch.tokens.map(Int.init))
        for token in 0..<embedding.inputs where !known.contains(token) {
            for k in 0..<embedding.rank {
                #expect(found[embedding.a + k * embedding.inputs + token] == 0)
            }
        }
    }

    @Test(
        "every matrix has the gradient of the loss, whatever else is adapted",
        arguments: [
            [TargetModule.embedding], [.head], TargetModule.edges,
            TargetModule.allCases + TargetModule.edges, [.down, .embedding],
        ])
    func gradients(targets: [TargetModule]) throws {
        try check(Self.lora(targets))
        try check(Self.lora(targets, layers: 1..<2))
        var tiny = TinyModel()
        tiny.tiedEmbeddings = false
        tiny.layerCount = 1
        try check(Self.lora(targets, layers: 0..<1), tiny: tiny)
    }

    @Test("the gradient holds under dropout, which the embedding has none of, and under noise")
    func random() throws {
        try check(Self.lora([.query] + TargetModule.edges), dropout: 0.4)
        try check(Self.lora(TargetModule.edges), noise: true)
        // More loss rows than logits exist for at once.
        try check(Self.lora(TargetModule.edges), dropout: 0.2, lengths: [120, 90, 130])
    }

    @Test("the gradient is that of losses of pairs, too", arguments: PreferenceLoss.Kind.allCases)
    func pairs(kind: PreferenceLoss.Kind) throws {
        for lengths in [[9, 6, 12, 14], [120, 90, 60, 130]] {
            try check(
                Self.lora(TargetModule.edges), lengths: lengths,
                pairs: .init(
                    loss: PreferenceLoss(kind: kind, beta: 0.5, gamma: 0.3), tokenShare: 0.125,
                    references: kind == .dpo ? lengths.map { -2 * Double($0) } : []))
        }
    }

    @Test("factors of embeddings and logits and a soft cap are in the gradient")
    func factors() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            var model = try ModelDirectory.open(directory + "/tiny.gguf")
            model.configuration.design.embeddingMultiplier = 2.5
            model.configuration.design.logitsMultiplier = 0.5
            model.configuration.design.logitsSoftCap = 3
            let weights = try DecoderWeights(
                model: model, residence: .resident, positions: 64, threads: 1)
            let shape = AdapterShape(Self.lora(TargetModule.edges), model: model.configuration)
            let decoder = Decoder(weights: weights, adapter: shape)
            let batch = TinyDecoder.batch([9, 5, 14])
            let parameters = TinyDecoder.parameters(shape)
            let workspace = DecoderWorkspace()
            var gradient = [Float](repeating: .nan, count: parameters.count)
            _ = decoder.gradient(
                of: batch, parameters: parameters, dropout: nil, workspace: workspace,
                into: &gradient)
            for entry in shape.layout.entries {
                let places = Self.places(entry, batch)
                let numeric = CentralDifference.gradient(
                    at: parameters, indices: places, step: Self.step(entry)
                ) {
                    decoder.loss(of: batch, parameters: $0, workspace: workspace).lossSum
                }
                let error = CentralDifference.relativeError(
                    places.map { Double(gradient[$0]) }, numeric)
                #expect(error < 5e-3, "\(entry.name): \(error)")
            }
        }
    }

    @Test(
        "streamed weights, recomputation and a workspace full of NaN change no bit",
        arguments: TinyModel.WeightType.allCases, ComputeType.allCases)
    func sameBits(type: TinyModel.WeightType, compute: ComputeType) throws {
        for isTied in [true, false] {
            var tiny = TinyModel()
            (tiny.weightType, tiny.tiedEmbeddings) = (type, isTied)
            let batch = TinyDecoder.batch([20, 7, 170, 140])
            var first: (BatchLoss, [Float])?
            for (residence, checkpointing) in [
                (WeightResidence.resident, false), (.streamed, false), (.resident, true),
                (.streamed, true),
            ] {
                let weights = try TinyDecoder.weights(tiny, residence: residence, compute: compute)
                let shape = AdapterShape(
                    Self.lora([.up] + TargetModule.edges, layers: 1..<2),
                    model: weights.configuration)
                let decoder = Decoder(
                    weights: weights, adapter: shape, gradientCheckpointing: checkpointing)
                let workspace = DecoderWorkspace()
                for _ in 0..<2 {
                    var gradient = [Float](repeating: .nan, count: shape.layout.count)
                    let loss = decoder.gradient(
                        of: batch, parameters: TinyDecoder.parameters(shape),
                        dropout: .init(dropout: Dropout(probability: 0.1, seed: 9), step: 4),
                        workspace: workspace, into: &gradient)
                    #expect(gradient.allSatisfy { $0.isFinite })
                    if let first {
                        #expect(loss == first.0 && gradient == first.1)
                    } else {
                        first = (loss, gradient)
                    }
                    workspace.memory.contents.update(repeating: .nan)
                }
            }
        }
    }

    @Test("an adapter begins by changing nothing, and its numbers do not depend on other targets")
    func start() throws {
        let weights = try TinyDecoder.weights()
        let model = weights.configuration
        let shape = AdapterShape(Self.lora([.query] + TargetModule.edges), model: model)
        let start = AdapterParameters(shape: shape, seed: 5)
        let embedding = try #require(shape.embedding)
        let head = try #require(shape.head)
        func numbers(_ offset: Int, _ count: Int) -> [Float] {
            Array(start.values[offset..<(offset + count)])
        }
        #expect(numbers(embedding.a, 3 * 320).allSatisfy { $0 == 0 })
        #expect(numbers(head.b, 2 * 320).allSatisfy { $0 == 0 })
        let bound = 1 / Float(64).squareRoot()
        let a = numbers(head.a, 2 * 64)
        #expect(a.allSatisfy { abs($0) <= bound } && a.contains { abs($0) > 0.8 * bound })
        let b = numbers(embedding.b, 3 * 64).map(Double.init)
        let mean = b.reduce(0, +) / 192
        let variance = b.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 192
        #expect(abs(mean) < 0.25 && abs(variance - 1) < 0.35, "\(mean) \(variance)")

        let batch = TinyDecoder.batch([9, 5, 14])
        let decoder = Decoder(weights: weights, adapter: shape)
        let with = decoder.loss(of: batch, parameters: start.values, workspace: DecoderWorkspace())
        let without = decoder.loss(of: batch, parameters: nil, workspace: DecoderWorkspace())
        #expect(with == without)

        let alone = AdapterShape(Self.lora(TargetModule.edges), model: model)
        let same = AdapterParameters(shape: alone, seed: 5)
        #expect(Array(same.values) == Array(start.values.suffix(same.values.count)))
        let plain = AdapterParameters(
            shape: AdapterShape(Self.lora([.query]), model: model), seed: 5)
        #expect(plain.values == Array(start.values.prefix(plain.values.count)))
    }

    @Test(
        "both are the last of the flat vector, under PEFT's names, and only the embedding needs all layers"
    )
    func shape() throws {
        let model = try TinyDecoder.weights().configuration
        let plain = AdapterShape(Self.lora([.query], layers: 1..<2), model: model)
        let shape = AdapterShape(
            Self.lora([.query] + TargetModule.edges, layers: 1..<2), model: model)
        let count = plain.layout.entries.count
        #expect(Array(shape.layout.entries.prefix(count)) == plain.layout.entries)
        #expect(
            shape.layout.entries.dropFirst(count).map(\.name) == [
                "base_model.model.model.embed_tokens.lora_embedding_A",
                "base_model.model.model.embed_tokens.lora_embedding_B",
                "base_model.model.lm_head.lora_A.weight", "base_model.model.lm_head.lora_B.weight",
            ])
        #expect(
            shape.layout.entries.dropFirst(count).map(\.shape) == [
                [3, 320], [64, 3], [2, 64], [320, 2],
            ])
        #expect(shape.modules == ["q_proj", "embed_tokens", "lm_head"])
        #expect(shape.hasEmbedding && shape.lowestLayer == 0)
        #expect(!plain.hasEmbedding && plain.lowestLayer == 1)
        #expect(AdapterShape(Self.lora([.head]), model: model).lowestLayer == nil)
        // A model for several kinds of input has longer names, and the same head.
        var other = model
        other.design.names = .multimodal
        #expect(
            AdapterShape(Self.lora(TargetModule.edges), model: other).layout.entries.map(\.name)
                == [
                    "base_model.model.model.language_model.embed_tokens.lora_embedding_A",
                    "base_model.model.model.language_model.embed_tokens.lora_embedding_B",
                    "base_model.model.lm_head.lora_A.weight",
                    "base_model.model.lm_head.lora_B.weight",
                ])
        for name in [
            "model.embed_tokens.lora_A.weight", "lm_head.lora_A", "embed_tokens.lora_embedding_A",
        ] {
            #expect(EdgeTensorName("base_model.model." + name) == nil)
        }
    }

    @Test("memory is planned for them")
    func memory() throws {
        let model = try TinyDecoder.weights().configuration
        func total(_ targets: [TargetModule]) -> Int {
            MemoryEstimate(
                .init(
                    model: model, adapter: AdapterShape(Self.lora(targets), model: model),
                    residence: .resident, gradientCheckpointing: false, dropout: true, threads: 2,
                    tokens: 100, longest: 100, lossTokens: 50, fileBytes: 0)
            ).workspace
        }
        // B of the head and its gradient, transposed.
        #expect(total([.query, .head]) - total([.query]) >= 4 * 2 * 2 * model.vocabularySize)
        #expect(total([.query, .embedding]) - total([.query]) >= 4 * 3 * 100)
    }
}
