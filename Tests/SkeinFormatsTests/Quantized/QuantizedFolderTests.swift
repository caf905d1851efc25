import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// What a quantized folder must hold, and what it says when it does not.
@Suite struct QuantizedFolderTests {
    private static let query = "model.layers.0.self_attn.q_proj"

    /// The settings of one group of compressed-tensors, and transforms.
    private static func compressed(_ weights: String, _ transforms: String = "") -> String {
        #"{"quant_method":"compressed-tensors","config_groups":{"g":{"weights":\#(weights)}},"#
            + #""transform_config":{\#(transforms)}}"#
    }

    @Test("a sound folder leaves nothing but weights", arguments: ["mlx", "nf4", "fp8"])
    func sound(name: String) throws {
        let model = try ModelFiles.open(TestPaths.fixture("quantized/\(name)"))
        #expect(model.otherTensors.isEmpty && model.tensors.count == 11)
        #expect(model.tensors[Self.query + ".weight"]?.shape == [128, 128])
        #expect(model.tensors[Self.query + ".weight"]?.elementType == nil)
    }

    @Test(
        "a part that is missing is named",
        arguments: [
            ("mlx", ".weight"), ("mlx", ".biases"), ("fp8", ".weight_scale_inv"),
            ("nf4", ".weight"), ("nf4", ".weight.absmax"), ("nf4", ".weight.quant_map"),
            ("nf4", ".weight.nested_absmax"), ("nf4", ".weight.nested_quant_map"),
        ])
    func missing(folder: String, ending: String) throws {
        var raw = try RawFolder(folder)
        #expect(raw.tensors.removeValue(forKey: Self.query + ending) != nil)
        guard case .missingTensor(_, let tensor)? = try raw.problem() else {
            Issue.record("it was accepted")
            return
        }
        #expect(tensor == Self.query + ending)
    }

    @Test(
        "a part of another shape or type is named",
        arguments: [
            ("mlx", ".scales", "F32", [128, 1]), ("mlx", ".scales", "I32", [128, 2]),
            ("mlx", ".biases", "F32", [128, 2]), ("mlx", ".weight", "U32", [128, 15]),
            ("mlx", ".weight", "F32", [128, 16]), ("mlx", ".weight", "U32", [2048]),
            ("fp8", ".weight_scale_inv", "F32", [1, 2]), ("fp8", ".weight", "F8_E4M3", [128]),
            ("nf4", ".weight", "U8", [8191, 1]), ("nf4", ".weight.absmax", "F32", [256]),
            ("nf4", ".weight.absmax", "U8", [255]), ("nf4", ".weight.nested_absmax", "F32", [2]),
            ("nf4", ".weight.quant_map", "F32", [16]), ("nf4", ".weight.quant_map", "F32", [15]),
            ("nf4", ".weight.nested_quant_map", "F16", [256]),
        ])
    func misshapen(folder: String, ending: String, type: String, shape: [Int]) throws {
        var raw = try RawFolder(folder)
        let bytes =
            shape.reduce(1, *) * (["F32", "U32", "I32"].contains(type) ? 4 : type == "F16" ? 2 : 1)
        #expect(raw.tensors[Self.query + ending] != nil)
        raw.tensors[Self.query + ending] = .init(
            type: type, shape: shape, bytes: [UInt8](repeating: 1, count: bytes))
        switch try raw.problem() {
        case .badTensor(_, let tensor, _, _, _)?, .wrongShape(_, let tensor, _, _)?:
            // The scales of a weight with other columns are found to be wrong.
            #expect(tensor.hasPrefix(Self.query))
        case let other: Issue.record("\(String(describing: other))")
        }
    }

