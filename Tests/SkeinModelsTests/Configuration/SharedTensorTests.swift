import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// Weights that a file stores otherwise than the engine asks for them.
@Suite struct SharedTensorTests {
    @Test("the parts of a shared tensor are its rows, under the projections' names")
    func parts() throws {
        let plain = TinyModel().weights()
        func floats(_ name: String) throws -> [Float] {
            try #require(plain.first { $0.name == "model.layers.1.\(name).weight" }).floats
        }
        let model = try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            return try ModelDirectory.open(directory).configuration
        }
        var design = model.design
        design.blocks[1].projections = Projection.fused(
            model, [.queryKeyValue: "self_attn.qkv_proj", .gateUp: "mlp.gate_up_proj"])
        let queries = try ["q_proj", "k_proj", "v_proj"].flatMap { try floats("self_attn.\($0)") }
        let gates = try ["gate_proj", "up_proj"].flatMap { try floats("mlp.\($0)") }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/shared.safetensors"
            try SafetensorsWriter.write(
                [
                    SafetensorsWriter.Tensor(
                        name: "model.layers.1.self_attn.qkv_proj.weight", shape: [128, 64],
                        floats: queries),
                    SafetensorsWriter.Tensor(
                        name: "model.layers.1.mlp.gate_up_proj.weight", shape: [256, 64],
                        floats: gates),
                ], metadata: [:], to: path)
            let parts = ModelDirectory.parts(of: try SafetensorsFile(path: path).tensors, design)
            #expect(parts.count == 5)
            for name in [
                "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj",
                "mlp.up_proj",
            ] {
                let part = try #require(parts["model.layers.1.\(name).weight"])
                #expect(part.name == "model.layers.1.\(name).weight")
                #expect(part.floats() == (try floats(name)))
            }
        }
    }

    @Test("a part of an interleaved tensor is the same rows, in order")
    func interleavedPart() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let whole = try ModelDirectory.open(directory + "/tiny.gguf")
                .tensor("model.layers.0.self_attn.q_proj.weight")
            let part = whole.part("second", rows: 16..<48)
            #expect(part.shape == [32, 64])
            #expect(part.floats() == Array(whole.floats()[(16 * 64)..<(48 * 64)]))
        }
    }

    @Test("the bias of an interleaved matrix is put in the matrix's order")
    func interleavedBias() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            // Two heads of four: in the file (index, half), in the folder (half, index).
            image.tensors.append(tensor("bias", [8], floats: [0, 2, 1, 3, 10, 12, 11, 13]))
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            let view = try #require(GGUFFile(path: directory + "/tiny.gguf").tensors["bias"])
            #expect(
                view.renamed("b", interleavedHeadRows: 4).floats()
                    == [0, 1, 2, 3, 10, 11, 12, 13])
        }
    }

    /// A folder of the tiny model inside of one that sees, with names in today's or older spelling.
    private func open(
        older: Bool, storesHead: Bool = false, tied: Bool? = nil
    ) throws -> ModelDirectory {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            var text = TinyModel().configuration()
            text["model_type"] = "mistral"
            text["tie_word_embeddings"] = nil
            var fields: [String: Any] = [
                "model_type": "mistral3", "text_config": text,
                "vision_config": ["hidden_size": 8],
            ]
            fields["tie_word_embeddings"] = tied
            try AtomicFile.write(
                Array(JSONSerialization.data(withJSONObject: fields)),
                to: directory + "/config.json")
            func name(_ plain: String) -> String {
                older
                    ? "language_model." + plain
                    : plain.replacing("model.", with: "model.language_model.", maxReplacements: 1)
            }
            var tensors = TinyModel().weights().map {
                SafetensorsWriter.Tensor(
                    name: name($0.name), shape: $0.shape, floats: $0.floats)
            }
            let prefix = older ? "" : "model."
            for part in ["vision_tower.x", "multi_modal_projector.y"] {
                tensors.append(
                    SafetensorsWriter.Tensor(name: prefix + part, shape: [1], floats: [0]))
            }
            if storesHead {
                var head = tensors[0]
                head.name = older ? "language_model.lm_head.weight" : "lm_head.weight"
                tensors.append(head)
            }
            try SafetensorsWriter.write(
                tensors, metadata: [:], to: directory + "/model.safetensors")
            return try ModelDirectory.open(directory)
        }
    }

    @Test(
        "the text model is read out of one that sees, in both spellings, and the rest left alone",
        arguments: [true, false])
    func multimodal(older: Bool) throws {
        let model = try open(older: older)
        for weight in TinyModel().weights() {
            let name = weight.name.replacing(
                "model.", with: "model.language_model.", maxReplacements: 1)
            #expect(try model.tensor(name).floats() == weight.floats)
        }
        #expect(model.notes == ["2 tensors of the model's other inputs are left alone"])
        #expect(model.weightBytes == TinyModel().weights().reduce(0) { $0 + 4 * $1.floats.count })
        #expect(model.configuration.tiedEmbeddings)
        let lora = LoRAConfiguration(
            rank: 2, scale: 1, dropout: 0, targets: [.query], layers: 0..<1)
        let names = AdapterShape(lora, model: model.configuration).layout.entries.map(\.name)
        #expect(
            names[0]
                == "base_model.model.model.language_model.layers.0.self_attn.q_proj.lora_A.weight")
    }

    @Test("a head that is stored there is used, and one that is missing is missed")
    func heads() throws {
        let stored = try open(older: true, storesHead: true)
        #expect(!stored.configuration.tiedEmbeddings && stored.has("lm_head.weight"))
        #expect(throws: FormatError.self) { try open(older: false, tied: false) }
        #expect(try open(older: false, storesHead: true, tied: false).has("lm_head.weight"))
    }
}
