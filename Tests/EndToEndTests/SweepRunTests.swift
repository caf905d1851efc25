import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// `--sweep`: each adapter has the hash that it would have alone.
@Suite("sweep", .ownThreads)
struct SweepRunTests {
    private let run = [
        "--epochs", "3", "--checkpoint-every", "3", "--learning-rate", "5e-3",
        "--micro-batch-tokens", "48", "--threads", "2",
    ]

    /// Options of each recipe, and the same as words of `train`.
    private let recipes: [(name: String, line: String, words: [String])] = [
        ("01", #"{"rank": 4}"#, ["--rank", "4"]),
        (
            "warm", #"{"name": "warm", "learning-rate": 1e-3, "seed": 7}"#,
            ["--learning-rate", "1e-3", "--seed", "7"]
        ),
        (
            "03", #"{"dora": true, "targetModules": "all-linear"}"#,
            ["--dora", "on", "--target-modules", "all-linear"]
        ),
        ("04", #"{"dropout": 0.3, "layers": "1"}"#, ["--dropout", "0.3", "--layers", "1"]),
        (
            "half", #"{"name": "half", "data": "DATA:0.5", "neftune-alpha": 5}"#,
            ["--neftune-alpha", "5"]
        ),
        (
            "rounds",
            #"{"name": "rounds", "local-steps": 2, "logical-workers": 2, "batch-size": 1}"#,
            ["--local-steps", "2", "--logical-workers", "2", "--batch-size", "1"]
        ),
    ]

    private func hash(_ bench: Workbench, _ output: String) throws -> String {
        try #require(try bench.digests(of: output + "/adapter")["adapter_model.safetensors"])
    }

    private func alone(_ bench: Workbench, _ more: [String] = []) throws -> [String: String] {
        var hashes: [String: String] = [:]
        for recipe in recipes {
            let data = recipe.name == "half" ? bench.data + ":0.5" : bench.data
            try bench.train("alone-" + recipe.name, run + more + recipe.words, data: data)
            hashes[recipe.name] = try hash(bench, "alone-" + recipe.name)
        }
        return hashes
    }

    private func sweepFile(_ bench: Workbench) throws -> String {
        try bench.write(
            recipes.map { $0.line.replacingOccurrences(of: "DATA", with: bench.data) + "\n" }
                .joined(), to: "sweep.jsonl")
    }

    @Test(
        "hashes, metrics and checkpoints are those of the runs alone",
        arguments: [[], ["--layers", "1"]])
    func sameAsAlone(more: [String]) throws {
        var model = TinyModel()
        model.weightType = .q8x0
        try Workbench.with(model: model) { bench in
            let hashes = try alone(bench, more)
            let ending = try bench.train(
                "sweep", run + more + ["--sweep", try sweepFile(bench)])
            for recipe in recipes {
                #expect(try hash(bench, "sweep/" + recipe.name) == hashes[recipe.name])
                #expect(
                    try bench.result(of: "sweep/" + recipe.name)
                        == bench.result(of: "alone-" + recipe.name))
                #expect(
                    try bench.metrics(of: "sweep/" + recipe.name)
                        == bench.metrics(of: "alone-" + recipe.name))
                #expect(
                    ending.output.contains(String(try #require(hashes[recipe.name]).prefix(12))))
            }
            #expect(!FileManager.default.fileExists(atPath: bench.path("sweep/features")))
            let table = try Workbench.object(try bench.text(bench.path("sweep/sweep.json")))
            let runs = try #require(table["runs"] as? [[String: Any]])
            #expect(runs.count == recipes.count)
            for (run, recipe) in zip(runs, recipes) {
                #expect(run["name"] as? String == recipe.name)
                #expect(run["sha256"] as? String == hashes[recipe.name])
                #expect(run["complete"] as? Bool == true)
            }
            // Another seed has other validation rows.
            #expect(table["best"] is NSNull && ending.error.contains("none is named the best"))
            // This is so for all recipes, or for the one that adapts the upper block alone.
            #expect(
                ending.error.contains("the lower 1 of 2 blocks are computed once"),
                "\(ending.error)")
        }
    }

    @Test("killed in the middle and resumed, each ends with its hash")
    func killed() throws {
        try Workbench.with { bench in
            let more = ["--layers", "1", "--epochs", "40"]
            let hashes = try alone(bench, more)
            let words = bench.trainWords("sweep", run + more + ["--sweep", try sweepFile(bench)])
            var kills = 0
            for steps in [3, 9, 15] {
                let process = try SkeinProcess(words + ["--resume"])
                let path = bench.path("sweep/warm/metrics.jsonl")
                try FaultBench.wait(seconds: 120, for: "\(steps) steps") {
                    let data = FileManager.default.contents(atPath: path) ?? Data()
                    return data.count { $0 == 0x0A } >= steps || !process.isRunning
                }
                if process.isRunning { kills += 1 }
                process.end()
            }
            #expect(kills > 0)
            let again = try SkeinProcess.run(words)
            #expect(again.status == 64 && again.error.contains("not empty"))
            let ending = try SkeinProcess.run(words + ["--resume"])
            #expect(ending.status == 0, "\(ending.error)")
            for recipe in recipes {
                #expect(try hash(bench, "sweep/" + recipe.name) == hashes[recipe.name])
            }
            // A sweep that is complete says the same again.
            let last = try SkeinProcess.run(words + ["--resume"])
            #expect(last.status == 0 && last.output == ending.output, "\(last.error)")
        }
    }

    @Test(
        "an interrupt leaves checkpoints of all, and a recipe that fails or stops early leaves the others"
    )
    func leaving() throws {
        try Workbench.with { bench in
            let file = try bench.write(
                """
                [{"rank": 3, "name": "other"},
                 {"early-stop-patience": 1, "learning-rate": 0.5, "name": "early"},
                 {"rank": 2, "name": "calm"}]
                """, to: "sweep.json")
            try bench.train("calm", run + ["--rank", "2"])
            try bench.train(
                "early", run + ["--learning-rate", "0.5", "--early-stop-patience", "1"])
            // Its directory holds the run of another recipe, which it does not go on with.
            try bench.train("sweep/other", run + ["--rank", "5"])
            let before = try bench.result(of: "sweep/other")
            let ending = try SkeinProcess.run(
                bench.trainWords("sweep", run + ["--sweep", file, "--resume"]))
            #expect(ending.status == 65, "\(ending.error)")
            #expect(ending.error.contains("1 of 3 recipes failed: other"), "\(ending.error)")
            #expect(try bench.result(of: "sweep/other") == before)
            #expect(try hash(bench, "sweep/calm") == hash(bench, "calm"))
            #expect(try hash(bench, "sweep/early") == hash(bench, "early"))
            let table = try Workbench.object(try bench.text(bench.path("sweep/sweep.json")))
            let runs = try #require(table["runs"] as? [[String: Any]])
            let losses = runs.compactMap { $0["validation_loss"] as? Double }
            let best = runs.first { $0["validation_loss"] as? Double == losses.min() }
            #expect(losses.count == 2 && table["best"] as? String == best?["name"] as? String)
            #expect(runs[0]["complete"] as? Bool == false && runs[0]["error"] is String)
            let endless = bench.trainWords(
                "long", run + ["--epochs", "2000", "--sweep", file])
            let process = try SkeinProcess(endless)
            // Before its first step a recipe has nothing to keep.
            let metrics = bench.path("long/calm/metrics.jsonl")
            try FaultBench.wait(seconds: 120, for: "a step of calm") {
                let data = FileManager.default.contents(atPath: metrics) ?? Data()
                return String(decoding: data, as: UTF8.self).contains("\"loss\"")
                    || !process.isRunning
            }
            process.send(SIGINT)
            let stopped = try process.wait()
            #expect(stopped.status == 130 && stopped.error.contains("--resume"), "\(stopped.error)")
            let saved = try DiskStore().names(in: bench.path("long/calm/checkpoints"))
            #expect(!saved.isEmpty)
        }
    }

    @Test("losses of pairs are those of the runs alone, and cannot be compared")
    func pairs() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(24), to: "pairs.jsonl")
            let file = try bench.write(
                "{\"loss\": \"dpo\"}\n{\"loss\": \"dpo\", \"beta\": 0.3}\n{\"loss\": \"simpo\"}\n",
                to: "sweep.jsonl")
            let ending = try bench.train(
                "sweep", run + ["--layers", "1", "--no-token-cache", "--sweep", file], data: data)
            for (name, words) in [
                ("01", ["dpo"]), ("02", ["dpo", "--beta", "0.3"]), ("03", ["simpo"]),
            ] {
                try bench.train(
                    name, run + ["--layers", "1", "--no-token-cache", "--loss"] + words, data: data)
                #expect(try hash(bench, "sweep/" + name) == hash(bench, name))
            }
            #expect(ending.error.contains("[01] references: "), "\(ending.error)")
            let table = try Workbench.object(try bench.text(bench.path("sweep/sweep.json")))
            #expect(table["best"] is NSNull)
        }
    }

    @Test("lists are combined")
    func grid() throws {
        try Workbench.with(rows: 12) { bench in
            let file = try bench.write(
                "{\n\"rank\": [2, 4], \"seed\": [0, 1],\n\"epochs\": 1}", to: "grid.json")
            let ending = try bench.train("sweep", run + ["--sweep", file])
            let table = try Workbench.object(try bench.text(bench.path("sweep/sweep.json")))
            let runs = try #require(table["runs"] as? [[String: Any]])
            let found = runs.map { run in
                let recipe = run["recipe"] as? [String: String] ?? [:]
                return "\(run["name"] ?? "") \(recipe["rank"] ?? "") \(recipe["seed"] ?? "")"
            }
            #expect(found == ["01 2 0", "02 2 1", "03 4 0", "04 4 1"])
            #expect(ending.output.hasPrefix("recipe"))
        }
    }

    @Test("a sweep that cannot be is refused before anything is written")
    func refused() throws {
        try Workbench.with { bench in
            for (text, status, message) in [
                (#"{"rank": 4, "threads": 1}"#, 64, "sets threads, which all recipes"),
                (#"[{"rank": 4}, {"compute": "bf16"}]"#, 64, "sets compute, which all recipes"),
                (#"[{"rank": 4}, {"model": "other.gguf"}]"#, 64, "sets model, which all recipes"),
                (#"[{"name": "a"}, {"name": "a"}]"#, 65, "two recipes have the name a"),
                (#"[{"name": "../a"}]"#, 65, "cannot be the name of a recipe"),
                (#"[{"name": "features"}]"#, 65, "cannot be the name of a recipe"),
                (#"[{"name": 5}, {"name": ""}]"#, 65, "cannot be the name of a recipe"),
                ("[]", 65, "0 recipes"),
                (#"{"seed": [SEEDS]}"#, 65, "65 recipes; 1 to 64"),
                (#"[{"rank": 4}, 5]"#, 65, "not a list of recipes"),
                ("{\"rank\": 4}\n{\"rank\": }\n", 65, "sweep.json:2"),
                (#"[{"rnak": 4}]"#, 64, "rnak"),
                (#"[{"rank": "many"}]"#, 64, "rank"),
                (#"[{"rank": 4}, {"loss": "dpo"}]"#, 65, "no chosen"),
            ] {
                let seeds = (0..<65).map { "\($0)" }.joined(separator: ",")
                let file = try bench.write(
                    text.replacingOccurrences(of: "SEEDS", with: seeds), to: "sweep.json")
                let ending = try SkeinProcess.run(
                    bench.trainWords("x", ["--sweep", file]))
                #expect(ending.status == status, "\(text): \(ending.status) \(ending.error)")
                #expect(ending.error.contains(message), "\(text): \(ending.error)")
                #expect(!FileManager.default.fileExists(atPath: bench.path("x")), "\(text)")
            }
        }
    }
}
