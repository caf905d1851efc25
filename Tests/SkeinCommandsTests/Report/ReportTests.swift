import Foundation
import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands
@testable import SkeinWatch

@Suite("reports")
struct ReportTests {
    /// A run's directory with some lines of metrics and ledger.
    private func directory(
        _ parent: String, _ name: String, rank: Int = 8, metrics: [String] = [],
        ledger: [String] = []
    ) throws -> String {
        let path = parent + "/" + name
        try AtomicFile.makeDirectory(path)
        var configuration = TrainingConfiguration.fixed
        try configuration.set("rank", to: String(rank))
        try RunFile(
            version: "1", fingerprint: "engine", model: "/m/<b>.gguf", data: "d",
            modelDigest: "aa", dataDigest: "bb", configuration: configuration
        ).write(to: path + "/run.json")
        try AtomicFile.write(metrics.map { $0 + "\n" }.joined(), to: path + "/metrics.jsonl")
        try AtomicFile.write(ledger.map { $0 + "\n" }.joined(), to: path + "/ledger.jsonl")
        return path
    }

    private func step(_ step: Int, loss: Double, seconds: Double = 2) -> String {
        StepMetrics(
            step: step, epoch: 1, loss: loss, tokens: 10, lossTokens: 5, learningRate: 0.1,
            gradientNorm: 1, seconds: seconds, tokensPerSecond: 5, workers: 1
        ).line.written
    }

    private func entry(
        _ step: Int, _ worker: String, attempt: Int = 1, tokens: Int = 10
    ) -> String {
        LedgerEntry(
            step: step, microBatch: 0, worker: worker, attempt: attempt, tokens: tokens,
            lossTokens: 5, lossSum: 1, gradientDigest: String(repeating: "a", count: 64)
        ).line.written
    }

