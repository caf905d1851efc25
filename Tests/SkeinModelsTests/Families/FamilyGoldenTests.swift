import Foundation
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct FamilyGoldenTests {
    @Test("a family's tensors are transformers', with their shapes", arguments: FamilyGolden.all)
    func tensors(golden: FamilyGolden) throws {
        let model = try golden.folder()
        let required = model.requiredTensors
        let found = Dictionary(required.map { ($0.name, $0.shape) }) { one, _ in one }
        #expect(found.count == required.count)
        #expect(found == (try golden.parts().tensors))
        #expect(model.design.blocks.count == 7)
        #expect(model.design.blocks.allSatisfy { $0.projections.map(\.address) == Array(0..<7) })
    }

    @Test("a family's rotations are transformers'", arguments: FamilyGolden.all)
    func rotations(golden: FamilyGolden) throws {
        let tables = try golden.folder().design.rotaryTables
        let full = try #require(tables.first)
        for (kind, expected) in try golden.parts().rotations {
            let table = try #require(kind == "sliding_attention" ? tables.last : full)
            let divisors = kind == "long" ? table.longDivisors : table.divisors
            #expect(table.dimension == 2 * expected.inverse.count)
            #expect(abs(table.attentionFactor - expected.factor) <= 1e-6)
            for (i, inverse) in expected.inverse.enumerated() {
                let frequency = ElementaryFunctions.power(
                    table.theta, -2 * Double(i) / Double(table.dimension))
                let found = Float(frequency) / (divisors?[i] ?? 1)
                #expect(abs(found - inverse) <= 2e-6 * inverse, "\(kind) \(i)")
            }
        }
        #expect(full.longDivisors == nil || full.longFrom == 16)
    }

    @Test("config.json and GGUF metadata of one model give one design", arguments: FamilyGolden.all)
    func formats(golden: FamilyGolden) throws {
        let folder = try golden.folder()
        var gguf = try golden.gguf()
        #expect(folder.design.normOffset == (golden.name.hasPrefix("gemma") ? 1 : 0))
        #expect(gguf.design.normOffset == 0)
        #expect(folder.design.rotaryTables.count == gguf.design.rotaryTables.count)
        for (one, other) in zip(folder.design.rotaryTables, gguf.design.rotaryTables) {
            #expect(one.theta == other.theta && one.dimension == other.dimension)
            #expect(one.longFrom == other.longFrom && one.longDivisors == other.longDivisors)
            #expect(abs(one.attentionFactor - other.attentionFactor) <= 1e-6)
            for (x, y) in zip(one.divisors ?? [], other.divisors ?? []) {
                #expect(abs(x - y) <= 1e-6 * x)
            }
            #expect(one.divisors?.count == other.divisors?.count)
        }
        gguf.design.normOffset = folder.design.normOffset
        gguf.design.rotaryTables = folder.design.rotaryTables
        // The text model has other names in a folder for several inputs.
        gguf.design.names = folder.design.names
        if golden.name == "granitemoehybrid" {
            // llama.cpp's conversion takes gate and up apart, and renames the feed-forward part.
            let separate = Projection.separate(folder, biased: folder.stated.biased)
            #expect(gguf.design.blocks.allSatisfy { $0.projections == separate })
            for layer in gguf.design.blocks.indices {
                gguf.design.blocks[layer].projections = folder.design.blocks[layer].projections
            }
        }
        #expect(folder.design == gguf.design)
        #expect(folder.requiredTensors.map(\.shape) == gguf.requiredTensors.map(\.shape))
        #expect(folder.normEpsilon == gguf.normEpsilon && folder.ropeTheta == gguf.ropeTheta)
        #expect(folder.contextLength == gguf.contextLength)
    }

    @Test("tensors of GGUF files have gguf-py's names", arguments: FamilyGolden.all)
    func fileNames(golden: FamilyGolden) throws {
        let layout = try #require(try golden.family().gguf)
        let design = try golden.gguf().design
        let names = try golden.parts().gguf.names
        // llama.cpp's conversion reorders query and key for these, which rotate neighbours.
        let isNeighbours = ["llama", "mistral3", "smollm3", "granite"].contains(
            layout.architectures[0])
        for (name, fileName) in names {
            let match = try #require(layout.tensor(fileName, in: design), "\(fileName)")
            #expect(match.name == name)
            let isRotated = name.contains(".q_proj.") || name.contains(".k_proj.")
            #expect(match.isInterleaved == (isRotated && isNeighbours), "\(name)")
        }
        let required = try golden.gguf().requiredTensors.map(\.name).filter {
            !$0.contains(".layers.") || $0.contains(".layers.3.")
        }
        #expect(Set(required) == Set(names.keys))
    }

    @Test("a Gemma 3 that sees states only what differs from the defaults")
    func sparse() throws {
        let model = try FamilyGolden(name: "gemma3").folder {
            $0["text_config"] = [
                "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
                "num_hidden_layers": 34, "sliding_window": 1024,
                "rope_scaling": ["factor": 8.0, "rope_type": "linear"],
            ]
        }
        #expect(model.headCount == 8 && model.keyValueHeadCount == 4 && model.headDimension == 256)
        #expect(model.vocabularySize == 262_208 && model.contextLength == 131_072)
        #expect(model.design.rotaryTables.map(\.theta) == [1e6, 1e4])
        #expect(model.design.rotaryTables[0].divisors == [Float](repeating: 8, count: 128))
        #expect(model.design.rotaryTables[1].divisors == nil)
        #expect(model.design.blocks.count { $0.window == nil } == 5)
        #expect(model.design.blocks[5].window == nil && model.design.blocks[33].window == 1024)
    }

    @Test("heads may be stated for each layer, as in files of Granite 4 without Mamba layers")
    func headsOfLayers() throws {
        let granite = FamilyGolden(name: "granite")
        let plain = try granite.gguf()
        let listed = try granite.gguf { image in
            image.set(
                "attention.head_count_kv",
                .int32s(.init(repeating: Int32(plain.keyValueHeadCount), count: plain.layerCount)))
            image.set("rope.scaling.finetuned", .bool(true))
            image.set("expert_count", .uint32(0))
        }
        #expect(listed == plain)
    }

    @Test("what differs from Llama stands in the design")
    func designs() throws {
        func design(_ name: String) throws -> DecoderDesign {
            try FamilyGolden(name: name).folder().design
        }
        let windows = try design("qwen2-windows").blocks.map(\.window)
        #expect(windows == [nil, nil, nil, nil, nil, 8, 8])
        #expect(try design("mistral").blocks.allSatisfy { $0.window == 8 })
        #expect(try design("mistral3").blocks.allSatisfy { $0.window == nil })
        let unrotated = try design("smollm3").blocks.map(\.rotaryTable)
        #expect(unrotated == [0, 0, 0, nil, 0, 0, 0])
        let olmo = try design("olmo3").blocks
        #expect(olmo.map(\.window) == [8, 8, 8, nil, 8, 8, 8])
        #expect(olmo.map(\.rotaryTable) == [1, 1, 1, 0, 1, 1, 1])
        #expect(olmo[0].headNorms?.extent == .projection && olmo[0].norms.names.count == 2)
        let gemma2 = try design("gemma2")
        #expect(gemma2.blocks.map(\.window) == [8, nil, 8, nil, 8, nil, 8])
        #expect(gemma2.blocks[0].attentionSoftCap == 50 && gemma2.logitsSoftCap == 30)
        #expect(gemma2.blocks[0].attentionScale == 0.25 && gemma2.blocks[0].activation == .geGLU)
        #expect(gemma2.embeddingMultiplier == Float(32).squareRoot())
        let gemma3 = try design("gemma3_text")
        #expect(gemma3.blocks.map(\.rotaryTable) == [1, 1, 1, 1, 1, 0, 1])
        #expect(gemma3.blocks.map(\.window) == [8, 8, 8, 8, 8, nil, 8])
        #expect(gemma3.rotaryTables.map(\.theta) == [1e6, 1e4])
        #expect(gemma3.blocks[0].headNorms?.extent == .head && gemma3.logitsSoftCap == nil)
        let granite = try design("granite")
        #expect(granite.embeddingMultiplier == 12 && granite.logitsMultiplier == 0.125)
        #expect(granite.blocks[0].residualMultiplier == 0.22)
        #expect(granite.blocks[0].attentionScale == 0.015625)
        let granite4 = try design("granitemoehybrid")
        let names = granite4.blocks[6].projections.suffix(3).map(\.name)
        #expect(names == ["mlp.gate_proj", "mlp.up_proj", "shared_mlp.output_linear"])
        let parts = granite4.blocks[6].projections.map(\.fused).suffix(3)
        #expect(parts == ["shared_mlp.input_linear", "shared_mlp.input_linear", nil])
        #expect(
            granite4.blocks[6].projections.map(\.hasBias) == [
                true, true, true, true, false, false, false,
            ])
        let growth = try design("ministral3").blocks[0].queryGrowth
        #expect(growth == BlockDesign.QueryGrowth(beta: 0.1, original: 16))
        let fused = try design("phi3").blocks[0].projections
        #expect(fused.map(\.rows) == [0..<32, 32..<48, 48..<64, nil, 0..<48, 48..<96, nil])
        #expect(
            fused.map(\.fused) == [
                "self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.qkv_proj", nil,
                "mlp.gate_up_proj", "mlp.gate_up_proj", nil,
            ])
        #expect(fused.map(\.name) == Projection.separate(try design("phi3").model).map(\.name))
    }

    /// A file as older transformers wrote it, made of the newer one.
    struct Older: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout [String: Any]) -> Void

        var testDescription: String { name }
    }

    static let older = [
        Older(name: "qwen2") {
            $0["rope_parameters"] = nil
            $0["rope_theta"] = 1e6
            $0["sliding_window"] = 8
            $0["layer_types"] = nil
        },
        Older(name: "qwen2-windows") { $0["layer_types"] = nil },
        Older(name: "qwen3") {
            $0["rope_parameters"] = nil
            $0["rope_theta"] = 1e6
            $0["rope_scaling"] = [
                "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
            ]
        },
        Older(name: "smollm3") {
            $0["no_rope_layers"] = nil
            $0["rope_parameters"] = ["rope_theta": 2e6]
        },
        Older(name: "olmo3") {
            $0["rope_parameters"] = nil
            $0["rope_theta"] = 5e5
            $0["layer_types"] = nil
            $0["rope_scaling"] = [
                "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                "attention_factor": 1.25, "beta_fast": 8.0,
            ]
        },
        Older(name: "granitemoehybrid") {
            $0["layer_types"] = Array(repeating: "attention", count: 7)
            $0["rope_parameters"] = nil
            $0["rope_theta"] = 1e4
            $0["rope_scaling"] = NSNull()
        },
        Older(name: "gemma2") {
            $0["layer_types"] = nil
            $0["hidden_act"] = "gelu_pytorch_tanh"
            $0["attn_logit_softcapping"] = 50.0
        },
        Older(name: "gemma3_text") {
            $0["rope_parameters"] = nil
            $0["layer_types"] = nil
            $0["rope_theta"] = 1e6
            $0["rope_local_base_freq"] = 1e4
            $0["rope_scaling"] = ["rope_type": "linear", "factor": 8.0]
            $0["sliding_window_pattern"] = 6
        },
        Older(name: "phi3-long") {
            let rope = $0["rope_parameters"] as? [String: Any] ?? [:]
            $0["rope_parameters"] = nil
            $0["rope_theta"] = 1e4
            $0["partial_rotary_factor"] = 0.75
            $0["rope_scaling"] = [
                "type": "su", "short_factor": rope["short_factor"],
                "long_factor": rope["long_factor"],
            ]
        },
    ]

    @Test("an older spelling of a file gives the same configuration", arguments: older)
    func spellings(older: Older) throws {
        let golden = FamilyGolden(name: older.name)
        #expect(try golden.folder(changing: older.change) == golden.folder())
    }

    @Test("null is not the same as no field where transformers tells them apart")
    func nulls() throws {
        let mistral = FamilyGolden(name: "mistral")
        #expect(
            try mistral.folder { $0["sliding_window"] = NSNull() }.design.blocks[0].window == nil)
        let long = try mistral.folder {
            $0["sliding_window"] = nil
            $0["max_position_embeddings"] = 8192
        }
        #expect(long.design.blocks[0].window == 4096)
        let gemma = try FamilyGolden(name: "gemma2").folder {
            $0["attn_logit_softcapping"] = NSNull()
            $0["final_logit_softcapping"] = nil
        }
        #expect(gemma.design.blocks[0].attentionSoftCap == nil && gemma.design.logitsSoftCap == 30)
    }

    @Test("a Granite 4 is rotated only if it says so, and reads the shared width")
    func positions() throws {
        let golden = FamilyGolden(name: "granitemoehybrid")
        #expect(try golden.folder().design.blocks.allSatisfy { $0.rotaryTable == 0 })
        for positions: Any? in ["nope", NSNull(), nil] {
            let model = try golden.folder { $0["position_embedding_type"] = positions }
            #expect(model.design.blocks.allSatisfy { $0.rotaryTable == nil })
        }
        let wide = try golden.folder { $0["shared_intermediate_size"] = 50 }
        #expect(wide.feedForwardWidth == 50)
        let usual = try golden.folder { $0["shared_intermediate_size"] = nil }
        #expect(usual.feedForwardWidth == 1024)
    }

    @Test("a window as long as the context, or of no layer, is none")
    func longWindows() throws {
        for (name, change) in [
            ("mistral", ["sliding_window": 64]), ("gemma2", ["sliding_window": 64]),
        ] {
            let model = try FamilyGolden(name: name).folder { $0.merge(change) { $1 } }
            #expect(model.stated.windows.isEmpty)
        }
        let off = try FamilyGolden(name: "qwen2-windows").folder {
            $0["use_sliding_window"] = false
        }
        #expect(off.stated.windows.isEmpty)
        let gguf = try FamilyGolden(name: "olmo3").gguf { $0.set("attention.sliding_window", nil) }
        #expect(gguf.stated.windows.isEmpty && gguf.design.rotaryTables.count == 1)
    }

    @Test("a vocabulary has the size that a GGUF file's tensor has, not that of the tokenizer")
    func vocabulary() throws {
        let golden = FamilyGolden(name: "qwen2")
        for tokens in [["a", "b"], (0..<99).map(String.init)] {
            let other = try golden.gguf {
                $0.set("vocab_size", nil)
                $0.metadata.append(("tokenizer.ggml.tokens", .strings(tokens)))
            }
            #expect(other.vocabularySize == 96)
        }
    }
}

extension DecoderDesign {
    /// The sizes of the goldens, for their projections.
    fileprivate var model: ModelConfiguration {
        get throws { try FamilyGolden(name: "phi3").folder() }
    }
}
