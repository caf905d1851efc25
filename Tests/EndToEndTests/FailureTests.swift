import Foundation
import SkeinBasics
import SkeinLab
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

/// Runs that cannot go on by themselves: losses that are not finite, memory that is missing.
@Suite("failures", .ownThreads)
struct FailureTests {
    /// A model whose embedding of the letter Z is NaN, which no other token sees.
    private func modelWithoutZ() -> TinyModel {
        var model = TinyModel()
        model.tiedEmbeddings = false
        return model
    }

    private func breakZ(_ model: TinyModel, to path: String) throws {
        var image = model.gguf()
        let token = try #require(TinyVocabulary.tokens.firstIndex(of: "Z"))
        let nan = withUnsafeBytes(of: Float.nan) { Array($0) }
        #expect(image.tensors[0].name == "token_embd.weight")
        for column in 0..<model.width {
            let start = (token * model.width + column) * 4
            image.tensors[0].data.replaceSubrange(start..<(start + 4), with: nan)
        }
        try AtomicFile.write(image.bytes(), to: path)
    }

    @Test("a loss of NaN stops the run, names the weight that led to it and keeps the checkpoints")
    func lossNotFinite() throws {
        try Workbench.with(rows: 40) { bench in
            let model = modelWithoutZ()
            try breakZ(model, to: bench.path("z.gguf"))
            // Row 25, counted from 0, is in the seventh step.
            var rows = Workbench.rows(40).split(separator: "\n").map(String.init)
            rows[25] = "{\"prompt\": \"Zounds?\", \"completion\": \"goose\"}"
            let data = try bench.write(rows.joined(separator: "\n"), to: "z.jsonl")
            let flags = ["--shuffle", "off", "--validation-split", "0", "--checkpoint-every", "2"]
            let words = bench.trainWords("run", flags, model: bench.path("z.gguf"), data: data)
            let first = try SkeinProcess.run(words)
            let complaint = Complaint(
                65, "'model.embed_tokens.weight' is nan in row", "z.gguf", "fetch it again")
            complaint.check(first)
            let before = try bench.contents(of: "run")
            #expect(before.keys.contains("checkpoints/step-000006/manifest.json"))
            #expect(!before.keys.contains { $0.hasPrefix("adapter/") })
            #expect(try bench.metrics(of: "run").count == 6)
            try verifyLedger(bench, of: "run", steps: 6)

            complaint.check(try SkeinProcess.run(words + ["--resume"]))
            #expect(try bench.contents(of: "run") == before)
        }
    }

    @Test("a loss of NaN in the first step does the same")
    func firstStep() throws {
        try Workbench.with(rows: 4) { bench in
            try breakZ(modelWithoutZ(), to: bench.path("z.gguf"))
            let data = try bench.write(
                "{\"prompt\": \"Zounds?\", \"completion\": \"goose\"}\n", to: "z.jsonl")
            let ending = try SkeinProcess.run(
                bench.trainWords("run", model: bench.path("z.gguf"), data: data))
            Complaint(65, "'model.embed_tokens.weight' is nan in row", "z.gguf").check(ending)
        }
    }

    @Test("a validation loss of NaN is null and never the best")
    func validationNotFinite() throws {
        try Workbench.with { bench in
            try breakZ(modelWithoutZ(), to: bench.path("z.gguf"))
            let held = try bench.write(
                "{\"prompt\": \"Zounds?\", \"completion\": \"goose\"}\n", to: "z.jsonl")
            let options = ["--valid-data", held, "--epochs", "2"]
            let named = try SkeinProcess.run(
                bench.trainWords("named", options, model: bench.path("z.gguf")))
            Complaint(65, "'model.embed_tokens.weight' is nan in row", "z.gguf").check(named)
            let ending = try SkeinProcess.run(
                bench.trainWords(
                    "run", options + ["--validate-at-start", "off"], model: bench.path("z.gguf")))
            #expect(ending.status == 0, "\(ending.error)")
            #expect(!ending.error.contains("the best so far"))
            let metrics = try bench.text(bench.path("run/metrics.jsonl"))
            #expect(metrics.contains("\"validation_loss\":null"))
            #expect(!metrics.lowercased().contains("nan"))
            #expect(try bench.digests(of: "run").keys.contains("adapter/adapter_config.json"))
        }
    }

