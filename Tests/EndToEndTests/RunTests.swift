import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// How a run uses its data and its options.
@Suite("runs", .ownThreads)
struct RunTests {
    private func adapter(_ bench: Workbench, _ output: String) throws -> String {
        try #require(bench.result(of: output)["adapter/adapter_model.safetensors"])
    }

    @Test("the same weights as a GGUF file and as a Hugging Face folder give the same adapter")
    func modelForms() throws {
        try Workbench.with { bench in
            let folder = bench.path("folder")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try TinyModel().writeHuggingFaceFolder(to: folder)
            try bench.train("gguf", ["--epochs", "1"])
            let ending = try SkeinProcess.run(
                bench.trainWords("folder-run", ["--epochs", "1"], model: folder))
            #expect(ending.status == 0, "\(ending.error)")
            #expect(try adapter(bench, "folder-run") == adapter(bench, "gguf"))
        }
    }

    @Test("a pair and the conversation of its two turns give the same adapter")
    func dataForms() throws {
        try Workbench.with { bench in
            let turns = try Workbench.rows(40).split(separator: "\n").map { line in
                let row = try Workbench.object(String(line))
                let messages = [("user", "prompt"), ("assistant", "completion")].map {
                    ["role": $0.0, "content": row[$0.1] as? String ?? ""]
                }
                let data = try JSONSerialization.data(withJSONObject: ["messages": messages])
                return String(decoding: data, as: UTF8.self)
            }
            let data = try bench.write(turns.joined(separator: "\n"), to: "turns.jsonl")
            try bench.train("pairs", ["--epochs", "1"])
            try bench.train("turns", ["--epochs", "1"], data: data)
            #expect(try adapter(bench, "turns") == adapter(bench, "pairs"))
        }
    }

    @Test("a data folder has rows to train, validate and test; options may come from a file")
    func dataFolder() throws {
        try Workbench.with { bench in
            try FileManager.default.createDirectory(
                atPath: bench.path("data"), withIntermediateDirectories: true)
            let rows = Workbench.rows(40).split(separator: "\n").map { $0 + "\n" }
            for (name, part) in [("train", 0..<30), ("valid", 30..<35), ("test", 35..<40)] {
                try bench.write(rows[part].joined(), to: "data/\(name).jsonl")
            }
            let folder = try bench.train(
                "folder", ["--epochs", "1", "--learning-rate", "1e-3"], data: bench.path("data"))
            #expect(folder.output.contains("validation loss: "))
            #expect(folder.output.contains("test loss: "))
            #expect(folder.error.contains("30 to train on, 5 for validation"))

            let options = try bench.write(
                """
                {"epochs": 1, "learningRate": 1e-3, "rank": 8, "alpha": 16, "dropout": 0.05,
                 "targetModules": ["q_proj", "k_proj", "v_proj", "o_proj"], "schedule": "constant",
                 "warmup-steps": 0, "data": "\(bench.path("data"))"}
                """,
                to: "options.json")
            let ending = try SkeinProcess.run([
                "train", "--config", options, "--model", bench.model, "--output",
                bench.path("file"),
            ])
            #expect(ending.status == 0, "\(ending.error)")
            #expect(try bench.result(of: "file") == bench.result(of: "folder"))
        }
    }

    @Test("a run that gets worse stops early, keeps its best adapter, and stays stopped")
    func earlyStop() throws {
        try Workbench.with { bench in
            let flags = [
                "--epochs", "40", "--learning-rate", "2e-2", "--early-stop-patience", "3",
                "--keep-checkpoints", "100",
            ]
            let first = try bench.train("run", flags)
            #expect(first.error.contains("stopping early after step"))
            let validations = try bench.text(bench.path("run/metrics.jsonl"))
                .split(separator: "\n").map { try Workbench.object(String($0)) }
                .filter { $0["validation_loss"] != nil && $0["step"] as? Int != 0 }
            let losses = try validations.map { try #require($0["validation_loss"] as? Double) }
            let best = try #require(losses.indices.min { losses[$0] < losses[$1] })
            #expect(best == losses.count - 4 && losses.count < 40, "\(losses)")
            let step = try #require(validations[best]["step"] as? Int)
            let name = "checkpoints/step-" + String(format: "%06d", step)
            let result = try bench.result(of: "run")
            #expect(
                result["adapter/adapter_model.safetensors"]
                    == result["\(name)/adapter_model.safetensors"])

            let again = try bench.train("run", flags + ["--resume"])
            #expect(again.output == first.output)
            #expect(try bench.result(of: "run") == result)
        }
    }
}
