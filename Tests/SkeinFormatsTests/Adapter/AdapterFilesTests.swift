import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct AdapterFilesTests {
    /// Matrices of rank 4 for q and v of the tiny model.
    static func tensors(layers: [Int] = [0, 1]) -> [SafetensorsWriter.Tensor] {
        layers.flatMap { layer in
            [("q_proj", 64), ("v_proj", 32)].flatMap { module, out in
                AdapterTensorName.Matrix.allCases.map { matrix in
                    let shape = matrix == .a ? [4, 64] : [out, 4]
                    return SafetensorsWriter.Tensor(
                        name: AdapterTensorName(layer: layer, module: module, matrix: matrix).text,
                        shape: shape,
                        floats: (0..<(shape[0] * shape[1])).map { Float($0 + layer) })
                }
            }
        }
    }

    static let configuration = AdapterConfiguration(
        rank: 4, alpha: 8, dropout: 0.05, targetModules: ["v_proj", "q_proj"], baseModelName: "tiny"
    )

    @Test("what is written is read back, and the bytes are the same every time")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let first = directory + "/deep/first"
            try AdapterFiles.write(
                configuration: Self.configuration, tensors: Self.tensors(), to: first)
            try AdapterFiles.write(
                configuration: Self.configuration, tensors: Self.tensors().reversed(),
                to: directory + "/second")
            for name in [AdapterFiles.configurationName, AdapterFiles.weightsName] {
                let one = try Data(contentsOf: URL(fileURLWithPath: "\(first)/\(name)"))
                let two = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/second/\(name)"))
                #expect(one == two)
            }
            let read = try AdapterFiles.map(first)
            #expect(read.configuration == Self.configuration)
            #expect(read.configuration.targetModules == ["q_proj", "v_proj"])
            #expect(read.layers == [0, 1] && read.tensors.count == 8)
            for tensor in Self.tensors() {
                #expect(read.tensors[tensor.name]?.floats() == tensor.floats)
                #expect(read.tensors[tensor.name]?.shape == tensor.shape)
            }
        }
    }

    @Test("adapter_config.json is what PEFT writes: sorted keys, whole numbers without a point")
    func json() {
        #expect(
            Self.configuration.json() == """
                {
                  "alpha_pattern": {},
                  "auto_mapping": null,
                  "base_model_name_or_path": "tiny",
                  "bias": "none",
                  "fan_in_fan_out": false,
                  "inference_mode": true,
                  "init_lora_weights": true,
                  "layers_pattern": null,
                  "layers_to_transform": null,
                  "lora_alpha": 8,
                  "lora_dropout": 0.05,
                  "modules_to_save": null,
                  "peft_type": "LORA",
                  "r": 4,
                  "rank_pattern": {},
                  "revision": null,
                  "target_modules": ["q_proj","v_proj"],
                  "task_type": "CAUSAL_LM",
                  "use_dora": false,
                  "use_rslora": false
                }

                """)
    }

    @Test("scale is alpha / rank, or alpha / sqrt(rank) when rank-stabilized")
    func scale() {
        var configuration = Self.configuration
        #expect(configuration.scale == 2)
        configuration.usesRankStabilizedScale = true
        #expect(configuration.scale == 4)
    }

    @Test("names are read strictly and written as PEFT spells them")
    func names() {
        let text = "base_model.model.model.layers.12.mlp.down_proj.lora_B.weight"
        let name = AdapterTensorName(layer: 12, module: "down_proj", matrix: .b)
        #expect(AdapterTensorName(text) == name && name.text == text)
        #expect(name.weightName == "model.layers.12.mlp.down_proj.weight")
        for broken in [
            "model.layers.12.mlp.down_proj.lora_B.weight", text + ".x", text + ".",
            "base_model.model.model.layers.012.mlp.down_proj.lora_B.weight",
            "base_model.model.model.layers.-1.mlp.down_proj.lora_B.weight",
            "base_model.model.model.layers.12.self_attn.down_proj.lora_B.weight",
            "base_model.model.model.layers.12.mlp.down_proj.lora_C.weight",
            "base_model.model.model.layers.99999.mlp.down_proj.lora_B.weight",
            "base_model.model.model.layers.12.mlp.qkv_proj.lora_B.weight", "",
        ] {
            #expect(AdapterTensorName(broken) == nil, "\(broken)")
        }
    }

    @Test("lists, regular expressions, layers and unknown keys of PEFT are understood")
    func understood() throws {
        let rows: [(String, [Int], [Int]?)] = [
            (#""target_modules":["q_proj","v_proj"]"#, [0, 1], nil),
            (#""target_modules":".*(q|v)_proj""#, [0, 1], nil),
            (#""target_modules":"all-linear","layers_to_transform":null"#, [1], [1]),
            (#""layers_to_transform":1"#, [1], [1]),
            (#""layers_to_transform":[0,1]"#, [0, 1], [0, 1]),
            (#""something_new":{"a":[1]},"rank_pattern":{},"modules_to_save":[]"#, [0], nil),
            (#""init_lora_weights":"gaussian","use_dora":false,"bias":"none""#, [0], nil),
            (#""eva_config":{"tau":Infinity,"rho":NaN},"x":-Infinity"#, [0], nil),
        ]
        for (fields, layers, expected) in rows {
            try withAdapter(#"{"r":4,"lora_alpha":16,\#(fields)}"#, Self.tensors(layers: layers)) {
                let adapter = try AdapterFiles.map($0)
                #expect(adapter.configuration.layersToTransform == expected, "\(fields)")
                #expect(adapter.configuration.targetModules == ["q_proj", "v_proj"])
                #expect(adapter.configuration.scale == 4 && adapter.layers == layers)
            }
        }
    }

    @Test("what is not plain LoRA is refused with the field")
    func refusedFields() throws {
        let rows: [(String, String, String, String)] = [
            (#""r":4,"lora_bias":true"#, "lora_bias", "true", "false"),
            (#""r":4,"bias":"all""#, "bias", "all", "none"),
            (#""r":4,"fan_in_fan_out":true"#, "fan_in_fan_out", "true", "false"),
            (#""r":4,"use_qalora":true"#, "use_qalora", "true", "false"),
            (#""r":4,"layer_replication":[[0,2]]"#, "layer_replication", "set", "null"),
            (#""r":4,"alora_invocation_tokens":[1]"#, "alora_invocation_tokens", "set", "null"),
            (#""r":4,"peft_type":"IA3""#, "peft_type", "IA3", "LORA"),
            (#""r":4,"modules_to_save":["lm_head"]"#, "modules_to_save", "lm_head", "an empty one"),
            (
                #""r":4,"target_parameters":["experts"]"#, "target_parameters", "experts",
                "an empty one"
            ),
            (
                #""r":4,"init_lora_weights":"pissa""#, "init_lora_weights", "pissa",
                "methods that keep the base model's weights"
            ),
        ]
        for (fields, field, found, supported) in rows {
            try withAdapter("{\(fields)}", Self.tensors()) { directory in
                let path = directory + "/adapter_config.json"
                #expect(
                    throws: FormatError.unsupported(
                        path: path, field: field, found: found, supported: supported)
                ) { _ = try AdapterFiles.read(directory) { _ in } }
            }
        }
        let numbers: [(String, FormatError)] = [
            ("{}", .missingField(path: "", field: "r")),
            (#"{"r":0}"#, .badField(path: "", field: "r", expected: "1 to 16384", found: "0")),
            (
                #"{"r":4,"lora_dropout":1}"#,
                .badField(
                    path: "", field: "lora_dropout", expected: "0 or above and below 1",
                    found: "1.0")
            ),
            (
                #"{"r":4,"layers_to_transform":[-1]}"#,
                .badField(
                    path: "", field: "layers_to_transform", expected: "0 to 4095", found: "-1")
            ),
            (
                #"{"r":4,"rank_pattern":{"q_proj":0}}"#,
                .badField(
                    path: "", field: "rank_pattern.q_proj", expected: "1 to 16384", found: "0")
            ),
            (
                #"{"r":4,"alpha_pattern":{"q_proj":"x"}}"#,
                .badField(
                    path: "", field: "alpha_pattern.q_proj", expected: "a number",
                    found: "another type")
            ),
            (
                #"{"r":4,"auto_mapping":{"skein":{}}}"#,
                .missingField(path: "", field: "auto_mapping.skein.base_model")
            ),
        ]
        for (json, expected) in numbers {
            try withAdapter(json, Self.tensors()) { directory in
                #expect("\(json)") {
                    _ = try AdapterFiles.read(directory) { _ in }
                } throws: { error in
                    "\(error)".replacing(directory + "/adapter_config.json", with: "")
                        == "\(expected)"
                }
            }
        }
    }

    @Test("matrices that are unknown, unpaired, of another rank or missing are refused by name")
    func refusedTensors() throws {
        let q = "base_model.model.model.layers.0.self_attn.q_proj"
        var unpaired = Self.tensors()
        unpaired.removeAll { $0.name == q + ".lora_B.weight" }
        try expectError(unpaired) { .missingTensor(path: $0, tensor: q + ".lora_B.weight") }
        var other = Self.tensors()
        other[0] = SafetensorsWriter.Tensor(
            name: q + ".lora_A.weight", shape: [2, 64], floats: [Float](repeating: 0, count: 128))
        try expectError(other) {
            .wrongShape(
                path: $0, tensor: q + ".lora_A.weight", expected: [4, 64], found: [2, 64])
        }
        let magnitude = SafetensorsWriter.Tensor(
            name: q + ".lora_magnitude_vector", shape: [1], floats: [1])
        try expectError(Self.tensors() + [magnitude]) {
            .unexpectedTensor(path: $0, tensor: magnitude.name)
        }
        try expectError([]) {
            .missingTensor(path: $0, tensor: "base_model.model.*.lora_A.weight")
        }
    }

    @Test("a missing file is named")
    func missingFile() throws {
        try withAdapter(#"{"r":4}"#, Self.tensors()) { directory in
            try FileManager.default.removeItem(atPath: directory + "/adapter_model.safetensors")
            #expect(
                throws: FormatError.missingFile(
                    path: directory, expected: "adapter_model.safetensors")
            ) { _ = try AdapterFiles.read(directory) { _ in } }
        }
    }

    @Test("a file that is larger than memory is refused before memory is taken for it")
    func huge() throws {
        // A terabyte that the header does not account for.
        try withAdapter(#"{"r":4}"#, Self.tensors()) { directory in
            let path = directory + "/adapter_model.safetensors"
            #expect(truncate(path, 1 << 40) == 0)
            #expect {
                _ = try AdapterFiles.read(directory) { _ in }
            } throws: { error in
                guard case FormatError.badField(path, "data section", _, _) = error else {
                    return false
                }
                return true
            }
        }
        // Eight that it accounts for: two matrices of the largest rank and width in many layers.
        let bytes = 4 << 34
        var names: [String] = []
        for layer in 0..<64 {
            for matrix in AdapterTensorName.Matrix.allCases {
                names.append(
                    AdapterTensorName(layer: layer, module: "q_proj", matrix: matrix).text)
            }
        }
        let entries = names.enumerated().map { index, name in
            let shape = name.contains("lora_A") ? "[16384,1048576]" : "[1048576,16384]"
            return "\"\(name)\":{\"dtype\":\"F32\",\"shape\":\(shape),"
                + "\"data_offsets\":[\(index * bytes),\((index + 1) * bytes)]}"
        }
        var image: [UInt8] = []
        GGUFImage.append("{" + entries.joined(separator: ",") + "}", to: &image)
        try withAdapter(#"{"r":16384}"#, []) { directory in
            let path = directory + "/adapter_model.safetensors"
            try AtomicFile.write(image, to: path)
            let length = image.count + names.count * bytes
            guard truncate(path, length) == 0 else {
                // A file system that cannot hold files of this size has nothing to refuse.
                #expect(errno == EFBIG)
                return
            }
            struct Refused: Error, Equatable { let shape: [Int]? }
            #expect(throws: Refused(shape: [16384, 1_048_576])) {
                _ = try AdapterFiles.read(directory) { throw Refused(shape: $0.shapes[names[0]]) }
            }
            #expect(try AdapterFiles.map(directory).layers.count == 64)
        }
    }

    @Test("a matrix that is larger than any weight is refused by name")
    func wide() throws {
        let q = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
        let shape = [4, 1_048_577]
        let wide = SafetensorsWriter.Tensor(
            name: q, shape: shape, floats: [Float](repeating: 0, count: shape[0] * shape[1]))
        try expectError([wide]) {
            .badTensor(
                path: $0, tensor: q, field: "dimension", expected: "1 to 1048576",
                found: "\(shape)")
        }
    }

    private func expectError(
        _ tensors: [SafetensorsWriter.Tensor], _ expected: (String) -> FormatError
    ) throws {
        try withAdapter(#"{"r":4}"#, tensors) { directory in
            #expect(throws: expected(directory + "/adapter_model.safetensors")) {
                _ = try AdapterFiles.read(directory) { _ in }
            }
        }
    }

    private func withAdapter(
        _ json: String, _ tensors: [SafetensorsWriter.Tensor], _ body: (String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(json, to: directory + "/adapter_config.json")
            try SafetensorsWriter.write(
                tensors, metadata: ["format": "pt"], to: directory + "/adapter_model.safetensors")
            try body(directory)
        }
    }
}
