import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

@Suite struct FamilyTests {
    /// A family that differs from Llama as a test tells it to.
    struct MadeUp: ModelFamily {
        let modelTypes = ["made_up"]
        var gguf: GGUFLayout?
        var folderNormOffset: Float = 0
        var change: @Sendable (inout DecoderDesign) -> Void = { _ in }

        func design(of model: ModelConfiguration) -> DecoderDesign {
            var design = Llama().design(of: model)
            change(&design)
            return design
        }
    }

    /// One field switched on, and the error that names it.
    struct Switch: Sendable, CustomTestStringConvertible {
        let field: String
        let layer: Int?
        let found: String
        let turn: @Sendable (inout MadeUp) -> Void

        var testDescription: String { field }

        /// A field of the whole design.
        static func whole(
            _ field: String, _ found: String,
            _ change: @escaping @Sendable (inout DecoderDesign) -> Void
        ) -> Switch {
            Switch(field: field, layer: nil, found: found) { $0.change = change }
        }

        /// A field of the second block.
        static func block(
            _ field: String, _ found: String,
            _ change: @escaping @Sendable (inout BlockDesign) -> Void
        ) -> Switch {
            Switch(field: field, layer: 1, found: found) { $0.change = { change(&$0.blocks[1]) } }
        }
    }

    static let ofDecoder = [
        Switch(field: "normOffset", layer: nil, found: "inf") { $0.folderNormOffset = .infinity },
        .whole("embeddingMultiplier", "0.0") { $0.embeddingMultiplier = 0 },
        .whole("logitsMultiplier", "nan") { $0.logitsMultiplier = .nan },
        .whole("logitsSoftCap", "-30.0") { $0.logitsSoftCap = -30 },
        .whole("rotaryTables", "[7]") { $0.rotaryTables[0].dimension = 7 },
        .whole("rotaryTables", "[18]") { $0.rotaryTables[0].dimension = 18 },
        .whole("blocks", "1") { $0.blocks.removeLast() },
    ]

    static let ofBlock: [Switch] = [
        .block("attentionScale", "-0.5") { $0.attentionScale = -0.5 },
        .block("window", "0") { $0.window = 0 },
        .block("attentionSoftCap", "inf") { $0.attentionSoftCap = .infinity },
        .block("rotaryTable", "1") { $0.rotaryTable = 1 },
        .block("residualMultiplier", "0.0") { $0.residualMultiplier = 0 },
        .block("projections", #"["self_attn.q_proj"]"#) { $0.projections.removeLast(6) },
        .block("projections", names) { $0.projections[3].address = 7 },
        .block("projections", names) { $0.projections[5].inputs = 32 },
    ]

    private static let names =
        #"["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "#
        + #""mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]"#

    /// Opens a folder of the tiny model that claims to be of `family`.
    private func open(
        _ family: MadeUp, changing change: (String) throws -> Void = { _ in }
    ) throws -> ModelDirectory {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            var fields = TinyModel().configuration()
            fields["model_type"] = "made_up"
            try AtomicFile.write(
                Array(JSONSerialization.data(withJSONObject: fields)),
                to: directory + "/config.json")
            try change(directory)
            return try ModelDirectory.open(directory, families: FamilyRegistry([family]))
        }
    }

    @Test("a family with nothing new is opened")
    func opened() throws {
        let model = try open(MadeUp())
        #expect(model.configuration.architecture == "made_up")
        #expect(model.configuration.design.blocks.count == 2)
    }

    @Test(
        "what the engine does not compute is refused by the field's name, before weights are read",
        arguments: ofDecoder + ofBlock)
    func refused(change: Switch) throws {
        var family = MadeUp()
        change.turn(&family)
        let error = try #require(throws: EngineError.self) {
            // Without the weights, whose absence would be the next error.
            _ = try open(family) {
                try FileManager.default.removeItem(atPath: $0 + "/model.safetensors")
            }
        }
        guard case .notComputed(let path, let field, let layer, let found, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(field == change.field && layer == change.layer && found == change.found)
        let explanation = error.explanation
        #expect(explanation.place == path && explanation.status == .badData)
        #expect(explanation.what.hasPrefix("'\(field)'\(layer == nil ? "" : " of layer 1") is "))
        #expect(explanation.what.contains("Skein supports only "))
    }

