import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// A run that becomes longer, and one that begins where another has ended, by all ways to run them.
@Suite("more of a run", .ownThreads)
struct MoreOfARunTests {
    /// What two runs have in common of which one has become longer: all but the names of the options,
    /// as they were then, in checkpoints and ledger.
    private func left(by law: LawBench, in output: String) throws -> LawBench.Outcome {
        var outcome = try law.outcome(of: output)
        outcome.files = outcome.files.filter { $0.key.hasPrefix("adapter/") }
        outcome.ledger = outcome.ledger.map {
            $0.replacing(/"inputs_sha256":"[0-9a-f]*"/, with: "")
        }
        return outcome
    }

    @Test("a complete run becomes longer in a cluster that is killed, and goes on by its folder")
    func killedCluster() throws {
        let long = LawRecipe("long", ["--epochs", "40"], [])
        try LawBench.with(long) { law in
            try law.train("reference", [])
            let first = try law.bench.train("longer", LawRecipe.run, data: law.data)
            #expect(first.error.contains("step 16/16"))
            let cluster = try law.cluster("longer", ["--resume"])
            try cluster.startWorker("w1")
            try cluster.waitForSteps(20)
            cluster.coordinator.send(SIGKILL)
            _ = try cluster.coordinator.wait()
            cluster.workers[0].send(SIGKILL)
            _ = try cluster.workers[0].wait()
            #expect(cluster.coordinator.errorText.contains("resuming after step 16"))
            let last = try SkeinProcess.run(
                ["train", "--resume", "--output", law.bench.path("longer")])
            #expect(last.status == 0, "\(last.error)")
            #expect(try left(by: law, in: "longer") == left(by: law, in: "reference"))
        }
    }

    @Test("launch, join and a process that dies twice make a run longer")
    func others() throws {
        let recipe = LawRecipe("longer", ["--epochs", "5", "--threads", "1"], [])
        try LawBench.with(recipe) { law in
            try law.train("reference", [])
            let expected = try left(by: law, in: "reference")
            for way in ["launch", "join", "train"] {
                try law.bench.train(way, LawRecipe.run, data: law.data)
                let output = ["--output", law.bench.path(way)]
                let more = ["--resume"] + output + ["--epochs", "5", "--threads", "1"]
                func go(_ words: [String]) throws {
                    let ending = try SkeinProcess.run(words)
                    #expect(ending.status == 0, "\(ending.error)")
                }
                switch way {
                case "launch": try go(["launch", "--local", "2"] + more)
                case "join":
                    try go(
                        ["join"]
                            + law.bench.trainWords(way, law.options, data: law.data).dropFirst()
                            + ["--task-rank", "0", "--task-count", "1"])
                default:
                    for step in [18, 30] {
                        let process = try SkeinProcess(["train"] + more)
                        try process.waitForError("step \(step)/40")
                        process.send(SIGKILL)
                        _ = try process.wait()
                    }
                    try go(["train"] + more)
                }
                #expect(try left(by: law, in: way) == expected, "\(way)")
            }
        }
    }