    @Test(
        "a field of config.json that is not read is named",
        arguments: [
            (
                "mlx", "quantization", #"{"group_size":64,"bits":4,"mode":"mxfp4"}"#,
                "quantization.mode"
            ),
            ("mlx", "quantization", #"{"group_size":64,"bits":7}"#, "quantization.bits"),
            ("mlx", "quantization", #"{"group_size":16,"bits":4}"#, "quantization.group_size"),
            ("mlx", "quantization", #"{"group_size":64}"#, "quantization.bits"),
            (
                "mlx", "quantization",
                #"{"group_size":64,"bits":4,"a.b":{"bits":4,"group_size":1}}"#,
                "quantization.a.b.group_size"
            ),
            (
                "mlx", "quantization_config", #"{"quant_method":"fp8"}"#,
                "quantization_config.quant_method"
            ),
            (
                "nf4", "quantization_config",
                #"{"quant_method":"bitsandbytes","load_in_8bit":true}"#,
                "quantization_config.load_in_4bit"
            ),
            (
                "nf4", "quantization_config", #"{"quant_method":"gptq","bits":4,"group_size":64}"#,
                "quantization_config.quant_method"
            ),
            (
                "nf4", "quantization_config", #"{"bnb":1}"#, "quantization_config.quant_method"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"fp8","weight_block_size":[128,0]}"#,
                "quantization_config.weight_block_size"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"fp8","weight_block_size":[128]}"#,
                "quantization_config.weight_block_size"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"fp8","fmt":"e5m2","weight_block_size":[128,128]}"#,
                "quantization_config.fmt"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"fp8","scale_fmt":"e5m2","weight_block_size":[128,128]}"#,
                "quantization_config.scale_fmt"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{}}"#,
                "quantization_config.format"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"compressed-tensors","config_groups":{}}"#,
                "quantization_config.config_groups.group_0"
            ),
            (
                "fp8", "quantization_config",
                #"{"quant_method":"compressed-tensors","config_groups":{"g":{"weights":null}}}"#,
                "quantization_config.config_groups.g.weights"
            ),
            (
                "fp8", "quantization_config",
                Self.compressed(#"{"num_bits":8,"type":"int","strategy":"channel"}"#),
                "quantization_config.config_groups.g.weights"
            ),
            (
                "fp8", "quantization_config",
                Self.compressed(#"{"num_bits":8,"type":"float","strategy":"group"}"#),
                "quantization_config.config_groups.g.weights.strategy"
            ),
            (
                "fp8", "quantization_config",
                Self.compressed(#"{"num_bits":8,"type":"float","strategy":"block"}"#),
                "quantization_config.config_groups.g.weights.block_structure"
            ),
            (
                "fp8", "quantization_config",
                Self.compressed(
                    #"{"num_bits":8,"type":"float","strategy":"tensor","symmetric":false}"#),
                "quantization_config.config_groups.g.weights.symmetric"
            ),
            (
                "fp8", "quantization_config",
                Self.compressed(#"{"num_bits":8,"type":"float","strategy":"tensor"}"#, #""x":1"#),
                "quantization_config.transform_config"
            ),
        ])
    func fields(folder: String, key: String, json: String, field: String) throws {
        var raw = try RawFolder(folder)
        raw.configuration[key] = try JSONSerialization.jsonObject(with: Data(json.utf8))
        switch try raw.problem() {
        case .unsupported(_, let found, _, _)?, .badField(_, let found, _, _)?,
            .missingField(_, let found)?:
            #expect(found == field)
        case let other: Issue.record("\(String(describing: other))")
        }
    }

    @Test("what is said of the text model alone counts, too")
    func text() throws {
        var raw = try RawFolder("fp8")
        let said = try #require(raw.configuration["quantization_config"])
        raw.configuration["quantization_config"] = nil
        #expect(try raw.problem() == nil)
        raw.configuration["text_config"] = ["quantization_config": said]
        try TestPaths.withTemporaryDirectory { directory in
            try raw.write(to: directory)
            #expect(try ModelFiles.open(directory).otherTensors.isEmpty)
        }
    }

    @Test("modules that config.json excludes or names must be as it says")
    func modules() throws {
        var raw = try RawFolder("mlx")
        let settings: [String: Any] = ["group_size": 64, "bits": 4]
        raw.configuration["quantization_config"] = nil
        raw.configuration["quantization"] = settings.merging([
            "model.layers.0.mlp.up_proj": false,
            "model.layers.0.self_attn.v_proj": ["group_size": 32, "bits": 6],
        ]) { $1 }
        try TestPaths.withTemporaryDirectory { directory in
            try raw.write(to: directory)
            // What stays is for the model's check to name.
            let model = try ModelFiles.open(directory)
            #expect(model.otherTensors == ["model.layers.0.mlp.up_proj.weight": "U32"])
            #expect(model.tensors["model.layers.0.mlp.up_proj.scales"] != nil)
        }
        let plain = "model.layers.0.self_attn.o_proj"
        raw.configuration["quantization"] = settings.merging([plain: settings]) { $1 }
        guard case .missingTensor(_, let tensor)? = try raw.problem() else {
            Issue.record("it was accepted")
            return
        }
        #expect(tensor == plain + ".scales")
    }

    @Test(
        "a state of a bitsandbytes weight that cannot be is refused",
        arguments: [
            #""blocksize": 0"#, #""blocksize": 96"#, #""blocksize": 9223372036854775807"#,
            #""dtype": "int8""#, #""shape": [128]"#, #""shape": [0, 128]"#,
            #""shape": [9223372036854775807, 2]"#, #""shape": [1073741824, 1073741824]"#,
            #""quant_type": "fp4""#, #""nested_blocksize": 0"#, #""nested_dtype": "bfloat16""#,
            #""nested_offset": null"#, #""nested_offset": "x""#,
        ])
    func states(change: String) throws {
        var raw = try RawFolder("nf4")
        let name = Self.query + ".weight.quant_state.bitsandbytes__nf4"
        let text = String(decoding: try #require(raw.tensors[name]).bytes, as: UTF8.self)
        let key = try #require(change.split(separator: ":").first)
        // The last of two equal keys would be a guess, so the old one goes.
        let pattern = "\(key): (\\[[^\\]]*\\]|[^,}]*)"
        let changed = text.replacingOccurrences(
            of: pattern, with: change, options: .regularExpression)
        #expect(changed != text)
        raw.tensors[name] = .init(
            type: "U8", shape: [changed.utf8.count], bytes: Array(changed.utf8))
        guard case .badTensor(_, let tensor, _, _, _)? = try raw.problem() else {
            Issue.record("it was accepted")
            return
        }
        #expect(tensor.hasPrefix(Self.query))
    }
}
