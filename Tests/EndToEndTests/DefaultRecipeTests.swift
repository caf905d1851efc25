import Foundation
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// The recipe of a run that names none: one for all ways to run it.
@Suite("the default recipe", .ownThreads)
struct DefaultRecipeTests {
    private func words(_ bench: Workbench, _ output: String) -> [String] {
        ["--model", bench.model, "--data", bench.data, "--output", bench.path(output)]
    }

    @Test("train, threads, a cluster and launch find the same numbers and end with the same bytes")
    func everywhere() throws {
        try Workbench.with(rows: 24) { bench in
            for (output, command) in [
                ("alone", ["train", "--threads", "1"]), ("threads", ["train", "--threads", "3"]),
                ("launched", ["launch", "--local", "2", "--threads", "1"]),
            ] {
                let ending = try SkeinProcess.run(command + words(bench, output))
                #expect(ending.status == 0, "\(ending.error)")
                #expect(ending.error.contains("what is not given: --learning-rate "))
            }
            let alone = try bench.result(of: "alone")
            #expect(try bench.result(of: "threads") == alone)
            #expect(try bench.result(of: "launched") == alone)
            let records = try ["alone", "launched"].map {
                try RunFile(path: bench.path($0) + "/run.json").configuration.recipe
            }
            #expect(records[0] == records[1])
        }
    }

    @Test("a recipe by name is the same in one process and in a launched cluster")
    func byName() throws {
        try Workbench.with(rows: 24) { bench in
            let run = ["--recipe", "classify", "--iterations", "6"]
            for (output, command) in [
                ("alone", ["train"]), ("launched", ["launch", "--local", "2", "--threads", "1"]),
            ] {
                let ending = try SkeinProcess.run(command + words(bench, output) + run)
                #expect(ending.status == 0, "\(ending.error)")
            }
            #expect(try bench.result(of: "launched") == bench.result(of: "alone"))
            let record = try RunFile(path: bench.path("launched") + "/run.json").configuration
            #expect(record.bestMetric == .accuracy && record.validateEvery == 25)
        }
    }

    @Test(
        "a run that named its recipe goes on with it: by its folder alone, and by its first words")
    func resumed() throws {
        try Workbench.with(rows: 24) { bench in
            let run = ["--iterations", "6", "--checkpoint-every", "1", "--keep-checkpoints", "9"]
            for (output, more) in [
                ("folder", []),
                ("words", Array(words(bench, "words").prefix(4)) + ["--iterations", "6"]),
            ] {
                try bench.train(output, run)
                let whole = try bench.result(of: output)
                // As if it had been killed after its third step.
                for name in ["adapter", "checkpoints/step-000004", "checkpoints/step-000005"]
                    + ["checkpoints/step-000006"]
                {
                    try FileManager.default.removeItem(atPath: bench.path(output + "/" + name))
                }
                let ending = try SkeinProcess.run(
                    ["train", "--resume", "--output", bench.path(output)] + more)
                #expect(ending.status == 0, "\(ending.error)")
                #expect(ending.error.contains("resuming after step 3"))
                #expect(try bench.result(of: output) == whole)
            }
        }
    }

    @Test(
        "a task of join and a sweep go on with the recipe that they named, by words that name none")
    func others() throws {
        try Workbench.with(rows: 24) { bench in
            let run = ["--iterations", "6", "--checkpoint-every", "1", "--keep-checkpoints", "9"]
            let join =
                ["join"] + words(bench, "joined") + run
                + ["--task-rank", "0", "--task-count", "1", "--threads", "1"]
            let recipes = try bench.write(
                "{\"name\": \"a\"}\n{\"name\": \"b\", \"seed\": 1}\n", to: "recipes.jsonl")
            let sweep = ["train"] + words(bench, "sweep") + run + ["--sweep", recipes]
            func start(_ words: [String]) throws {
                let ending = try SkeinProcess.run(words)
                #expect(ending.status == 0, "\(ending.error)")
            }
            try start(join + TrainingConfiguration.fixedWords)
            try start(sweep + TrainingConfiguration.fixedWords)
            let whole = try ["joined", "sweep/a", "sweep/b"].map { try bench.result(of: $0) }
            // As if they had been killed: after three steps, or before the first.
            for run in ["joined", "sweep/a"] {
                for name in ["adapter"] + (4...6).map({ "checkpoints/step-00000\($0)" }) {
                    try FileManager.default.removeItem(atPath: bench.path(run + "/" + name))
                }
            }
            try FileManager.default.removeItem(atPath: bench.path("sweep/b"))
            try start(join)
            try start(sweep + ["--resume"])
            #expect(try ["joined", "sweep/a", "sweep/b"].map { try bench.result(of: $0) } == whole)
        }
    }
}