    @Test("a run's numbers are summed, and its workers have the parts that they computed")
    func sums() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let path = try directory(
                parent, "run",
                metrics: [
                    step(1, loss: 4), step(2, loss: 3, seconds: 4),
                    ValidationMetrics(step: 2, epoch: 1, loss: 3.5, tokens: 9).line.written,
                    SampleMetrics(step: 2, epoch: 1, prompt: "p", text: "t", tokens: 1).line
                        .written,
                    step(3, loss: 2),
                    ValidationMetrics(step: 3, epoch: 1, loss: 3.6, tokens: 9).line.written,
                    ValidationMetrics(step: 3, epoch: 1, loss: nil, tokens: 0).line.written,
                ],
                ledger: [
                    entry(1, "b"), entry(2, "a", attempt: 2, tokens: 30), entry(3, "a"),
                ])
            let run = try ReportedRun(path: path, name: "run")
            #expect(run.totals.steps == 3 && run.totals.tokens == 30 && run.totals.seconds == 8)
            #expect(run.totals.slowest?.step == 2)
            #expect(run.bestValidation?.loss == 3.5)
            #expect(run.adapter == nil && run.warnings.isEmpty)
            #expect(run.workers.map(\.name) == ["a", "b"])
            #expect(run.workers[0].tokens == 40 && run.workers[0].again == 1)
            #expect(run.workers[0].firstStep == 2 && run.workers[0].lastStep == 3)
            #expect(run.workers[0].parts[20] == 30 && run.workers[0].parts[40] == 10)
            #expect(run.workers[1].parts[0] == 10)
            let results = ReportFacts.results([run])
            #expect(results.first { $0.name == "last loss" }?.values == ["2.0000"])
            let timing = ReportFacts.timing([run])
            #expect(timing.contains { $0.name == "tokens per second" && $0.values == ["3.75"] })
            #expect(!timing.contains { $0.name == "sent to workers" })
        }
    }

    @Test("a run that admitted other engines is said to have given up the one hash")
    func otherEngines() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let paths = try ["a", "b"].map {
                try directory(parent, $0, metrics: [step(1, loss: 4)])
            }
            func row() throws -> [String]? {
                let runs = try paths.map { try ReportedRun(path: $0, name: $0) }
                return ReportFacts.results(runs).first { $0.name == "one hash" }?.values
            }
            #expect(try row() == nil)
            var run = try RunFile(path: paths[1] + "/run.json")
            run.otherEnginesFrom = 5
            try run.write(to: paths[1] + "/run.json")
            #expect(
                try row() == [
                    "kept",
                    "given up: workers with other engines were admitted from step 5 on",
                ])
        }
    }

    @Test("damaged and hostile files are said, and nothing traps")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let most = String(Int.max)
            let path = try directory(
                parent, "run",
                metrics: [
                    step(1, loss: 4), "{\"step\":2,\"garb",
                    step(3, loss: 1e308, seconds: 1e308), step(4, loss: -1e308, seconds: 1e308),
                    step(5, loss: 5).replacingOccurrences(
                        of: "\"tokens\":10", with: "\"tokens\":\(most)"),
                    step(6, loss: 5).replacingOccurrences(
                        of: "\"step\":6", with: "\"step\":\(most)"),
                    ValidationMetrics(step: 6, epoch: 1, loss: 0.0, tokens: -1).line.written,
                ],
                ledger: [
                    entry(1, "<script>alert(1)</script>"), "garbage",
                    entry(Int.max, "w", tokens: Int.max), entry(Int.max, "w", tokens: Int.max),
                    entry(-5, "w", tokens: -7),
                ])
            let run = try ReportedRun(path: path, name: "<i>")
            #expect(run.warnings.count == 2)
            let html = ReportPage.html([run, run])
            #expect(!html.contains("<script") && !html.contains("<i>") && !html.contains("<b>."))
            #expect(html.contains("1 line of"))
            #expect(!html.lowercased().contains("nan") || !html.contains("d=\"Mnan"))
            let markdown = ReportMarkdown.text([run])
            #expect(!markdown.contains("<"))
        }
    }

    @Test("many workers share one row, and long runs keep few points")
    func bounded() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let count = ReportedRun.mostWorkers + 40
            let path = try directory(
                parent, "run", metrics: (1...9000).map { step($0, loss: 1 / Double($0)) },
                ledger: (1...count).map { entry($0, "w\($0)") })
            let run = try ReportedRun(path: path, name: "run")
            #expect(run.workers.count == ReportedRun.mostWorkers)
            #expect(run.otherWorkers?.microBatches == 40)
            #expect(run.totals.steps == 9000 && run.history.points.count <= 4096)
            let html = ReportPage.html([run])
            #expect(html.contains("one of 4 steps is drawn"))
            #expect(html.utf8.count < 1 << 20)
        }
    }

    @Test("steps that repeat or come from both ends of the numbers do not trap")
    func strangeSteps() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let line = step(1, loss: 4)
            func at(_ step: Int) -> String {
                line.replacingOccurrences(of: "\"step\":1,", with: "\"step\":\(step),")
            }
            let path = try directory(
                parent, "run",
                metrics: [at(.min), at(.max - 1), at(.max), at(0)]
                    + [String](repeating: line, count: 5000))
            let run = try ReportedRun(path: path, name: "run")
            #expect(run.history.points.count <= 2)
            #expect(ReportPage.html([run]).contains("<svg"))
            let chart = ReportChart(
                title: "x",
                curves: [
                    ReportChart.Curve(name: "x", points: [(.min, 1), (.max, 2)], run: 0)
                ])
            #expect(chart.svg.contains("<path"))
        }
    }

    @Test("the last loss is that of the last step, also where not every step is drawn")
    func lastLoss() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let path = try directory(
                parent, "run", metrics: (1...5001).map { step($0, loss: Double($0)) })
            let run = try ReportedRun(path: path, name: "run")
            #expect(
                ReportFacts.results([run]).first { $0.name == "last loss" }?.values
                    == ["5001.0000"])
        }
    }

    @Test("what is no run is an error that says so")
    func noRun() throws {
        try TestPaths.withTemporaryDirectory { parent in
            #expect(throws: WatchError.notARun(path: parent + "/none")) {
                _ = try ReportedRun(path: parent + "/none", name: "none")
            }
            try AtomicFile.write("[]", to: parent + "/run.json")
            #expect(throws: TrainingError.self) {
                _ = try ReportedRun(path: parent, name: "x")
            }
            // A run without a step yet.
            let run = try ReportedRun(path: directory(parent, "new"), name: "new")
            #expect(ReportPage.html([run]).contains("No step is done yet"))
            #expect(ReportMarkdown.text([run]).contains("no adapter yet"))
        }
    }

    /// A run of these held-out rows.
    private func run(
        _ parent: String, _ name: String, tokens: Int? = 9,
        _ change: (inout RunFile) -> Void = { _ in }
    ) throws -> ReportedRun {
        let validation = ValidationMetrics(
            step: 1, epoch: 1, loss: tokens.map { _ in 3 }, tokens: tokens ?? 0)
        let path = try directory(
            parent, name, metrics: [step(1, loss: 4), validation.line.written])
        var file = try RunFile(path: path + "/run.json")
        change(&file)
        try file.write(to: path + "/run.json")
        return try ReportedRun(path: path, name: name)
    }

    @Test("validation losses of different rows are said not to be comparable, and share no chart")
    func heldOutRows() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let plain = try run(parent, "plain")
            let rank = try run(parent, "rank") { $0.planDigest = "other" }
            let seed = try run(parent, "seed") { try? $0.configuration.set("seed", to: "1") }
            let data = try run(parent, "data") { $0.dataDigest = "cc" }
            let longer = try run(parent, "longer", tokens: 12)
            let none = try run(parent, "none", tokens: nil)
            let fileA = try run(parent, "file-a") { $0.validationDigest = "v" }
            let fileB = try run(parent, "file-b") {
                ($0.validationDigest, $0.dataDigest) = ("v", "cc")
            }
            let dpo = try run(parent, "dpo") { try? $0.configuration.set("loss", to: "dpo") }
            let auto = try run(parent, "auto") { $0.rowsDigest = "r" }
            let chat = try run(parent, "chat") {
                $0.rowsDigest = "r"
                try? $0.configuration.set("prompt-format", to: "chat")
            }
            for runs in [
                [plain, rank], [fileA, fileB], [auto, chat], [plain, none], [none, none],
            ] {
                #expect(HeldOutRows.remark(runs) == nil, "\(runs.map(\.name))")
                #expect(HeldOutRows.groups(runs).count <= 1)
            }
            for other in [seed, data, longer, fileA, dpo, chat] {
                #expect(HeldOutRows.remark([plain, other]) != nil, "\(other.name)")
            }
            let runs = [plain, seed, rank, none]
            #expect(HeldOutRows.groups(runs) == [[0, 2], [1]])
            let remark = try #require(HeldOutRows.remark(runs))
            #expect(remark.contains("not comparable"))
            #expect(remark.hasSuffix("those of these runs are: plain, rank."))
            let html = ReportPage.html(runs)
            #expect(html.contains("<figcaption>Validation loss of plain, rank</figcaption>"))
            #expect(html.contains("<figcaption>Validation loss of seed</figcaption>"))
            #expect(html.contains("not comparable"))
            #expect(ReportMarkdown.text(runs).contains("not comparable"))
            let together = ReportPage.html([plain, rank])
            #expect(together.contains("<figcaption>Validation loss</figcaption>"))
            #expect(!together.contains("not comparable"))
        }
    }

    @Test("what is none for every run has no row, and one process no table of workers")
    func left() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let none = try run(parent, "none", tokens: nil)
            #expect(!ReportFacts.results([none]).contains { $0.name == "best validation loss" })
            let some = try run(parent, "some")
            #expect(
                ReportFacts.results([none, some]).first { $0.name == "best validation loss" }?
                    .values
                    == ["none", "3.0000 after step 1"])
            let alone = try ReportedRun(
                path: directory(
                    parent, "alone", metrics: [step(1, loss: 4)], ledger: [entry(1, "local")]),
                name: "alone")
            #expect(!ReportPage.html([alone]).contains("Workers of"))
            #expect(!ReportMarkdown.text([alone]).contains("Workers of"))
        }
    }

    @Test("differences name only what differs")
    func differences() throws {
        try TestPaths.withTemporaryDirectory { parent in
            let one = try ReportedRun(path: directory(parent, "a"), name: "a")
            let two = try ReportedRun(path: directory(parent, "b", rank: 16), name: "b")
            #expect(
                ReportFacts.differences([one, two]) == [
                    ReportFacts.Row(name: "--rank", values: ["8", "16"])
                ])
            #expect(ReportFacts.differences([one, one]).isEmpty)
            #expect(ReportPage.html([one, one]).contains("Nothing: model, data and options"))
            var (same, other) = (one, two)
            (same.adapter, other.adapter) = ("aa", "aa")
            #expect(ReportFacts.equality([same, other])?.contains("the same, to") == true)
            other.adapter = "bb"
            #expect(ReportFacts.equality([same, other])?.contains("not all") == true)
            #expect(ReportFacts.equality([same, one]) == nil)
        }
    }

    @Test(
        "runs are named by their directories",
        arguments: [
            (["run"], ["run"]), (["a/run", "b/run", "c"], ["a/run", "b/run", "c"]),
            (["x/a", "y/b"], ["a", "b"]), (["a", "a"], ["a", "a (2)"]),
        ] as [([String], [String])])
    func names(paths: [String], names: [String]) {
        #expect(ReportCommand.names(paths) == names)
    }

    @Test("a run here is named by the folder")
    func here() {
        #expect(ReportCommand.names(["."]).first?.contains("/") == false)
        #expect(ReportCommand.names(["."]).first != ".")
    }

    @Test("texts are escaped")
    func escaped() {
        #expect(
            HTML.text("<a href='x'>&\"\u{1B}\u{202E}\n")
                == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{FFFD}\u{FFFD}\n")
        #expect(
            ReportMarkdown.escaped("a|b\n<x> `c` @d [e](f) é")
                == "a&#124;b &lt;x&gt; &#96;c&#96; &#64;d &#91;e&#93;(f) é")
    }

    @Test(
        "ticks are round and few",
        arguments: [
            (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]), (3.9, 5.3, [4, 4.5, 5]),
            (1, 1, [1]), (0, 0, [0]), (-2, 7, [-2, 0, 2, 4, 6]),
            (-1e308, 1e308, [-1e308]),
        ] as [(Double, Double, [Double])])
    func ticks(low: Double, high: Double, expected: [Double]) {
        let found = ReportChart.ticks(low, high)
        #expect(found.count == expected.count, "\(found)")
        for (one, other) in zip(found, expected) {
            #expect(abs(one - other) <= 1e-9 * max(1, abs(other)), "\(found)")
        }
    }

    @Test("a curve of many points keeps its ends, and what is not finite is left out")
    func thinned() {
        let points = (1...5000).map { (step: $0, value: $0 == 7 ? .nan : Double($0)) }
        let curve = ReportChart.thinned(ReportChart.Curve(name: "x", points: points, run: 0))
        #expect(curve.points.count == ReportChart.mostPoints)
        #expect(curve.points.first?.step == 1 && curve.points.last?.step == 5000)
        #expect(ReportChart(title: "x", curves: []).svg.isEmpty)
        let rate = ReportChart(
            title: "rate", curves: [.init(name: "run", points: [(1, 0.0015), (9, 0.0015)], run: 0)])
        #expect(rate.svg.contains("rate. run: 0.0015 at step 1, 0.0015 at step 9"))
        #expect(rate.svg.contains(">0.0015</text>"))
        let one = ReportChart.Curve(name: "x", points: [(3, 4)], run: 9)
        #expect(ReportChart(title: "x", curves: [one]).svg.contains("<circle"))
    }
}