    @Test("a run that does not fit into memory says which flags make it fit, with sizes")
    func memoryDecision() throws {
        var model = TinyModel()
        model.weightType = .q4x0
        model.layerCount = 8
        model.width = 256
        model.feedForwardWidth = 512
        try Workbench.with(model: model) { bench in
            func job(_ change: (inout TrainingConfiguration) -> Void = { _ in }) throws
                -> TrainingJob
            {
                var configuration = TrainingConfiguration.fixed
                // A packed batch of validation takes more than a step that recomputes two small
                // ones.
                configuration.validationSplit = 0
                change(&configuration)
                return try TrainingJob(
                    configuration: configuration, modelPath: bench.model, dataPath: bench.data,
                    version: "test")
            }
            func needs(_ residence: WeightResidence, _ checkpointing: Bool, _ threads: Int) throws
                -> Int
            {
                try job().memoryEstimate(
                    residence: residence, checkpointing: checkpointing, threads: threads
                ).total
            }
            let resident = try needs(.resident, false, 2)
            let streamed = try needs(.streamed, false, 2)
            let recomputed = try needs(.resident, true, 2)
            let both = try needs(.streamed, true, 2)
            let least = try needs(.streamed, true, 1)
            let falling = [resident, streamed, recomputed, both, least]
            #expect(falling == falling.sorted(by: >) && Set(falling).count == 5, "\(falling)")

            #expect(try job().fit(available: nil, threads: 2).residence == .resident)
            #expect(try job().fit(available: resident, threads: 2).residence == .resident)
            #expect(try job().fit(available: resident - 1, threads: 2).residence == .streamed)
            #expect(try job().fit(available: streamed, threads: 2).estimate.total == streamed)
            let tight: [(available: Int, flags: String?, bytes: Int)] = [
                (streamed - 1, "--gradient-checkpointing", recomputed),
                (recomputed - 1, "--weights streamed --gradient-checkpointing", both),
                (both - 1, "--weights streamed --gradient-checkpointing --threads 1", least),
                (least - 1, nil, 0),
            ]
            for (available, flags, bytes) in tight {
                #expect(
                    throws: MemoryError.tooLarge(
                        needed: streamed, available: available,
                        fitting: flags.map { MemoryError.Way(flags: $0, bytes: bytes) },
                        smallest: least)
                ) { try job().fit(available: available, threads: 2) }
            }
            #expect(
                throws: MemoryError.tooLarge(
                    needed: resident, available: streamed,
                    fitting: MemoryError.Way(flags: "--weights streamed", bytes: streamed),
                    smallest: least)
            ) { try job { $0.weights = .resident }.fit(available: streamed, threads: 2) }
        }
    }

    @Test("a run that cannot fit ends before anything is made")
    func tooLarge() throws {
        var model = TinyModel()
        model.width = 512
        model.feedForwardWidth = 2048
        model.layerCount = 8
        try Workbench.with(rows: 1, model: model) { bench in
            let flags = ["--max-length", "1000000", "--micro-batch-tokens", "1000000"]
            // 600,000 tokens at once need more memory than such machines have; 20,000 tokens need
            // more than a process may have that is limited to a gigabyte of addresses.
            for (tokens, shell) in [(600_000, nil), (20_000, "ulimit -v 1000000; exec \"$@\"")] {
                let long = String(repeating: "0123456789", count: tokens / 10)
                let data = try bench.write("{\"text\": \"\(long)\"}\n", to: "long.jsonl")
                let words = bench.trainWords("run", flags, data: data)
                let ending = try SkeinProcess.run(words, shell: shell)
                Complaint(65, "GiB of memory", "is available")
                    .check(ending, isPlaced: false)
                #expect(!FileManager.default.fileExists(atPath: bench.path("run")))
            }
        }
    }
}
