import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinCommands

@Suite struct FuseCommandTests {
    /// A tiny model as a GGUF file and as a folder, and an adapter whose B is not zero.
    private static func withModel(_ body: (_ directory: String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/model.gguf")
            try AtomicFile.makeDirectory(directory + "/model")
            try TinyModel().writeHuggingFaceFolder(to: directory + "/model")
            try AtomicFile.makeDirectory(directory + "/adapter")
            try AtomicFile.write(
                """
                {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "lora_dropout": 0.0, \
                "target_modules": ["q_proj", "down_proj"], "bias": "none"}
                """, to: directory + "/adapter/adapter_config.json")
            var shapes: [(String, [Int])] = []
            for layer in 0..<2 {
                let block = "base_model.model.model.layers.\(layer)."
                shapes += [
                    (block + "self_attn.q_proj.lora_A.weight", [4, 64]),
                    (block + "self_attn.q_proj.lora_B.weight", [64, 4]),
                    (block + "mlp.down_proj.lora_A.weight", [4, 128]),
                    (block + "mlp.down_proj.lora_B.weight", [64, 4]),
                ]
            }
            try SafetensorsWriter.write(
                TinyModel().weights(shapes).map {
                    SafetensorsWriter.Tensor(
                        name: $0.name, shape: $0.shape, floats: $0.floats.map { $0 / 4 })
                }, metadata: ["format": "pt"],
                to: directory + "/adapter/adapter_model.safetensors")
            try body(directory)
        }
    }

    private static func fuse(_ words: String...) -> (status: Int32, process: CapturedProcess) {
        let process = CapturedProcess()
        let status = CommandLineTool.skein.run(["fuse"] + words, process.io())
        return (status, process)
    }

