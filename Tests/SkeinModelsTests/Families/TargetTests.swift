import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct TargetTests {
    @Test("fused modules are known by name, after the seven")
    func modules() {
        #expect(TargetModule.allCases.map(\.rawValue) == Array(0..<7))
        #expect(TargetModule.fused.map(\.name) == ["qkv_proj", "gate_up_proj"])
        for module in TargetModule.allCases + TargetModule.fused {
            #expect(TargetModule(name: module.name) == module)
            #expect(AdapterTensorName.modules.contains(module.name))
        }
        #expect(TargetModule(name: "kv_proj") == nil)
        #expect(TargetModule.edges.map(\.name) == EdgeTensorName.Module.allCases.map(\.rawValue))
        for edge in TargetModule.edges { #expect(TargetModule(name: edge.name) == edge) }
    }

    @Test("an adapter's file calls modules what the family calls them")
    func namesOfFamilies() throws {
        let phi = try FamilyGolden(name: "phi3").folder()
        let granite = try FamilyGolden(name: "granitemoehybrid").folder()
        func modules(_ targets: [TargetModule], _ model: ModelConfiguration) -> Set<String> {
            AdapterShape(
                LoRAConfiguration(rank: 2, scale: 1, dropout: 0, targets: targets, layers: 0..<7),
                model: model
            ).modules
        }
        for (model, names) in [
            (phi, ["q_proj", "down_proj", "qkv_proj", "gate_up_proj"]),
            (granite, ["q_proj", "output_linear", nil, "input_linear"]),
        ] {
            let targets: [TargetModule] = [.query, .down, .queryKeyValue, .gateUp]
            for (target, name) in zip(targets, names) {
                guard let name else { continue }
                #expect(modules([target], model) == [name])
                #expect(model.design.blocks[6].target(module: name) == target)
                #expect(AdapterTensorName.modules.contains(name))
            }
        }
        #expect(modules([.gate, .up], granite) == ["gate_proj", "up_proj"])
        #expect(granite.design.blocks[0].target(module: "down_proj") == nil)
        #expect(phi.design.blocks[0].target(module: "output_linear") == nil)
        #expect(
            AdapterTensorName(layer: 3, module: "input_linear", matrix: .a).text
                == "base_model.model.model.layers.3.shared_mlp.input_linear.lora_A.weight")
        let export = try #require(
            FusedExport(
                AdapterShape(
                    LoRAConfiguration(
                        rank: 2, scale: 1, dropout: 0, targets: [.gate, .up, .down], layers: 0..<7),
                    model: granite), model: granite))
        #expect(export.multiplier == 2)
        #expect(export.shape.modules == ["input_linear", "output_linear"])
        try granite.design.check([.gateUp, .down], layers: 0..<7)
        #expect(throws: TargetError.self) {
            try granite.design.check([.queryKeyValue], layers: 0..<7)
        }
    }

    @Test("a target that a design lacks, or has twice, is refused by its name")
    func targets() throws {
        let llama = try FamilyGolden(name: "llama").folder().design
        let phi = try FamilyGolden(name: "phi3").folder().design
        for design in [llama, phi] { try design.check(TargetModule.allCases, layers: 0..<7) }
        try phi.check([.queryKeyValue, .output, .gateUp], layers: 3..<7)
        #expect(
            throws: TargetError.missing(
                module: .gateUp, layer: 2, known: TargetModule.allCases)
        ) { try llama.check([.query, .gateUp], layers: 2..<5) }
        let twice = TargetError.overlap(module: .queryKeyValue, part: .value)
        #expect(throws: twice) { try phi.check([.value, .queryKeyValue], layers: 0..<7) }
        #expect(twice.explanation.what.contains("v_proj is a part of qkv_proj"))
        let missing = TargetError.missing(module: .gateUp, layer: 2, known: [.query, .down])
        #expect(missing.explanation.what == "the model has no gate_up_proj to adapt")
        #expect(missing.explanation.remedy.contains("q_proj, down_proj"))
    }

    @Test("a fused module's sizes are those of its parts")
    func sizes() throws {
        let model = try FamilyGolden(name: "phi3").folder()
        #expect(model.sizes(of: .queryKeyValue) == (32, 64))
        #expect(model.sizes(of: .gateUp) == (32, 96))
        #expect(model.sizes(of: .down) == (48, 32))
    }

    @Test("an adapter's names may be inside of a model for several inputs, all or none")
    func names() throws {
        let text =
            "base_model.model.model.language_model.layers.3.self_attn.qkv_proj.lora_A.weight"
        let name = try #require(AdapterTensorName(text))
        #expect(name.text == text && name.blocks == .multimodal && name.module == "qkv_proj")
        #expect(
            AdapterTensorName(layer: 0, module: "gate_up_proj", matrix: .b).text
                == "base_model.model.model.layers.0.mlp.gate_up_proj.lora_B.weight")
        for broken in [
            "base_model.model.language_model.layers.3.self_attn.q_proj.lora_A.weight",
            "base_model.model.model.language_model.layers.03.self_attn.q_proj.lora_A.weight",
            "base_model.model.model.language_model.layers.3.mlp.qkv_proj.lora_A.weight",
        ] { #expect(AdapterTensorName(broken) == nil, "\(broken)") }
    }

    @Test("an adapter of a module and of its part, or with names of two kinds, is refused")
    func mixtures() throws {
        func outline(_ names: [AdapterTensorName]) throws -> AdapterOutline {
            try TestPaths.withTemporaryDirectory { directory in
                let tensors = names.map { name in
                    SafetensorsWriter.Tensor(
                        name: name.text, shape: name.matrix == .a ? [2, 8] : [8, 2],
                        floats: [Float](repeating: 0, count: 16))
                }
                try SafetensorsWriter.write(
                    tensors, metadata: [:], to: directory + "/adapter_model.safetensors")
                try writeConfiguration(to: directory + "/adapter_config.json")
                return try AdapterFiles.map(directory).outline
            }
        }
        func pair(
            _ module: String, _ blocks: AdapterTensorName.Blocks = .text
        ) -> [AdapterTensorName] {
            AdapterTensorName.Matrix.allCases.map {
                AdapterTensorName(layer: 0, module: module, matrix: $0, blocks: blocks)
            }
        }
        #expect(try outline(pair("qkv_proj") + pair("o_proj")).layers == [0])
        #expect(try outline(pair("q_proj", .multimodal)).layers == [0])
        #expect(throws: FormatError.self) { try outline(pair("qkv_proj") + pair("k_proj")) }
        #expect(throws: FormatError.self) {
            try outline(pair("q_proj") + pair("q_proj", .multimodal))
        }
    }

    private func writeConfiguration(to path: String) throws {
        try AtomicFile.write(
            #"{"peft_type":"LORA","r":2,"lora_alpha":4,"target_modules":["q_proj"]}"#, to: path)
    }
}
