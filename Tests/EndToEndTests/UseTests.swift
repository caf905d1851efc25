import Foundation
import SkeinBasics
import SkeinFormats
import SkeinLab
import SkeinModels
import SkeinTestSupport
import Testing

/// `evaluate` and `generate` with an adapter that was just trained.
@Suite("using an adapter", .ownThreads)
struct UseTests {
    /// A tiny run that learns its rows nearly by heart.
    private let run = [
        "--epochs", "12", "--learning-rate", "1e-2", "--target-modules", "all-linear",
        "--validation-split", "0", "--dropout", "0",
    ]

    private func evaluate(_ bench: Workbench, _ more: [String]) throws -> SkeinProcess.Ending {
        try SkeinProcess.run(
            ["evaluate", "--model", bench.model, "--data", bench.data] + more)
    }

    @Test("evaluate shows base and adapter, and the adapter has learned")
    func evaluate() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let adapter = ["--adapter", bench.path("run/adapter")]
            let ending = try evaluate(bench, adapter + ["--json"])
            #expect(ending.status == 0, "\(ending.error)")
            let both = try Workbench.object(ending.output)
            #expect(both.keys.sorted() == ["adapter", "base", "compute"])
            #expect(both["compute"] as? String == "fp32")
            func number(_ name: String, _ field: String) throws -> Double {
                try #require((both[name] as? [String: Any])?[field] as? Double)
            }
            for name in ["base", "adapter"] {
                #expect(
                    (both[name] as? [String: Any])?.keys.sorted()
                        == ["loss", "loss_tokens", "perplexity", "rows", "token_accuracy"])
                #expect(try number(name, "rows") == 40)
                let loss = try number(name, "loss")
                #expect(abs(try number(name, "perplexity") / exp(loss) - 1) < 1e-12)
            }
            #expect(try number("adapter", "loss") < 0.7 * number("base", "loss"), "\(both)")
            #expect(try number("adapter", "token_accuracy") > number("base", "token_accuracy"))

            // Without an adapter there is only the base; the number of threads changes nothing.
            let base = try evaluate(bench, ["--json", "--threads", "1", "--weights", "streamed"])
            #expect(try Workbench.object(base.output).keys.sorted() == ["base", "compute"])
            for threads in ["1", "2"] {
                let again = try evaluate(bench, adapter + ["--json", "--threads", threads])
                #expect(again.output == ending.output)
            }
            let table = try evaluate(bench, adapter + ["--compare"]).output
            #expect(table.contains("base") && table.contains("adapter"))
            #expect(table.split(separator: "\n").count == 6)
        }
    }

    @Test("--require-improvement is an exit status")
    func requireImprovement() throws {
        try Workbench.with { bench in
            try bench.train("good", run)
            try bench.train("bad", ["--iterations", "3", "--learning-rate", "10"])
            func ask(_ adapter: String) throws -> SkeinProcess.Ending {
                try evaluate(bench, ["--adapter", bench.path(adapter), "--require-improvement"])
            }
            #expect(try ask("good/adapter").status == 0)
            let complaint = Complaint(65, "is not below the base's")
            complaint.check(try ask("bad/adapter"), isPlaced: false)

            // An adapter whose loss is NaN must not pass for a better one.
            let files = try AdapterFiles.map(bench.path("good/adapter"))
            try AdapterFiles.write(
                configuration: files.configuration,
                tensors: files.tensors.map { name, view in
                    SafetensorsWriter.Tensor(
                        name: name, shape: view.shape,
                        floats: view.floats().map { _ in 3e38 })
                }, to: bench.path("nan"))
            complaint.check(try ask("nan"), isPlaced: false)
            let json = try evaluate(bench, ["--adapter", bench.path("nan"), "--json"])
            #expect(json.output.contains("\"adapter\":{\"loss\":null"), "\(json.output)")
        }
    }

    @Test("export writes what evaluate, generate and train take in place of the original")
    func export() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let adapter = bench.path("run/adapter")
            let expected = try evaluate(bench, ["--adapter", adapter, "--json"]).output
            for format in AdapterFormats.standard.all {
                let path = bench.path("out." + format.id)
                let words = [
                    "export", "--adapter", adapter, "--format", format.id, "--output", path,
                ]
                // The run knows its model.
                let ending = try SkeinProcess.run(words)
                #expect(ending.status == 0, "\(ending.error)")
                #expect(ending.error.contains("verified") && ending.output.contains(path))
                #expect(try evaluate(bench, ["--adapter", path, "--json"]).output == expected)
                Complaint(65, "something at --output").check(try SkeinProcess.run(words))
                let inspected = try SkeinProcess.run(["inspect", path, "--json"])
                #expect(inspected.output.contains("\"format\":\"\(format.id)\""))
                try bench.train(
                    "on-" + format.id, run + ["--init-adapter", path, "--iterations", "2"])
            }
            // Rank, alpha, modules and layers are the adapter's unless they are given.
            let file = bench.path("out.gguf")
            try bench.train("of", ["--rank", "3", "--alpha", "9", "--layers", "1"])
            try bench.train("left", ["--init-adapter", bench.path("of/adapter"), "--epochs", "1"])
            let left = try Workbench.object(
                String(contentsOfFile: bench.path("left/run.json"), encoding: .utf8))
            let options = try #require(left["configuration"] as? [String: Any])
            #expect(options["rank"] as? Int == 3 && options["alpha"] as? Double == 9)
            #expect(options["layers"] as? String == "1-1")
            let refused = bench.trainWords("no", ["--init-adapter", file, "--rank", "3"])
            Complaint(65, "--rank").check(
                try SkeinProcess.run(refused), isPlaced: false)
            let hashes = try AdapterFormats.standard.all.map { format in
                try RegularFile.digest(
                    of: bench.path("on-\(format.id)/adapter/adapter_model.safetensors")
                ).digest
            }
            #expect(Set(hashes).count == 1)
            let card = try String(
                contentsOfFile: adapter + "/README.md", encoding: .utf8)
            let digest = try RegularFile.digest(of: adapter + "/adapter_model.safetensors").digest
            #expect(card.contains("| \(digest) |") && card.contains("--learning-rate 0.01"))
            // Nothing is left behind.
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: bench.directory)
                    .allSatisfy { !$0.contains(".tmp-") })
        }
    }

    @Test("an adapter of another base model is refused with both hashes, unless any will do")
    func otherBase() throws {
        try Workbench.with { bench in
            try bench.train("run", ["--iterations", "1"])
            var other = TinyModel()
            other.seed = 2
            try other.writeGGUF(to: bench.path("other.gguf"))
            let adapter = ["--adapter", bench.path("run/adapter")]
            let own = try RegularFile.digest(of: bench.model).digest.description
            let found = try RegularFile.digest(of: bench.path("other.gguf")).digest.description
            for words in [
                ["generate", "--prompt", "x", "--max-tokens", "2"],
                ["evaluate", "--data", bench.data],
                ["export", "--format", "mlx", "--output", bench.path("mlx")],
                ["export", "--format", "mlx", "--output", bench.path("mlx"), "--no-verify"],
            ] {
                let all = words + ["--model", bench.path("other.gguf")] + adapter
                Complaint(65, own, found, "--any-base").check(try SkeinProcess.run(all))
                let ending = try SkeinProcess.run(all + ["--any-base"])
                #expect(ending.status == 0, "\(ending.error)")
                try? FileManager.default.removeItem(atPath: bench.path("mlx"))
            }
            let words =
                bench.trainWords("on", model: bench.path("other.gguf")) + [
                    "--init-adapter", bench.path("run/adapter"), "--iterations", "1",
                ]
            Complaint(65, own, found).check(try SkeinProcess.run(words))
            let ending = try SkeinProcess.run(words + ["--any-base"])
            #expect(ending.status == 0, "\(ending.error)")
        }
    }

    @Test("evaluate refuses what it cannot evaluate")
    func evaluateRefuses() throws {
        try Workbench.with { bench in
            Complaint(64, "--compare", "--adapter").check(try evaluate(bench, ["--compare"]))
            Complaint(65, "adapter_config.json")
                .check(try evaluate(bench, ["--adapter", bench.directory]))
            try bench.train("run", ["--iterations", "1"])
            var other = TinyModel()
            other.width = 32
            try other.writeGGUF(to: bench.path("other.gguf"))
            let ending = try SkeinProcess.run([
                "evaluate", "--model", bench.path("other.gguf"), "--data", bench.data,
                "--adapter", bench.path("run/adapter"),
            ])
            Complaint(65, "made for another base model", "--model").check(ending)
        }
    }

    @Test("generate answers as its flags say, and the same way each time")
    func generate() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            func ask(_ more: [String]) throws -> (tokens: [Int], all: [String: Any]) {
                let ending = try SkeinProcess.run(
                    [
                        "generate", "--model", bench.model, "--prompt", "What is the wind of 2?",
                        "--max-tokens", "24", "--json",
                    ] + more)
                #expect(ending.status == 0, "\(ending.error)")
                let object = try Workbench.object(ending.output)
                #expect(
                    object.keys.sorted() == [
                        "finish_reason", "prompt_tokens", "text", "tokens",
                        "tokens_per_second",
                    ])
                return (try #require(object["tokens"] as? [Int]), object)
            }
            let greedy = try ask([])
            #expect(try ask(["--threads", "1", "--weights", "streamed"]).tokens == greedy.tokens)
            #expect(!greedy.tokens.isEmpty && greedy.tokens.count <= 24)
            let chat = try #require(greedy.all["prompt_tokens"] as? Int)
            #expect(try #require(ask(["--raw"]).all["prompt_tokens"] as? Int) < chat)

            let adapter = ["--adapter", bench.path("run/adapter")]
            let learned = try ask(adapter)
            #expect(learned.tokens != greedy.tokens)
            let text = try #require(learned.all["text"] as? String)
            #expect(text.hasPrefix("The "), "\(text)")
            let plain = try SkeinProcess.run(
                [
                    "generate", "--model", bench.model, "--prompt", "What is the wind of 2?",
                    "--max-tokens", "24",
                ] + adapter)
            #expect(plain.output == text + "\n")

            let warm = ["--temperature", "1", "--top-k", "40", "--top-p", "0.95"]
            let drawn = try ask(warm + ["--seed", "7"]).tokens
            #expect(try ask(warm + ["--seed", "7", "--threads", "1"]).tokens == drawn)
            #expect(try ask(warm + ["--seed", "8"]).tokens != drawn)
        }
    }

    @Test("a raw prompt begins with the begin token where the model wants one")
    func beginToken() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let files = [
                ("bos/config.json", "config.json"), ("bos/model.safetensors", "model.safetensors"),
                ("bos/tokenizer_config.json", "tokenizer_config.json"),
                ("tokenizers/llama3.json", "tokenizer.json"),
            ]
            for (fixture, name) in files {
                try FileManager.default.copyItem(
                    atPath: TestPaths.fixture(fixture), toPath: directory + "/" + name)
            }
            let path = directory + "/logits.safetensors"
            for prompt in ["The lamp", "<|begin_of_text|>The lamp"] {
                let ending = try SkeinProcess.run([
                    "generate", "--model", directory, "--raw", "--prompt", prompt, "--logits",
                    path,
                ])
                #expect(ending.status == 0, "\(ending.error)")
                let ids = try SafetensorsFile(path: path).tensor("ids").floats()
                #expect(ids.first == 443 && ids.filter { $0 == 443 }.count == 1)
            }
        }
    }

    @Test(
        "models whose heads together are wider or narrower are trained, evaluated and used",
        arguments: TinyModel.otherHeads)
    func otherHeads(tiny: TinyModel) throws {
        try Workbench.with(model: tiny) { bench in
            try bench.train("one", run + ["--threads", "1"])
            try bench.train("two", run + ["--threads", "2", "--weights", "streamed"])
            #expect(try bench.result(of: "one") == bench.result(of: "two"))
            let adapter = ["--adapter", bench.path("one/adapter")]
            let judged = try evaluate(bench, adapter + ["--require-improvement"])
            #expect(judged.status == 0, "\(judged.error)")
            let answers = try ["1", "2"].map { threads in
                let ending = try SkeinProcess.run(
                    [
                        "generate", "--model", bench.model, "--prompt", "What is the wind of 2?",
                        "--max-tokens", "24", "--threads", threads,
                    ] + adapter)
                #expect(ending.status == 0, "\(ending.error)")
                return ending.output
            }
            #expect(answers[0] == answers[1] && answers[0].hasPrefix("The "), "\(answers)")
        }
    }

    @Test("an answer ends where the model's context does")
    func contextEnd() throws {
        try Workbench.with(rows: 1) { bench in
            let ending = try SkeinProcess.run([
                "generate", "--model", bench.model, "--raw", "--prompt", "x", "--max-tokens",
                "4000", "--json",
            ])
            #expect(ending.status == 0, "\(ending.error)")
            let object = try Workbench.object(ending.output)
            let prompt = try #require(object["prompt_tokens"] as? Int)
            let tokens = try #require(object["tokens"] as? [Int])
            #expect(prompt + tokens.count <= 256)
        }
    }

    @Test("generate refuses what it cannot answer")
    func generateRefuses() throws {
        try Workbench.with(rows: 1) { bench in
            let long = String(repeating: "0 1 ", count: 200)
            let table: [(flags: [String], complaint: Complaint, isPlaced: Bool)] = [
                (["--prompt", "", "--raw"], Complaint(65, "no tokens"), true),
                (["--prompt", long, "--raw"], Complaint(65, "at most 256"), false),
                (["--prompt", "x", "--raw", "--system", "y"], Complaint(64, "--system"), true),
                (["--prompt", "x", "--adapter", bench.path("none")], Complaint(65, "none"), true),
                ([], Complaint(64, "--prompt is missing"), true),
            ]
            for (flags, complaint, isPlaced) in table {
                complaint.check(
                    try SkeinProcess.run(["generate", "--model", bench.model] + flags),
                    isPlaced: isPlaced)
            }
        }
    }
}