    private static func fields(_ process: CapturedProcess) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
        return try #require(object as? [String: Any])
    }

    @Test(
        "each base in each format computes what base and adapter do",
        arguments: ["model.gguf", "model"], ["out.gguf", "out"])
    func formats(base: String, output: String) throws {
        try Self.withModel { directory in
            let (status, process) = Self.fuse(
                "--model", "\(directory)/\(base)", "--adapter", directory + "/adapter", "--output",
                "\(directory)/\(output)", "--type", "F32", "--json")
            #expect(status == 0, "\(process.error)")
            let fields = try Self.fields(process)
            #expect(fields["changed"] as? Int == 4)
            let logits = try #require(fields["logits"] as? [String: Any])
            #expect(logits["positions"] as? Int == 64 && logits["equal_choices"] as? Int == 64)
            let off = try #require(logits["largest_difference"] as? Double)
            let largest = try #require(logits["largest"] as? Double)
            #expect(largest > 0.1 && off <= 2e-5 * largest, "\(off) of \(largest)")
        }
    }

    @Test("quantized types are for GGUF files only, and say how much they lose")
    func quantized() throws {
        try Self.withModel { directory in
            let model = directory + "/model.gguf"
            let (status, process) = Self.fuse(
                "--model", model, "--adapter", directory + "/adapter", "--output",
                directory + "/out.gguf", "--type", "q4_k")
            #expect(status == 0)
            // Rows of 64 and 128 numbers.
            for text in [
                "14 Q5_0", "1 Q8_0", "4 tensors changed", "relative RMS error", "logits of 64",
            ] {
                #expect(process.output.contains(text), "\(process.output)")
            }
            let (refused, other) = Self.fuse(
                "--model", model, "--output", directory + "/folder", "--type", "Q8_0")
            #expect(refused == 64 && other.error.contains("--type F32, F16, BF16"))
            #expect(!DiskStore().exists(directory + "/folder"))
        }
    }

    @Test("places where something is are refused before anything is read")
    func places() throws {
        try Self.withModel { directory in
            let model = directory + "/model"
            for (output, text) in [(model, "exists"), (model + "/out", "inside of")] {
                let (status, process) = Self.fuse("--model", model, "--output", output)
                #expect(status == 64 && process.error.contains(text))
            }
        }
    }

    @Test("a slash behind the output's name is no other name", arguments: ["hf", "gguf"])
    func trailingSlash(format: String) throws {
        try Self.withModel { directory in
            let (status, process) = Self.fuse(
                "--model", directory + "/model.gguf", "--output", directory + "/out/", "--format",
                format)
            #expect(status == 0, "\(process.error)")
            let model = try ModelDirectory.open(directory + "/out")
            #expect(model.configuration.layerCount == 2)
            let export = CapturedProcess()
            let exported = CommandLineTool.skein.run(
                [
                    "export", "--adapter", directory + "/adapter", "--model",
                    directory + "/model", "--format", format == "hf" ? "mlx" : "gguf",
                    "--output", directory + "/exported/",
                ], export.io())
            #expect(exported == 0, "\(export.error)")
            let written = try AdapterFormats.standard.format(at: directory + "/exported")
            #expect(written.id == (format == "hf" ? "mlx" : "gguf"))
        }
    }

    @Test("what is not finite is not called equal, and not generated from")
    func notFinite() throws {
        try Self.withModel { directory in
            // The product of gate and up is beyond 32 bits.
            try AtomicFile.write(
                #"{"peft_type": "LORA", "r": 4, "target_modules": ["gate_proj", "up_proj"]}"#,
                to: directory + "/adapter/adapter_config.json")
            let shapes = (0..<2).flatMap { layer in
                ["gate_proj", "up_proj"].flatMap { module in
                    let name = "base_model.model.model.layers.\(layer).mlp.\(module)."
                    return [
                        (name + "lora_A.weight", [4, 64]), (name + "lora_B.weight", [128, 4]),
                    ]
                }
            }
            try SafetensorsWriter.write(
                TinyModel().weights(shapes).map {
                    SafetensorsWriter.Tensor(
                        name: $0.name, shape: $0.shape, floats: $0.floats.map { $0 * 1e13 })
                }, metadata: ["format": "pt"],
                to: directory + "/adapter/adapter_model.safetensors")
            let words = ["--model", directory + "/model.gguf", "--adapter", directory + "/adapter"]
            let (status, process) = Self.fuse(
                words[0], words[1], words[2], words[3], "--output", directory + "/out", "--type",
                "F32")
            #expect(status == 65 && process.error.contains("not finite"), "\(process.error)")
            let generate = CapturedProcess()
            let ending = CommandLineTool.skein.run(
                ["generate", "--prompt", "goose"] + words, generate.io())
            #expect(ending == 65 && generate.error.contains("not finite"), "\(generate.error)")
        }
    }

    @Test("fields and files that mean nothing to the result do not spoil it")
    func strayFields() throws {
        try Self.withModel { directory in
            let config = directory + "/model/config.json"
            let text = try String(contentsOfFile: config, encoding: .utf8)
            for stray in ["-1", "1e20", "0.5"] {
                try AtomicFile.write(
                    "{\"original_max_position_embeddings\": \(stray)," + text.dropFirst(),
                    to: config)
                let output = directory + "/\(stray).gguf"
                let (status, process) = Self.fuse(
                    "--model", directory + "/model", "--output", output)
                #expect(status == 0, "\(process.error)")
            }
            try AtomicFile.write("{}", to: directory + "/model/adapter_config.json")
            let (status, process) = Self.fuse(
                "--model", directory + "/model", "--output", directory + "/out")
            #expect(status == 0, "\(process.error)")
            #expect(!DiskStore().exists(directory + "/out/adapter_config.json"))
        }
    }

    @Test("options that the result cannot have are refused")
    func options() throws {
        try Self.withModel { directory in
            let (status, process) = Self.fuse(
                "--model", directory + "/model", "--output", directory + "/out.gguf",
                "--max-shard-size", "5MB")
            #expect(status == 64 && process.error.contains("--max-shard-size"))
            let export = CapturedProcess()
            let ending = CommandLineTool.skein.run(
                [
                    "export", "--adapter", directory + "/adapter", "--model",
                    directory + "/model", "--format", "peft", "--output", directory + "/exported",
                    "--key-prefix", "language_model.model",
                ], export.io())
            #expect(ending != 0 && export.error.contains("leave out --key-prefix"))
            #expect(!DiskStore().exists(directory + "/exported"))
        }
    }

    @Test("sizes are numbers with a unit")
    func sizes() {
        let format = ValueFormat<Int>.byteCount
        #expect(format.read("5GB") == 5_000_000_000 && format.read("300mb") == 300_000_000)
        #expect(format.read("12") == 12)
        for text in ["", "0", "GB", "1.5GB", "-1", "5XB"] { #expect(format.read(text) == nil) }
    }
}