    @Test("names of tensors are the family's, and so are those of an adapter")
    func names() throws {
        let family = MadeUp(change: { design in
            design.names = DecoderDesign.Names(
                embedding: "wte", finalNorm: "ln_f", head: "out", blocks: "h.")
            for layer in design.blocks.indices {
                design.blocks[layer].norms.beforeAttention = "ln_1"
                for i in design.blocks[layer].projections.indices {
                    design.blocks[layer].projections[i].name = "p\(i)"
                    design.blocks[layer].projections[i].tensor = "p\(i)"
                }
            }
        })
        let model = try open(family) { directory in
            let tensors = TinyModel().weights().map { weight in
                var name = weight.name.replacing("model.layers.", with: "h.")
                for (i, module) in TargetModule.allCases.enumerated() {
                    for part in ["self_attn", "mlp"] {
                        name = name.replacing("\(part).\(module.name)", with: "p\(i)")
                    }
                }
                for (old, new) in [
                    ("model.embed_tokens.weight", "wte"), ("model.norm.weight", "ln_f"),
                    ("input_layernorm", "ln_1"),
                ] { name = name.replacing(old, with: new) }
                return SafetensorsWriter.Tensor(
                    name: name, shape: weight.shape, floats: weight.floats)
            }
            try SafetensorsWriter.write(
                tensors, metadata: [:], to: directory + "/model.safetensors")
        }
        #expect(try model.tensor("h.1.p3.weight").shape == [64, 64])
        let lora = LoRAConfiguration(
            rank: 2, scale: 1, dropout: 0, targets: [.output], layers: 1..<2)
        let shape = AdapterShape(lora, model: model.configuration)
        #expect(
            shape.layout.entries.map(\.name) == [
                "base_model.model.h.1.p3.lora_A.weight", "base_model.model.h.1.p3.lora_B.weight",
            ])
        let weights = try DecoderWeights(
            model: model, residence: .resident, positions: 64, threads: 1)
        let plain = try TinyDecoder.weights()
        let batch = TinyDecoder.batch([20, 7])
        let losses = [weights, plain].map {
            Decoder(weights: $0, adapter: nil).loss(
                of: batch, parameters: nil, workspace: DecoderWorkspace())
        }
        #expect(losses[0] == losses[1])
    }

    @Test("files must have what a design adds to Llama's tensors, in order")
    func tensors() {
        var model = ModelConfiguration(
            architecture: "made_up", vocabularySize: 320, width: 64, feedForwardWidth: 128,
            layerCount: 1, headCount: 4, keyValueHeadCount: 2, headDimension: 16,
            contextLength: 256, normEpsilon: 1e-5, ropeTheta: 10_000, ropeFrequencyDivisors: nil,
            tiedEmbeddings: false, family: Llama())
        model.design.blocks[0] = BlockDesign(
            norms: BlockDesign.Norms(
                beforeAttention: "n1", afterAttention: "n2", beforeFeedForward: "n3",
                afterFeedForward: "n4"),
            projections: Projection.separate(model, biased: [.key]))
        model.design.blocks[0].headNorms = BlockDesign.HeadNorms(
            query: "qn", key: "kn", extent: .projection)
        let found = model.requiredTensors.map { "\($0.name) \($0.shape)" }
        #expect(
            found.map { $0.replacing("model.layers.0.", with: "") } == [
                "model.embed_tokens.weight [320, 64]", "n1.weight [64]",
                "self_attn.q_proj.weight [64, 64]", "self_attn.k_proj.weight [32, 64]",
                "self_attn.k_proj.bias [32]", "self_attn.v_proj.weight [32, 64]",
                "self_attn.o_proj.weight [64, 64]", "qn.weight [64]", "kn.weight [32]",
                "n2.weight [64]", "n3.weight [64]", "mlp.gate_proj.weight [128, 64]",
                "mlp.up_proj.weight [128, 64]", "mlp.down_proj.weight [64, 128]",
                "n4.weight [64]", "model.norm.weight [64]", "lm_head.weight [320, 64]",
            ])
        model.design.blocks[0].headNorms?.extent = .head
        let heads = model.requiredTensors.filter { $0.name.hasSuffix("n.weight") }
        #expect(heads.map(\.shape) == [[16], [16]])
    }

    @Test("a projection's address and its place in files never move")
    func addresses() throws {
        let projections = try open(MadeUp()).configuration.design.blocks[1].projections
        #expect(projections.map(\.address) == [0, 1, 2, 3, 4, 5, 6])
        #expect("\(projections.map(\.name))" == Self.names)
        #expect(projections.map(\.module) == [.query, .key, .value, .output, .gate, .up, .down])
        #expect(projections.map(\.inputs) == [64, 64, 64, 64, 64, 64, 128])
        #expect(projections.map(\.outputs) == [64, 32, 32, 64, 128, 128, 64])
    }

    @Test("a family is known by the name in its files, and an unknown one is told the known ones")
    func registry() throws {
        for (type, isKnown) in [("llama", true), ("mistral", true), ("made_up", false)] {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeHuggingFaceFolder(to: directory)
                var fields = TinyModel().configuration()
                fields["model_type"] = type
                let path = directory + "/config.json"
                try AtomicFile.write(
                    Array(JSONSerialization.data(withJSONObject: fields)), to: path)
                if isKnown {
                    #expect(try ModelDirectory.open(directory).configuration.architecture == type)
                    return
                }
                for (families, known) in [
                    (FamilyRegistry([Llama(), Qwen2()]), "llama or qwen2"),
                    (FamilyRegistry([Llama()]), "llama"),
                    (FamilyRegistry([Llama(), Qwen2(), Qwen3()]), "llama, qwen2 or qwen3"),
                ] {
                    #expect(
                        throws: FormatError.unsupported(
                            path: path, field: "model_type", found: type, supported: known)
                    ) { _ = try ModelDirectory.open(directory, families: families) }
                }
            }
        }
    }

    @Test("a family's GGUF files are read by its own keys, names and order of rows")
    func gguf() throws {
        var layout = try #require(Llama().gguf)
        layout.architectures = ["made-up"]
        layout.namesInBlock["wq.weight"] = layout.namesInBlock.removeValue(forKey: "attn_q.weight")
        layout.interleaved = ["attn_k.weight"]
        let family = MadeUp(gguf: layout)
        var image = TinyModel().gguf()
        for i in image.metadata.indices {
            image.metadata[i].key = image.metadata[i].key.replacing("llama.", with: "made-up.")
            if image.metadata[i].key == "general.architecture" {
                image.metadata[i].value = .string("made-up")
            }
        }
        for i in image.tensors.indices {
            image.tensors[i].name = image.tensors[i].name.replacing("attn_q", with: "wq")
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            let model = try ModelDirectory.open(path, families: FamilyRegistry([family]))
            let plain = TinyModel().weights()
            for (name, isSame) in [("q_proj", false), ("k_proj", true)] {
                let full = "model.layers.1.self_attn.\(name).weight"
                let expected = try #require(plain.first { $0.name == full }).floats
                let found = try model.tensor(full).floats()
                #expect((found == expected) == isSame && found.sorted() == expected.sorted())
            }
            #expect(
                throws: FormatError.unsupported(
                    path: path, field: "general.architecture", found: "made-up",
                    supported: "llama")
            ) { _ = try ModelDirectory.open(path, families: FamilyRegistry([Llama()])) }
            layout.normOffset = -1
            let other = try ModelDirectory.open(
                path, families: FamilyRegistry([MadeUp(gguf: layout)]))
            #expect(other.configuration.design.normOffset == -1)
        }
    }
}
