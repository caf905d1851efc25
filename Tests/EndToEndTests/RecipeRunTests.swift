import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// Each recipe of docs/RECIPES.md as real processes: everything else reads its adapters.
@Suite("recipes", .ownThreads)
struct RecipeRunTests {
    @Test(
        "adapters of recipes are used, exported with equal logits, continued and merged",
        arguments: LawRecipe.recipes.filter { $0.options[0] != "--schedule" })
    func used(recipe: LawRecipe) throws {
        var tiny = TinyModel()
        // Other formats and merging need a head that is not the embedding.
        tiny.tiedEmbeddings = !recipe.options.contains { $0.contains("lm_head") }
        try Workbench.with(model: tiny) { bench in
            let isDoRA = recipe.options.contains("--dora")
            try bench.train("run", LawRecipe.run + recipe.options)
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
            // A run goes on from it, with what it says of itself; where modules differ, with its words.
            let isPatterned = recipe.options.contains("--rank-pattern")
            let named = isPatterned ? TrainingConfiguration.fixedWords : []
            let patterns = isPatterned ? recipe.options : []
            try bench.train("next", LawRecipe.run + named + patterns + ["--init-adapter", adapter])
            // DoRA's own option stands first.
            let others = named + (isDoRA ? Array(patterns.dropFirst(2)) : patterns)
            let ending = try SkeinProcess.run(
                bench.trainWords(
                    "other",
                    LawRecipe.run + others + [
                        "--init-adapter", adapter, "--dora", isDoRA ? "off" : "on",
                    ]))
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
            try bench.train("run", LawRecipe.run + ["--target-modules", "embed_tokens,v_proj"])
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
