import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// What files of each family must not say, and the field that the error names.
@Suite struct FamilyRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        let field: String
        let json: String
        /// What the error names, if that is not `field`.
        let named: String

        init(_ name: String, _ field: String, _ json: String, named: String? = nil) {
            self.name = name
            self.field = field
            self.json = json
            self.named = named ?? field
        }

        var testDescription: String { "\(name): \(field) = \(json)" }
    }

    static let folders = [
        Refusal("qwen2-windows", "sliding_window", "0"),
        Refusal("qwen2-windows", "layer_types", #"["full_attention"]"#),
        Refusal("qwen2", "layer_types", #"[1]"#, named: "layer_types.[0]"),
        Refusal(
            "qwen3", "layer_types",
            "["
                + Array(repeating: #""linear_attention""#, count: 7)
                .joined(separator: ",") + "]"),
        Refusal("qwen3", "hidden_act", #""gelu""#),
        Refusal("qwen3", "head_dim", "7"),
        Refusal("qwen3", "mlp_bias", "true"),
        Refusal("qwen3", "num_key_value_heads", "3"),
        Refusal("qwen3", "attn_logit_softcapping", "50"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"dynamic","factor":2}"#, named: "rope_type"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"proportional"}"#, named: "rope_type"),
        Refusal("qwen3", "rope_parameters", #"{"rope_type":"yarn"}"#, named: "factor"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"yarn","factor":0.1}"#, named: "factor"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"yarn","factor":2,"beta_fast":-1}"#,
            named: "beta_fast"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"yarn","factor":2,"attention_factor":-1}"#,
            named: "attention_factor"),
        Refusal(
            "qwen3", "rope_parameters",
            #"{"rope_type":"yarn","factor":2,"original_max_position_embeddings":0}"#,
            named: "original_max_position_embeddings"),
        Refusal(
            "qwen3", "rope_parameters", #"{"rope_type":"yarn","factor":2,"rope_theta":1}"#,
            named: "rope_theta"),
        Refusal(
            "qwen3", "rope_parameters",
            #"{"rope_type":"yarn","factor":2,"mscale":1,"mscale_all_dim":0.7}"#, named: "mscale"),
        Refusal("qwen3", "partial_rotary_factor", "0.5"),
        Refusal("smollm3", "no_rope_layers", "[1,1,0]"),
        Refusal("smollm3", "no_rope_layers", "[1,1,2,0,1,1,1]"),
        Refusal("granite", "embedding_multiplier", "-1"),
        Refusal("granite", "attention_multiplier", "0"),
        Refusal("granite", "residual_multiplier", "1e300"),
        Refusal("granite", "logits_scaling", "0"),
        Refusal("granitemoehybrid", "num_local_experts", "64"),
        Refusal("granitemoehybrid", "num_local_experts", "-1"),
        Refusal("granitemoehybrid", "num_local_experts", "null"),
        Refusal("granitemoehybrid", "layer_types", "null"),
        Refusal("granitemoehybrid", "layer_types", #"["attention"]"#),
        Refusal("granitemoehybrid", "layers_block_type", Self.types("mamba")),
        Refusal("granitemoehybrid", "layer_types", Self.types("mamba")),
        Refusal("granitemoehybrid", "layer_types", Self.types("linear_attention")),
        Refusal("granitemoehybrid", "layer_types", Self.types("sliding_attention")),
        Refusal("granitemoehybrid", "position_embedding_type", #""alibi""#),
        Refusal("granitemoehybrid", "shared_intermediate_size", "0"),
        Refusal("granitemoehybrid", "hidden_act", #""gelu""#),
        Refusal("granitemoehybrid", "mlp_bias", "true"),
        Refusal("mistral", "sliding_window", "-8"),
        Refusal("ministral3", "rope_parameters", "null"),
        Refusal(
            "ministral3", "rope_parameters", #"{"rope_type":"default"}"#,
            named: "llama_4_scaling_beta"),
        Refusal(
            "ministral3", "rope_parameters",
            #"{"rope_type":"default","llama_4_scaling_beta":-0.5}"#,
            named: "llama_4_scaling_beta"),
        Refusal(
            "ministral3", "rope_parameters",
            #"{"rope_type":"default","llama_4_scaling_beta":1e-308}"#,
            named: "llama_4_scaling_beta"),
        Refusal("olmo3", "rope_parameters", #"{"rope_type":"default","rope_theta":1e4}"#),
        Refusal(
            "olmo3", "rope_parameters",
            #"{"full_attention":{"rope_type":"yarn","factor":2,"truncate":false}}"#,
            named: "truncate"),
        Refusal("gemma2", "attn_logit_softcapping", "0"),
        Refusal("gemma2", "final_logit_softcapping", "-30"),
        Refusal("gemma2", "query_pre_attn_scalar", "0"),
        Refusal("gemma2", "hidden_activation", #""gelu""#),
        Refusal("gemma3_text", "attn_logit_softcapping", "50"),
        Refusal("gemma3_text", "use_bidirectional_attention", "true"),
        Refusal(
            "gemma3_text", "rope_parameters",
            #"{"full_attention":{"partial_rotary_factor":0.5}}"#, named: "partial_rotary_factor"),
        Refusal(
            "gemma3", "text_config", #"{"num_attention_heads":0}"#,
            named: "text_config.num_attention_heads"),
        Refusal("gemma3", "text_config", #"{"vocab_size":"x"}"#, named: "text_config.vocab_size"),
        Refusal(
            "gemma3", "text_config", #"{"model_type":"gemma4_text"}"#,
            named: "text_config.model_type"),
        Refusal("phi3-long", "partial_rotary_factor", "0.65"),
        Refusal("phi3-long", "partial_rotary_factor", "2"),
        Refusal(
            "phi3-long", "rope_parameters", #"{"rope_type":"longrope"}"#, named: "short_factor"),
        Refusal(
            "phi3-long", "rope_parameters", #"{"rope_type":"longrope","short_factor":[1]}"#,
            named: "short_factor"),
        Refusal("phi3-long", "original_max_position_embeddings", "1"),
        Refusal("phi3", "model_type", #""phimoe""#),
    ]

    /// The types of seven layers, of which one is of another kind.
    private static func types(_ other: String) -> String {
        let types = (0..<7).map { $0 == 4 ? other : "full_attention" }
        return "[" + types.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    @Test("Mamba layers and experts are refused with what they are, before weights are looked for")
    func hybrids() throws {
        let golden = FamilyGolden(name: "granitemoehybrid")
        for (field, value, what) in [
            ("num_local_experts", 64 as Any?, "64 (a mixture of experts)"),
            ("num_local_experts", nil, "not stated, which means 8 (a mixture of experts)"),
            ("layer_types", nil, "not stated, which means Mamba layers"),
            (
                "layer_types", ["mamba"] + Array(repeating: "attention", count: 6),
                "mamba (with Mamba layers)"
            ),
        ] {
            // There are no weights in the folder.
            let error = try #require(throws: FormatError.self) {
                _ = try golden.folder { $0[field] = value }
            }
            #expect(error.explanation.what.contains("'\(field)' is \(what); "), "\(error)")
        }
    }

    @Test("a config.json that cannot be computed is refused by its field", arguments: folders)
    func folder(refusal: Refusal) throws {
        let value = try JSONSerialization.jsonObject(
            with: Data(refusal.json.utf8), options: .fragmentsAllowed)
        let error = try #require(throws: FormatError.self) {
            _ = try FamilyGolden(name: refusal.name).folder { $0[refusal.field] = value }
        }
        #expect(fieldName(error) == refusal.named, "\(error)")
        #expect(error.explanation.what.contains("'\(refusal.named)'"))
    }

    @Test("two thetas are refused, wherever they are stated")
    func thetas() throws {
        let error = try #require(throws: FormatError.self) {
            _ = try FamilyGolden(name: "llama").folder {
                $0["rope_parameters"] = nil
                $0["rope_theta"] = 1e4
                $0["rope_scaling"] = ["rope_type": "default", "rope_theta": 5e5]
            }
        }
        #expect(fieldName(error) == "rope_theta")
    }

    struct MetadataRefusal: Sendable, CustomTestStringConvertible {
        let name: String
        let key: String
        let value: GGUFImage.Value?
        var testDescription: String { "\(name): \(key) = \(value.map { "\($0)" } ?? "missing")" }

        init(_ name: String, _ key: String, _ value: GGUFImage.Value?) {
            self.name = name
            self.key = key
            self.value = value
        }
    }

    static let metadata = [
        MetadataRefusal("qwen2-windows", "attention.sliding_window_pattern", .int32s([1, 0])),
        MetadataRefusal("qwen2-windows", "attention.sliding_window_pattern", .uint32(0)),
        MetadataRefusal("qwen2", "attention.sliding_window", .uint32(8)),
        MetadataRefusal("qwen2", "attention.scale", .float32(2)),
        MetadataRefusal("qwen3", "rope.scaling.factor", .float32(.nan)),
        MetadataRefusal("qwen3", "rope.scaling.factor", nil),
        MetadataRefusal("qwen3", "rope.scaling.yarn_ext_factor", .float32(0.5)),
        MetadataRefusal("qwen3", "rope.scaling.yarn_log_multiplier", .float32(0.7)),
        MetadataRefusal("qwen3", "rope.scaling.yarn_beta_slow", .float32(.infinity)),
        MetadataRefusal("qwen3", "rope.freq_base", .float32(0.5)),
        MetadataRefusal("qwen3", "rope.dimension_count", .uint32(8)),
        MetadataRefusal("qwen3", "attention.temperature_scale", .float32(0.1)),
        MetadataRefusal("granite", "attention.head_count_kv", .int32s([2, 2])),
        MetadataRefusal("granite", "attention.head_count_kv", .int32s([2, 2, 2, 2, 2, 0, 2])),
        MetadataRefusal("granite", "attention.head_count_kv", .int32s([])),
        MetadataRefusal(
            "granite", "attention.head_count_kv", .int32s(.init(repeating: -1, count: 7))),
        MetadataRefusal("granite", "rope.scaling.finetuned", .bool(false)),
        MetadataRefusal("granite", "logit_scale", nil),
        MetadataRefusal("granite", "logit_scale", .float32(0)),
        MetadataRefusal("granite", "residual_scale", .float32(.nan)),
        MetadataRefusal("ministral3", "rope.scaling.original_context_length", .uint32(.max)),
        MetadataRefusal("ministral3", "attention.temperature_scale", .float32(-1)),
        MetadataRefusal("gemma2", "attn_logit_softcapping", .float32(-50)),
        MetadataRefusal("gemma2", "final_logit_softcapping", .string("30")),
        MetadataRefusal("gemma3_text", "rope.freq_base_swa", .float32(0)),
        MetadataRefusal("gemma3_text", "attn_logit_softcapping", .float32(50)),
        MetadataRefusal("gemma3_text", "attention.sliding_window_pattern", .string("x")),
        MetadataRefusal("phi3-long", "rope.dimension_count", .uint32(17)),
        MetadataRefusal("phi3-long", "rope.scaling.type", .string("linear")),
        MetadataRefusal("phi3-long", "rope.scaling.attn_factor", .float32(-1)),
    ]

    @Test("GGUF metadata that cannot be computed is refused by its key", arguments: metadata)
    func gguf(refusal: MetadataRefusal) throws {
        let error = try #require(throws: FormatError.self) {
            _ = try FamilyGolden(name: refusal.name).gguf { $0.set(refusal.key, refusal.value) }
        }
        #expect(fieldName(error)?.hasSuffix("." + refusal.key) == true, "\(error)")
    }

    @Test("divisors of another length, or too small, are refused by the tensor's name")
    func divisors() throws {
        let golden = FamilyGolden(name: "phi3-long")
        let name = "rope_factors_long.weight"
        for floats in [
            [], [1], [Float](repeating: 0.1, count: 9), [Float](repeating: .nan, count: 9),
        ] {
            let error = try #require(throws: FormatError.self) {
                _ = try golden.gguf { image in
                    image.tensors.removeAll { $0.name == name }
                    guard !floats.isEmpty else { return }
                    image.tensors.append(tensor(name, [UInt64(floats.count)], floats: floats))
                }
            }
            #expect("\(error)".contains(name))
        }
    }

    @Test("a well-known architecture that is not computed is refused with what it has")
    func architectures() {
        for (name, what) in [
            ("qwen3_moe", "experts"), ("qwen3moe", "experts"), ("mixtral", "experts"),
            ("gpt-oss", "experts"), ("gpt_oss", "experts"), ("granitemoe", "experts"),
            ("granitehybrid", "Mamba"), ("mamba2", "Mamba"), ("falcon-h1", "Mamba"),
            ("lfm2", "convolutions"), ("qwen3_5_text", "DeltaNet"), ("qwen3next", "DeltaNet"),
            ("gemma3n", "embeddings"), ("qwen2_5_vl", "vision"),
        ] {
            #expect(OtherArchitectures.what(name)?.contains(what) == true, "\(name)")
        }
        #expect(OtherArchitectures.what("made_up") == nil)
    }

    private func fieldName(_ error: FormatError) -> String? {
        switch error {
        case .missingField(_, let field), .badField(_, let field, _, _),
            .unsupported(_, let field, _, _):
            field
        default: nil
        }
    }
}
