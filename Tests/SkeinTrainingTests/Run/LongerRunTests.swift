import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("more of the same run")
struct LongerRunTests {
    private struct Gone: Error {}

    /// What a run has left that must not show how often it was lengthened.
    private struct Left: Equatable {
        /// SHA-256 of run.json and of the adapter's files, its card among them.
        var files: [String: String]
        var metrics: [String]
        /// Lines of the ledger without what names the options of the run, as they were then.
        var ledger: String
        var outcome: TrainingLoop.Outcome
        var testLoss: Double?
    }

    /// A tiny model and twenty rows: four steps an epoch.
    private struct Bench {
        let directory: String

        static func with(_ body: (Bench) throws -> Void) throws {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
                for (name, count) in [("rows", 20), ("test", 3)] {
                    let rows = (0..<count).map {
                        "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
                    }
                    try AtomicFile.write(rows.joined(), to: directory + "/\(name).jsonl")
                }
                try body(Bench(directory: directory))
            }
        }

        /// `change` makes the options; nil: those that run.json names, as `--resume --output` takes them.
        /// `report` may throw to end the run there, as a kill would.
        @discardableResult
        func run(
            _ name: String, resuming: Bool = false,
            report: @escaping (TrainingLoop.Event) throws -> Void = { _ in },
            _ change: ((inout TrainingConfiguration) -> Void)?
        ) throws -> Left {
            var configuration = TrainingConfiguration.fixed
            configuration.epochs = 2
            configuration.maxLength = 64
            configuration.learningRate = 0.01
            configuration.testData = directory + "/test.jsonl"
            if let change {
                change(&configuration)
            } else {
                configuration = try RunFile(path: directory + "/\(name)/run.json").configuration
            }
            configuration.threads = 1
            let request = RunRequest(
                configuration: configuration, model: .path(directory + "/tiny.gguf"),
                data: directory + "/rows.jsonl", output: directory + "/" + name, tokenCache: nil)
            let ending = try TrainingRun(request, resuming: resuming, samples: .told).run(
                report: { if case .loop(let event) = $0 { try report(event) } },
                shouldStop: { false })
            let proof = try Ledger.verify(
                ledger: ending.directory.ledger, metrics: ending.directory.metrics,
                groupsFromBeginning: true)
            #expect(proof.findings == [])
            return try left(name, ending)
        }

        private func left(_ name: String, _ ending: RunEnding) throws -> Left {
            let run = directory + "/" + name
            var files: [String: String] = [:]
            for file in try FileManager.default.contentsOfDirectory(atPath: run + "/adapter") {
                files[file] = try RegularFile.digest(of: run + "/adapter/" + file).digest
                    .description
            }
            files["run.json"] = try RegularFile.digest(of: run + "/run.json").digest.description
            var metrics: [String] = []
            try Metrics.read(path: ending.directory.metrics) { record in
                switch record {
                case .step(var step):
                    (step.seconds, step.tokensPerSecond) = (0, 0)
                    metrics.append(step.line.written)
                case .validation(let validation): metrics.append(validation.line.written)
                case .sample(let sample): metrics.append(sample.line.written)
                }
            }
            return Left(
                files: files, metrics: metrics,
                ledger: try String(contentsOfFile: ending.directory.ledger, encoding: .utf8)
                    .replacing(/"inputs_sha256":"[0-9a-f]*"/, with: ""),
                outcome: ending.outcome, testLoss: ending.test?.loss)
        }

