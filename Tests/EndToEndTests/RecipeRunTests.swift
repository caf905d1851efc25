import SkeinBench
import SkeinTestSupport
import Testing

/// Each recipe of docs/RECIPES.md as real processes: one hash, whoever computes, and adapters that
/// everything else reads.
@Suite("recipes", .serialized)
struct RecipeRunTests {
    struct Recipe: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let options: [String]

        init(_ name: String, _ options: [String]) {
            testDescription = name
            self.options = options
        }
    }

    static let all = [
        Recipe(
            "restarts",
            [
                "--schedule", "cosine-with-restarts", "--restarts", "3", "--warmup-ratio", "0.1",
                "--min-learning-rate", "1e-4",
            ]),
        Recipe(
            "polynomial",
            ["--schedule", "polynomial", "--power", "2.5", "--min-learning-rate", "1e-5"]),
        Recipe("rslora", ["--rslora", "on"]),
        Recipe("lora-plus", ["--lora-plus-ratio", "8"]),
        Recipe(
            "patterns",
            [
                "--target-modules", "all-linear", "--rank-pattern", "down_proj=5",
                "--rank-pattern", "layers.0.self_attn.q_proj=3", "--alpha-pattern",
                "(gate|up)_proj=4",
            ]),
        Recipe("label-smoothing", ["--label-smoothing", "0.1"]),
        Recipe("neftune", ["--neftune-alpha", "5"]),
        Recipe(
            "validate-every",
            [
                "--validate-every", "2", "--best-metric", "accuracy", "--validate-at-start",
                "--learning-rate", "0.05", "--sample-prompt", "1?",
            ]),
        Recipe(
            "local steps",
            [
                "--local-steps", "2", "--logical-workers", "2", "--batch-size", "1",
                "--save-state-every", "2", "--dora", "on", "--lora-plus-ratio", "4",
                "--neftune-alpha", "5", "--schedule", "cosine-with-restarts", "--restarts", "2",
            ]),
        Recipe("dora", ["--dora", "on", "--target-modules", "all-linear"]),
        Recipe(
            "embedding and head",
            [
                "--target-modules", "q_proj,embed_tokens,lm_head", "--layers", "1",
                "--neftune-alpha", "5", "--rank-pattern", "embed_tokens=3", "--dropout", "0.1",
            ]),
        Recipe(
            "embedding and head with local steps",
            [
                "--target-modules", "embed_tokens,lm_head", "--local-steps", "2",
                "--logical-workers", "2", "--batch-size", "1", "--save-state-every", "2",
                "--lora-plus-ratio", "4", "--compute", "bf16",
            ]),
        Recipe(
            "dora and all the others",
            [
                "--dora", "on", "--rslora", "on", "--lora-plus-ratio", "4", "--rank-pattern",
                "o_proj=2", "--neftune-alpha", "5", "--label-smoothing", "0.05",
                "--gradient-codec", "int8", "--compute", "bf16", "--schedule", "polynomial",
            ]),
    ]

    private let run = [
        "--epochs", "2", "--checkpoint-every", "3", "--learning-rate", "5e-3",
        "--micro-batch-tokens", "48",
    ]

    private func hash(_ bench: Workbench, _ output: String) throws -> String {
        try #require(try bench.digests(of: output + "/adapter")["adapter_model.safetensors"])
    }

    @Test(
        "one hash for threads, streamed weights, recomputation, and a cluster that is killed twice",
        arguments: all)
    func oneHash(recipe: Recipe) throws {
        var model = TinyModel()
        model.weightType = .q8x0
        try Workbench.with(model: model) { bench in
            let options = run + recipe.options
            try bench.train("plain", run)
            try bench.train("first", options + ["--threads", "1"])
            let result = try bench.result(of: "first")
            let expected = try hash(bench, "first")
            #expect(try hash(bench, "plain") != expected, "the recipe changes nothing")
            try bench.train(
                "second",
                options + ["--threads", "2", "--weights", "streamed", "--gradient-checkpointing"])
            #expect(try bench.result(of: "second") == result)
            #expect(try bench.metrics(of: "second") == bench.metrics(of: "first"))

            let cluster = try ClusterHarness(bench.work(), "cluster", options)
            for number in 0..<2 { try cluster.startWorker("w\(number)") }
            try cluster.waitForSteps(4)
            try cluster.restartWorker(0)
            try cluster.waitForSteps(8)
            try cluster.restartCoordinator()
            try cluster.finish()
            #expect(try hash(bench, "cluster") == expected)
            let proof = try SkeinProcess.run(["inspect", bench.path("cluster"), "--verify-ledger"])
            #expect(proof.status == 0, "\(proof.error)")
        }
    }

    @Test(
        "adapters of recipes are used, exported with equal logits, continued and merged",
        arguments: all.filter { $0.options[0] != "--schedule" })
    func used(recipe: Recipe) throws {
        var tiny = TinyModel()
        // Other formats and merging need a head that is not the embedding.
        tiny.tiedEmbeddings = !recipe.options.contains { $0.contains("lm_head") }
        try Workbench.with(model: tiny) { bench in
            let isDoRA = recipe.options.contains("--dora")
            try bench.train("run", run + recipe.options)
            let adapter = bench.path("run/adapter")
            let model = ["--model", bench.model]
            for format in ["peft", "mlx", "gguf"] {
                // `export` compares logits before it gives the files their name.
                let ending = try SkeinProcess.run(
                    ["export", "--adapter", adapter, "--format", format, "--output"]
                        + [bench.path(format)] + model)
                if isDoRA, format == "gguf" {
                    #expect(ending.status == 64 && ending.error.contains("skein fuse"))
                    continue
                }
                #expect(ending.status == 0, "\(format): \(ending.error)")
                let loss = try evaluate(bench, model + ["--adapter", bench.path(format)])
                #expect(
                    try abs(loss / evaluate(bench, model + ["--adapter", adapter]) - 1) < 1e-5)
            }
            let fused = try SkeinProcess.run(
                ["fuse", "--adapter", adapter, "--output", bench.path("fused.gguf")] + model)
            #expect(fused.status == 0, "\(fused.error)")
            let merged = try evaluate(bench, ["--model", bench.path("fused.gguf")])
            #expect(try abs(merged / evaluate(bench, model + ["--adapter", adapter]) - 1) < 1e-4)
            // A run goes on from it, with what it says of itself.
            let patterns = recipe.options.contains("--rank-pattern") ? recipe.options : []
            try bench.train("next", run + patterns + ["--init-adapter", adapter])
            // DoRA's own option stands first.
            let others = isDoRA ? Array(patterns.dropFirst(2)) : patterns
            let ending = try SkeinProcess.run(
                bench.trainWords(
                    "other",
                    run + others + ["--init-adapter", adapter, "--dora", isDoRA ? "off" : "on"]))
            // The embedding and the head have none: that is known before the files are compared.
            let (status, text) = tiny.tiedEmbeddings ? (65, "magnitudes") : (64, "embed_tokens")
            #expect(ending.status == status && ending.error.contains(text), "\(ending.error)")
        }
    }

    /// The adapter's loss, or the base model's without one.
    private func evaluate(_ bench: Workbench, _ more: [String]) throws -> Double {
        let ending = try SkeinProcess.run(["evaluate", "--data", bench.data, "--json"] + more)
        #expect(ending.status == 0, "\(ending.error)")
        let object = try Workbench.object(ending.output)
        let figures = object["adapter"] ?? object["base"]
        return try #require((figures as? [String: Any])?["loss"] as? Double)
    }

    @Test("options that do not go together are refused before anything is written")
    func refused() throws {
        try Workbench.with { bench in
            for (more, text) in [
                (["--restarts", "2"], "--restarts needs --schedule cosine-with-restarts"),
                (
                    ["--warmup-ratio", "0.1", "--warmup-steps", "2"],
                    "--warmup-ratio and --warmup-steps exclude each other"
                ),
                (["--rank-pattern", "gate_proj=3"], "\"gate_proj\" is not allowed"),
                (
                    ["--rank-pattern", "q_proj=3", "--rank-pattern", "self_attn.q_proj=4"],
                    "--rank-pattern"
                ),
                (["--lora-plus-ratio", "0"], "--lora-plus-ratio"),
                (
                    ["--validate-every", "2", "--validation-split", "0"],
                    "--validate-every needs --validation-split above 0, or a file"
                ),
                (
                    ["--dora", "on", "--target-modules", "q_proj,lm_head"],
                    "--dora and --target-modules lm_head exclude each other"
                ),
            ] {
                let ending = try SkeinProcess.run(bench.trainWords("x", more))
                #expect(ending.status == 64)
                #expect(ending.error.contains(text), "\(ending.error)")
            }
            #expect(try bench.digests(of: ".").keys.allSatisfy { !$0.hasPrefix("x/") })
        }
    }

    @Test("with a tied head, an adapter of it is used, and no other format or merged model is made")
    func tied() throws {
        try Workbench.with { bench in
            try bench.train("run", run + ["--target-modules", "embed_tokens,v_proj"])
            let adapter = ["--adapter", bench.path("run/adapter"), "--model", bench.model]
            let base = try evaluate(bench, ["--model", bench.model])
            #expect(try evaluate(bench, adapter) < base)
            for (words, status) in [
                (["export", "--format", "mlx", "--output", bench.path("mlx")], 64),
                (["export", "--format", "gguf", "--output", bench.path("a.gguf")], 64),
                (["fuse", "--output", bench.path("fused.gguf")], 65),
            ] as [([String], Int32)] {
                let ending = try SkeinProcess.run(words + adapter)
                #expect(ending.status == status, "\(words): \(ending.error)")
                #expect(ending.error.contains("embed_tokens"), "\(ending.error)")
            }
            let same = try SkeinProcess.run(
                ["export", "--format", "peft", "--output", bench.path("peft")] + adapter)
            #expect(same.status == 0, "\(same.error)")
        }
    }
}