    @Test("a run of iterations gets epochs, and one whose rate falls says why it gets no more")
    func words() throws {
        try Workbench.with { bench in
            try bench.train("reference", ["--epochs", "4"])
            try bench.train("longer", ["--iterations", "10"])
            let resume = ["train", "--resume", "--output"]
            let ending = try SkeinProcess.run(resume + [bench.path("longer"), "--epochs", "4"])
            #expect(ending.status == 0, "\(ending.error)")
            #expect(ending.error.contains("validated it for that alone"))
            let weights = "adapter/adapter_model.safetensors"
            #expect(
                try bench.result(of: "longer")[weights] == bench.result(of: "reference")[weights])
            let record = try RunFile(path: bench.path("longer") + "/run.json")
            #expect(record.configuration.epochs == 4 && record.configuration.iterations == nil)

            try bench.train("falling", ["--schedule", "linear", "--epochs", "1"])
            let before = try bench.contents(of: "falling")
            let refused = try SkeinProcess.run(resume + [bench.path("falling"), "--epochs", "2"])
            #expect(refused.status == 65)
            #expect(
                refused.error.contains(
                    "with --schedule linear the learning rate of every step depends on how many"))
            #expect(refused.error.contains("--extend \(bench.path("falling")) --output DIR"))
            #expect(try bench.contents(of: "falling") == before)
        }
    }

    @Test(
        "a second part is what its options say when they are typed, goes on, and changes no first")
    func secondPart() throws {
        try Workbench.with { bench in
            let first = ["--schedule", "linear", "--epochs", "2", "--seed", "4", "--rank", "4"]
            try bench.train("first", first)
            let before = try bench.contents(of: "first")
            let adapter = bench.path("first/adapter")
            let extend = ["--extend", bench.path("first")]
            func run(_ command: [String], _ output: String, _ more: [String]) throws -> String {
                let ending = try SkeinProcess.run(
                    command + extend + ["--output", bench.path(output)] + more)
                #expect(ending.status == 0, "\(ending.error)")
                return ending.error
            }
            let told = try run(["train"], "second", ["--epochs", "3"])
            #expect(
                told.contains(
                    "this is a second part of \(bench.path("first"))/run.json; what is not given is "
                ))
            #expect(told.contains("--init-adapter \(adapter)") && told.contains("--seed 5"))
            try bench.train(
                "typed",
                first + [
                    "--epochs", "3", "--seed", "5", "--split-seed", "4", "--init-adapter", adapter,
                    "--alpha", "16", "--dropout", "0.05",
                ])
            let second = try bench.result(of: "second")
            #expect(try bench.result(of: "typed") == second)
            #expect(try bench.contents(of: "first") == before)

            // The same rows are held out, and which run it is a part of stands in its records.
            let records = try ["first", "second"].map {
                try RunFile(path: bench.path($0) + "/run.json")
            }
            #expect(records[0].rowsDigest == records[1].rowsDigest)
            #expect(records[1].initAdapterDigest == before["adapter/adapter_model.safetensors"])
            let configuration = try bench.text(bench.path("second/adapter/adapter_config.json"))
            let digest = try #require(records[1].initAdapterDigest)
            #expect(configuration.contains("\"init_adapter_sha256\""))
            #expect(configuration.contains(digest))
            #expect(
                try bench.text(bench.path("second/adapter/README.md"))
                    .contains("| began with the adapter, SHA-256 | \(digest) |"))

            // It goes on by its own folder and by its first words; a cluster makes the same.
            for words in [[], extend + ["--epochs", "3"]] {
                for name in ["adapter", "checkpoints/step-000024"] {
                    try FileManager.default.removeItem(atPath: bench.path("second/" + name))
                }
                let ending = try SkeinProcess.run(
                    ["train", "--resume", "--output", bench.path("second")] + words)
                #expect(ending.status == 0, "\(ending.error)")
                #expect(try bench.result(of: "second") == second)
            }
            _ = try run(
                ["launch", "--local", "2", "--threads", "1"], "launched", ["--epochs", "3"])
            #expect(try bench.result(of: "launched") == second)
        }
    }

    @Test("a second part of a run that is not complete is refused, and says how to finish it")
    func refusedParts() throws {
        try Workbench.with { bench in
            try bench.train("first", ["--iterations", "6", "--checkpoint-every", "2"])
            func refusal(_ more: [String]) throws -> String {
                let ending = try SkeinProcess.run(
                    ["train", "--extend", bench.path("first"), "--output", bench.path("second")]
                        + more)
                #expect(ending.status == 64, "\(ending.error)")
                return ending.error
            }
            #expect(
                try refusal(["--init-adapter", bench.path("first/adapter")])
                    .contains("--extend and --init-adapter cannot be combined"))
            // As if it had been killed after its fourth step.
            let metrics = bench.path("first/metrics.jsonl")
            let lines = try bench.text(metrics).split(separator: "\n").filter {
                !$0.contains("\"step\":5,") && !$0.contains("\"step\":6,")
            }
            try AtomicFile.write(lines.joined(separator: "\n") + "\n", to: metrics)
            let error = try refusal([])
            #expect(error.contains("this one has steps left: it is at step 4 of 6"))
            #expect(
                error.contains(
                    "finish it with skein train --resume --output \(bench.path("first"))"))
            #expect(!FileManager.default.fileExists(atPath: bench.path("second")))
        }
    }
}