        /// Steps of a run's checkpoints.
        func checkpoints(_ name: String) throws -> [Int] {
            try CheckpointStore(directory: directory + "/\(name)/checkpoints").steps()
        }
    }

    private typealias Change = (inout TrainingConfiguration) -> Void

    @Test("a run that becomes longer leaves what it would have left if it had begun so")
    func exact() throws {
        let cases: [(name: String, shorter: Change, longer: Change)] = [
            ("epochs", { $0.epochs = 2 }, { $0.epochs = 4 }),
            ("as many", { $0.epochs = 2 }, { $0.iterations = 8 }),
            ("to iterations", { $0.epochs = 1 }, { ($0.epochs, $0.iterations) = (1, 7) }),
            ("to epochs", { ($0.epochs, $0.iterations) = (3, 5) }, { $0.epochs = 3 }),
            (
                "no validation", { ($0.validationSplit, $0.iterations) = (0, 7) },
                { ($0.validationSplit, $0.iterations) = (0, 12) }
            ),
            (
                "samples",
                { ($0.validationSplit, $0.iterations, $0.samplePrompt) = (0, 7, ["1?"]) },
                { ($0.validationSplit, $0.iterations, $0.samplePrompt) = (0, 12, ["1?"]) }
            ),
            (
                "by accuracy",
                { ($0.iterations, $0.bestMetric, $0.learningRate) = (6, .accuracy, 0.3) },
                { ($0.iterations, $0.bestMetric, $0.learningRate) = (11, .accuracy, 0.3) }
            ),
        ]
        try Bench.with { bench in
            for (name, shorter, longer) in cases {
                let whole = try bench.run(name + "-whole", longer)
                try bench.run(name, shorter)
                let resumed = try bench.run(name, resuming: true, longer)
                #expect(resumed == whole, "\(name)")
                // And by its folder alone.
                #expect(try bench.run(name, resuming: true, nil) == whole, "\(name)")
            }
        }
    }

    @Test("a validation that only the old end made is as if it had never been, even the best one")
    func extraValidation() throws {
        try Bench.with { bench in
            for keep in [1, 3] {
                func at(_ steps: Int) -> Change {
                    { ($0.iterations, $0.keepCheckpoints, $0.checkpointEvery) = (steps, keep, 0) }
                }
                let whole = try bench.run("whole\(keep)", at(10))
                let name = "longer\(keep)"
                let first = try bench.run(name, at(6))
                #expect(first.outcome.keptStep == 6)
                #expect(try bench.checkpoints(name) == [4, 6])
                // Resumed as it is, it keeps that of step 4.
                #expect(try bench.run(name, resuming: true, at(6)) == first)
                #expect(try bench.checkpoints(name) == [4, 6])
                var (from, reasons): (Int?, [String]) = (nil, [])
                let resumed = try bench.run(
                    name, resuming: true,
                    report: {
                        guard case .resumed(let step, let rejected) = $0 else { return }
                        (from, reasons) = (step, rejected.map(\.explanation.what))
                    }, at(10))
                #expect(from == 4 && reasons.count == 1)
                #expect(reasons.first?.contains("validated it for that alone") == true)
                #expect(resumed == whole)
                #expect(!resumed.metrics.contains { $0.contains("\"step\":6,\"epoch\":2,\"val") })
            }
        }
    }

    @Test("without the checkpoint of the best step, a longer run begins again")
    func bestGone() throws {
        try Bench.with { bench in
            let whole = try bench.run("whole") { $0.iterations = 10 }
            for gone in [[4], [1, 2, 3, 4, 5, 6]] {
                let name = "gone\(gone.count)"
                try bench.run(name) {
                    ($0.iterations, $0.checkpointEvery, $0.keepCheckpoints) = (6, 1, 9)
                }
                let store = CheckpointStore(directory: bench.directory + "/\(name)/checkpoints")
                for step in gone {
                    try FileManager.default.removeItem(atPath: store.path(ofStep: step))
                }
                var from: Int?
                let resumed = try bench.run(
                    name, resuming: true,
                    report: { if case .resumed(let step, _) = $0 { from = step } }
                ) { ($0.iterations, $0.checkpointEvery, $0.keepCheckpoints) = (10, 1, 9) }
                // Nothing was best yet after step 3.
                #expect(from == (gone.count == 1 ? 3 : 0))
                #expect(resumed.metrics == whole.metrics && resumed.outcome == whole.outcome)
                #expect(
                    resumed.files["adapter_model.safetensors"]
                        == whole.files["adapter_model.safetensors"])
            }
        }
    }

    @Test("a run that would begin again to become longer is left as it is")
    func beginsAgain() throws {
        try Bench.with { bench in
            let first = try bench.run("short") { ($0.iterations, $0.checkpointEvery) = (3, 0) }
            let path = bench.directory + "/short/run.json"
            #expect(throws: TrainingError.lengthBeginsAgain(path: path, step: 3)) {
                try bench.run("short", resuming: true) {
                    ($0.iterations, $0.checkpointEvery) = (10, 0)
                }
            }
            let again = try bench.run("short", resuming: true) {
                ($0.iterations, $0.checkpointEvery) = (3, 0)
            }
            #expect(again == first)
        }
    }

    @Test("a longer run that dies at any moment goes on by its new words and by its folder alone")
    func killed() throws {
        try Bench.with { bench in
            let shorter: Change = { ($0.iterations, $0.checkpointEvery) = (6, 2) }
            let longer: Change = { ($0.iterations, $0.checkpointEvery) = (11, 2) }
            let whole = try bench.run("whole", longer)
            var place = 0
            var isOver = false
            while !isOver {
                for words in [longer, nil] as [Change?] {
                    let name = "\(place)-\(words == nil)"
                    try bench.run(name, shorter)
                    var count = 0
                    do {
                        try bench.run(
                            name, resuming: true,
                            report: { _ in
                                count += 1
                                if count > place { throw Gone() }
                            }, longer)
                        isOver = true
                    } catch is Gone {}
                    #expect(try bench.run(name, resuming: true, words) == whole, "\(name)")
                }
                place += 1
            }
            #expect(place > 12)
        }
    }

    @Test("a shorter run that died becomes longer, and one that dies after each of several ends")
    func interrupted() throws {
        try Bench.with { bench in
            let whole = try bench.run("whole") { $0.epochs = 4 }
            #expect(throws: Gone.self) {
                try bench.run(
                    "dead",
                    report: { if case .step(let line, _) = $0, line.step == 3 { throw Gone() } }
                ) { ($0.epochs, $0.checkpointEvery) = (1, 1) }
            }
            for epochs in [2, 3] {
                #expect(throws: Gone.self) {
                    try bench.run(
                        "dead", resuming: true,
                        report: {
                            if case .step(let line, _) = $0, line.step == 4 * epochs - 1 {
                                throw Gone()
                            }
                        }
                    ) { ($0.epochs, $0.checkpointEvery) = (epochs, 1) }
                }
            }
            let last = try bench.run("dead", resuming: true) {
                ($0.epochs, $0.checkpointEvery) = (4, 1)
            }
            #expect(last.metrics == whole.metrics && last.ledger == whole.ledger)
            #expect(last.outcome == whole.outcome && last.testLoss == whole.testLoss)
            #expect(
                last.files.filter { $0.key != "run.json" }
                    == whole.files.filter { $0.key != "run.json" })
        }
    }

    @Test("a run that has stopped early stays where it is, and names its new end")
    func stoppedEarly() throws {
        try Bench.with { bench in
            func at(_ epochs: Int) -> Change {
                {
                    ($0.validateEvery, $0.earlyStopPatience) = (1, 3)
                    ($0.bestMetric, $0.learningRate, $0.epochs) = (.accuracy, 0.3, epochs)
                }
            }
            let whole = try bench.run("whole", at(40))
            #expect(whole.outcome.step < 80)
            let first = try bench.run("stopped", at(20))
            let resumed = try bench.run("stopped", resuming: true, at(40))
            #expect(resumed == whole && first != whole)
            #expect(first.metrics == whole.metrics)
        }
    }

    @Test("local steps: the rounds go on, with the states of all logical workers")
    func localSteps() throws {
        try Bench.with { bench in
            func at(_ rounds: Int) -> Change {
                {
                    ($0.localSteps, $0.logicalWorkers, $0.batchSize) = (2, 3, 1)
                    ($0.deltaCodec, $0.topkDensity) = (.topk, 0.2)
                    ($0.iterations, $0.saveStateEvery) = (rounds, 2)
                }
            }
            let whole = try bench.run("whole", at(9))
            for rounds in [3, 4, 5] {
                try bench.run("\(rounds)", at(rounds))
                #expect(try bench.run("\(rounds)", resuming: true, at(9)) == whole)
            }
        }
    }

    @Test("dpo goes on with the log-probabilities under its reference")
    func preferences() throws {
        try Bench.with { bench in
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"chosen\": \"it is \($0)\", \"rejected\": \"no\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: bench.directory + "/rows.jsonl")
            func at(_ epochs: Int) -> Change {
                { ($0.loss, $0.epochs, $0.testData) = (.dpo, epochs, nil) }
            }
            let whole = try bench.run("whole", at(3))
            try bench.run("longer", at(1))
            #expect(try bench.run("longer", resuming: true, at(3)) == whole)
        }
    }

    @Test("a rate that depends on the number of steps refuses, and says why; so does a shorter run")
    func refused() throws {
        try Bench.with { bench in
            let fixed: [(option: String, change: Change)] = [
                ("--schedule linear", { $0.schedule = .linear }),
                ("--schedule cosine", { $0.schedule = .cosine }),
                ("--warmup-ratio 0.25", { $0.warmupRatio = 0.25 }),
            ]
            for (option, change) in fixed {
                let path = bench.directory + "/\(option)/run.json"
                try bench.run(option, change)
                let before = try String(contentsOfFile: path, encoding: .utf8)
                let error = TrainingError.lengthFixed(
                    path: path, recorded: 8, requested: 12, option: option)
                #expect(throws: error) {
                    try bench.run(option, resuming: true) {
                        change(&$0)
                        $0.epochs = 3
                    }
                }
                #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
                // As many steps, said otherwise.
                try bench.run(option, resuming: true) {
                    change(&$0)
                    $0.iterations = 8
                }
            }
            #expect(
                TrainingError.lengthFixed(
                    path: "my run/run.json", recorded: 8, requested: 12, option: "--schedule linear"
                ).explanation
                    == Explanation(
                        what: "the run was begun with 8 steps and cannot go on to 12: with "
                            + "--schedule linear the learning rate of every step depends on how "
                            + "many there are",
                        place: "my run/run.json",
                        remedy: "resume with the recorded number, or begin a second part from its "
                            + "adapter: skein train --extend 'my run' --output DIR",
                        status: .badData))

            try bench.run("constant") { $0.epochs = 2 }
            let path = bench.directory + "/constant/run.json"
            #expect(
                throws: TrainingError.resumeDiffers(
                    path: path,
                    differences: [.init(field: "epochs", recorded: "2", requested: "1")])
            ) { try bench.run("constant", resuming: true) { $0.epochs = 1 } }
            #expect(
                throws: TrainingError.resumeDiffers(
                    path: path,
                    differences: [.init(field: "batch-size", recorded: "4", requested: "5")])
            ) {
                try bench.run("constant", resuming: true) { ($0.epochs, $0.batchSize) = (3, 5) }
            }
        }
    }
}
