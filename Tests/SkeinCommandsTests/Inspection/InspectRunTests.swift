import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

/// A run directory of three steps with two micro-batches each, written by the modules themselves.
@Suite struct InspectRunTests {
    private let layout = ParameterLayout([
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", [2, 3]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", [4, 2]),
    ])

    private func withRun(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let run = RunFile(
                version: "0.1.0", fingerprint: "engine 1", model: "m.gguf", data: "d.jsonl",
                modelDigest: "aa", dataDigest: "bb", configuration: TrainingConfiguration.fixed)
            try run.write(to: directory + "/run.json")
            let ledger = try Ledger(path: directory + "/ledger.jsonl", keepingThroughStep: 0)
            let metrics = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: 0)
            for step in 1...3 {
                try ledger.append(
                    (0..<2).map { index in
                        LedgerEntry(
                            step: step, microBatch: index, worker: "local", attempt: 1, tokens: 10,
                            lossTokens: 4, lossSum: 8,
                            gradientDigest: String(repeating: "a", count: 64))
                    })
                try metrics.append(
                    StepMetrics(
                        step: step, epoch: 1, loss: 2, tokens: 20, lossTokens: 8,
                        learningRate: 1e-4, gradientNorm: 1, seconds: 1, tokensPerSecond: 20,
                        workers: 1))
                let loss: Double? = [1: 1.5, 2: 1.25, 3: nil][step] ?? nil
                try metrics.append(
                    ValidationMetrics(step: step, epoch: 1, loss: loss, tokens: 4))
            }
            for step in [2, 3] { try save(step, in: directory) }
            try AdapterFiles.write(
                configuration: adapter, tensors: layout.tensors(values),
                to: directory + "/adapter")
            try body(directory)
        }
    }

    private let values = (0..<14).map { Float($0) }
    private let adapter = AdapterConfiguration(
        rank: 2, alpha: 4, dropout: 0.05, targetModules: ["q_proj"], baseModelName: "m")

    private func save(_ step: Int, in directory: String) throws {
        let checkpoint = Checkpoint(
            state: TrainingState(
                step: step, epoch: 1, bestValidationLoss: 1.25, bestStep: 2,
                validationsSinceBest: 0, configurationDigest: "cc"),
            adapter: adapter, parameters: values, averages: values, squareAverages: values)
        try CheckpointStore(directory: directory + "/checkpoints").save(checkpoint, layout: layout)
    }

    private func inspect(_ words: String...) -> (status: Int32, output: String, error: String) {
        let process = CapturedProcess()
        let status = CommandLineTool.skein.run(["inspect"] + words, process.io())
        return (status, process.output, process.error)
    }

    private func facts(_ words: String...) throws -> [String: Any] {
        let process = CapturedProcess()
        let status = CommandLineTool.skein.run(["inspect", "--json"] + words, process.io())
        try #require(status == 0, "\(process.error)")
        let object = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
        return try #require(object as? [String: Any])
    }

    @Test("inspect shows inputs, progress, checkpoints and result of a run")
    func run() throws {
        try withRun { directory in
            let found = try facts(directory)
            #expect(found["kind"] as? String == "run")
            #expect(found["model_sha256"] as? String == "aa")
            #expect(found["steps"] as? Int == 3)
            #expect(found["tokens"] as? Int == 60)
            #expect(found["last_loss"] as? Double == 2)
            #expect(found["best_validation_loss"] as? Double == 1.25)
            #expect(found["best_validation_step"] as? Int == 2)
            let configuration = try #require(found["configuration"] as? [String: Any])
            #expect(configuration["rank"] as? Int == 8)
            let weights = try MappedFile(path: directory + "/adapter/adapter_model.safetensors")
            #expect(
                found["adapter_sha256"] as? String
                    == SHA256.digest(of: weights.bytes).description)
            let checkpoints = try #require(found["checkpoints"] as? [[String: Any]])
            #expect(checkpoints.map { $0["step"] as? Int } == [2, 3])
            #expect(checkpoints.allSatisfy { $0["verified"] as? Bool == true })
            #expect(found["ledger"] == nil)
            let text = inspect(directory).output
            #expect(text.contains("--target-modules q_proj,k_proj,v_proj,o_proj\n"))
            #expect(text.contains("step 2: verified\n"))
        }
    }

    @Test("inspect says that the one hash was given up, and from which step on")
    func otherEngines() throws {
        try withRun { directory in
            #expect(try facts(directory)["other_engines_from_step"] == nil)
            var run = try RunFile(path: directory + "/run.json")
            run.otherEnginesFrom = 3
            try run.write(to: directory + "/run.json")
            #expect(try facts(directory)["other_engines_from_step"] as? Int == 3)
            let sentence = "workers with other engines were admitted from step 3 on: the result "
            #expect(inspect(directory).output.contains(sentence))
        }
    }

    @Test("inspect shows a damaged checkpoint of a run, and fails for the checkpoint itself")
    func damagedCheckpoint() throws {
        try withRun { directory in
            let path = directory + "/checkpoints/step-000003"
            #expect(try facts(path)["step"] as? Int == 3)
            #expect(try facts(path)["verified"] as? Bool == true)
            let file = path + "/optimizer.safetensors"
            var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
            bytes[bytes.count - 1] ^= 1
            try AtomicFile.write(bytes, to: file)

            let checkpoints = try #require(try facts(directory)["checkpoints"] as? [[String: Any]])
            #expect(checkpoints.map { $0["verified"] as? Bool } == [true, false])
            let problem = "optimizer.safetensors has a different SHA-256 than the manifest says"
            #expect((checkpoints[1]["problem"] as? String)?.contains(problem) == true)
            #expect(
                throws: TrainingError.damagedCheckpoint(
                    path: path, problem: .wrongDigest(file: "optimizer.safetensors"))
            ) { try Checkpoint.verify(directory: path) }
            let found = inspect(path)
            #expect(found.status == 65)
            #expect(found.error.contains(problem))
        }
    }

    @Test("inspect works for a run that has no metrics, checkpoints or adapter yet")
    func fresh() throws {
        try withRun { directory in
            for name in ["metrics.jsonl", "ledger.jsonl", "adapter", "checkpoints"] {
                try FileManager.default.removeItem(atPath: directory + "/" + name)
            }
            let found = try facts(directory)
            #expect(found["steps"] as? Int == 0)
            #expect(found["last_loss"] is NSNull)
            #expect(found["adapter_sha256"] is NSNull)
            #expect((found["checkpoints"] as? [Any])?.isEmpty == true)
            #expect(inspect(directory, "--verify-ledger").status == 74)
        }
    }

    @Test("--verify-ledger accepts a good ledger and refuses one with a line too few or too many")
    func ledger() throws {
        try withRun { directory in
            let found = try facts(directory, "--verify-ledger")
            #expect(
                found["ledger"] as? [String: Int]
                    == [
                        "steps": 3, "micro_batches": 6, "tokens": 60, "loss_tokens": 24,
                        "groups": 0,
                    ])
            #expect(
                inspect(directory, "--verify-ledger").output.contains(
                    "each micro-batch was counted exactly once: 3 steps, 6 micro-batches, "
                        + "60 tokens, 24 of them with loss"))
            let path = directory + "/ledger.jsonl"
            let lines = try String(contentsOfFile: path, encoding: .utf8)
                .split(separator: "\n").map(String.init)
            var repeated = lines
            repeated.insert(lines[3], at: 3)
            var lacking = lines
            lacking.remove(at: 2)
            for (damaged, first) in [
                (repeated, LedgerFinding.repeated(step: 2, microBatch: 1, count: 2)),
                (lacking, .missing(step: 2, microBatch: 0)),
            ] {
                try AtomicFile.write(damaged.map { $0 + "\n" }.joined(), to: path)
                var facts = Facts()
                let paths = RunPaths(directory: directory)
                let error = try #require(throws: TrainingError.self) { try facts.addLedger(paths) }
                guard case .ledgerRefuted(path, _, first) = error else {
                    Issue.record("\(error)")
                    continue
                }
                let found = inspect(directory, "--verify-ledger")
                #expect(found.status == 65)
                #expect(found.output.isEmpty)
                #expect(found.error.contains(first.what))
            }
        }
    }
}
