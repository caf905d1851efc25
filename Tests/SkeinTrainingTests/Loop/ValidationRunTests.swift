import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("validations of whole runs")
struct ValidationRunTests {
    private struct Gone: Error {}

    private func withInputs(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try body(directory)
        }
    }

    /// A run of four steps an epoch. `report` may throw to end it there, as a kill would.
    private func run(
        _ directory: String, _ name: String, resuming: Bool = false, measuresKept: Bool = false,
        report: @escaping (TrainingLoop.Event) throws -> Void = { _ in },
        _ change: (inout TrainingConfiguration) -> Void
    ) throws -> (ending: RunEnding, validations: [ValidationMetrics], lines: [String]) {
        var configuration = TrainingConfiguration.fixed
        configuration.epochs = 2
        configuration.maxLength = 64
        configuration.threads = 1
        configuration.learningRate = 0.01
        change(&configuration)
        let request = RunRequest(
            configuration: configuration, model: .path(directory + "/tiny.gguf"),
            data: directory + "/rows.jsonl", output: directory + "/" + name, tokenCache: nil)
        let ending = try TrainingRun(request, resuming: resuming, samples: .told).run(
            measuresKept: measuresKept,
            report: { if case .loop(let event) = $0 { try report(event) } },
            shouldStop: { false })
        var validations: [ValidationMetrics] = []
        var lines: [String] = []
        try Metrics.read(path: ending.directory.metrics) { record in
            switch record {
            case .step(let step): lines.append("\(step.step) \(step.loss)")
            case .validation(let validation):
                validations.append(validation)
                lines.append(validation.line.written)
            case .sample(let sample): lines.append(sample.line.written)
            }
        }
        return (ending, validations, lines)
    }

    @Test("early warnings come from the loop, and a resumed run repeats none")
    func warnings() throws {
        try withInputs { directory in
            /// The steps after which hardly learning is said.
            func said(_ name: String, resuming: Bool, killedAfter step: Int?) throws -> [Int] {
                var said: [Int] = []
                do {
                    _ = try run(
                        directory, name, resuming: resuming,
                        report: { event in
                            if case .noticed(let finding) = event, finding.kind == .learnsHardly {
                                said.append(finding.step)
                            }
                            if case .checkpoint(step, _) = event { throw Gone() }
                        }
                    ) {
                        ($0.epochs, $0.learningRate, $0.checkpointEvery) = (11, 1e-6, 1)
                    }
                    #expect(step == nil)
                } catch is Gone {
                    #expect(step != nil)
                }
                return said
            }
            // Judged after 30 steps, without a warm-up.
            let whole = try said("whole", resuming: false, killedAfter: nil)
            #expect(whole == [30])
            let late = try said("late", resuming: false, killedAfter: 36)
            let afterLate = try said("late", resuming: true, killedAfter: nil)
            #expect(late == [30] && afterLate.isEmpty)
            let early = try said("early", resuming: false, killedAfter: 20)
            let afterEarly = try said("early", resuming: true, killedAfter: nil)
            #expect(early.isEmpty && afterEarly == [30])
        }
    }

    @Test("a complete run can say how well the kept adapter knows its rows")
    func kept() throws {
        try withInputs { directory in
            let (ending, validations, _) = try run(directory, "run", measuresKept: true) {
                ($0.bestMetric, $0.epochs) = (.accuracy, 5)
            }
            let kept = try #require(ending.kept)
            #expect(kept.training.rows == 16 && kept.validation?.rows == 4)
            // The same rows with the same parameters as the validation that chose it.
            let best = try #require(validations.last { $0.step == ending.outcome.keptStep })
            #expect(kept.validation?.loss == best.loss)
            #expect(kept.validation?.tokenAccuracy == best.tokenAccuracy)
            #expect(kept.training.loss.map { $0 < 20 } == true)
            let other = try run(directory, "other") { _ in }
            #expect(other.ending.kept == nil)
        }
        let many = (0..<1201).map { $0..<($0 + 1) }
        let chosen = KeptAccuracy.chosen(many)
        #expect(chosen.count == 500 && Set(chosen).count == 500 && chosen[0] == 0..<1)
        #expect(chosen[499] == 1198..<1199)
        #expect(KeptAccuracy.chosen(Array(many.prefix(500))).count == 500)
    }

    @Test("the best adapter of validations after every N steps is kept, and has a checkpoint")
    func every() throws {
        try withInputs { directory in
            func check(_ name: String, _ metric: BestMetric?) throws -> [ValidationMetrics] {
                var best: [Int] = []
                let (ending, validations, _) = try run(
                    directory, name,
                    report: {
                        if case .validation(let line, true) = $0 { best.append(line.step) }
                    }
                ) {
                    ($0.validateEvery, $0.bestMetric) = (3, metric)
                    ($0.checkpointEvery, $0.keepCheckpoints) = (0, 1)
                    $0.learningRate = 0.3
                }
                #expect(validations.map(\.step) == [0, 3, 4, 6, 8])
                let kept = ending.outcome.keptStep
                #expect(kept == best.last)
                let steps = try CheckpointStore(directory: directory + "/\(name)/checkpoints")
                    .steps()
                #expect(steps == Set([kept, 8]).sorted())
                let parameters = try AdapterFilesBench.flat(
                    directory + "/\(name)/checkpoints/"
                        + CheckpointFolder.name(ofStep: kept))
                #expect(try AdapterFilesBench.flat(ending.directory.adapter) == parameters)
                let line = try #require(validations.first { $0.step == kept })
                #expect(ending.outcome.bestValidationLoss == line.loss)
                return validations
            }
            let byLoss = try check("loss", nil)
            let byAccuracy = try check("accuracy", .accuracy)
            #expect(byLoss.map(\.loss) == byAccuracy.map(\.loss))
            #expect(byLoss.allSatisfy { $0.tokenAccuracy == nil })
            #expect(byAccuracy.allSatisfy { $0.tokenAccuracy != nil })
        }
    }

    @Test("one validation before the first step, wherever the run dies; it changes nothing")
    func atStart() throws {
        try withInputs { directory in
            let plain = try run(directory, "plain") { $0.validateAtStart = false }
            func start(
                _ name: String, resuming: Bool = false,
                report: @escaping (TrainingLoop.Event) throws -> Void = { _ in }
            ) throws -> (ending: RunEnding, validations: [ValidationMetrics], lines: [String]) {
                try run(directory, name, resuming: resuming, report: report) {
                    $0.validateAtStart = true
                    $0.samplePrompt = ["1?", "2?"]
                }
            }
            var best: [Bool] = []
            let whole = try start("whole") {
                if case .validation(_, let isBest) = $0 { best.append(isBest) }
            }
            #expect(whole.validations.map(\.step) == [0, 4, 8] && best.first == false)
            #expect(whole.validations.first?.epoch == 0)
            #expect(whole.lines.filter { $0.contains("\"step\":0,") }.count == 3)
            #expect(
                whole.lines.filter { !$0.contains("\"step\":0,") && !$0.contains("sample") }
                    == plain.lines)
            #expect(
                try whole.ending.directory.adapterDigest() == plain.ending.directory.adapterDigest()
            )
            var outcome = whole.ending.outcome
            #expect(outcome.improvement?.isBetter == true)
            outcome.improvement = nil
            #expect(outcome == plain.ending.outcome)
            // With rows for it, it is the default.
            let usual = try run(directory, "usual") { $0.samplePrompt = ["1?", "2?"] }
            #expect(usual.lines == whole.lines && usual.ending.outcome == whole.ending.outcome)
            // After the validation, after the first sample, after the first step, after a checkpoint.
            for place in [0, 1, 3, 8] {
                var count = 0
                #expect(throws: Gone.self) {
                    _ = try start("\(place)") { event in
                        if case .resumed = event { return }
                        count += 1
                        if count > place { throw Gone() }
                    }
                }
                let resumed = try start("\(place)", resuming: true)
                #expect(resumed.lines == whole.lines, "\(place)")
            }
        }
    }

    @Test("a run that comes no further than it began says so, in its outcome and its card")
    func improvement() throws {
        try withInputs { directory in
            func card(_ name: String) throws -> String {
                try String(
                    contentsOfFile: directory + "/\(name)/adapter/README.md", encoding: .utf8)
            }
            let good = try run(directory, "good") { _ in }
            let better = try #require(good.ending.outcome.improvement)
            #expect(better.isBetter && better.beginning == .baseModel)
            #expect(better.start.loss == good.validations.first?.loss)
            #expect(try card("good").contains("| before the first step |"))
            #expect(try !card("good").contains("Beware"))

            // A good beginning, which steps of such a size can only spoil.
            _ = try run(directory, "start") { $0.epochs = 20 }
            func diverge(
                _ name: String, resuming: Bool = false,
                report: @escaping (TrainingLoop.Event) throws -> Void = { _ in }
            ) throws -> (ending: RunEnding, validations: [ValidationMetrics], lines: [String]) {
                try run(directory, name, resuming: resuming, report: report) {
                    ($0.learningRate, $0.maxGradNorm) = (1, 0)
                    $0.initAdapter = directory + "/start/adapter"
                }
            }
            let bad = try diverge("bad")
            let worse = try #require(bad.ending.outcome.improvement)
            #expect(!worse.isBetter && worse.step == bad.ending.outcome.keptStep)
            #expect(worse.kept.loss == bad.ending.outcome.bestValidationLoss)
            #expect(
                worse.sentence.contains(
                    "worse than the adapter that the run started from on the validation rows"))
            #expect(try card("bad").contains("**Beware:** \(worse.sentence)."))
            // A later start knows it from metrics.jsonl.
            #expect(throws: Gone.self) {
                _ = try diverge("killed") {
                    if case .step(let line, _) = $0, line.step > 6 { throw Gone() }
                }
            }
            let resumed = try diverge("killed", resuming: true)
            #expect(resumed.ending.outcome == bad.ending.outcome)
            #expect(try card("killed") == card("bad"))
        }
    }

    @Test("a run that began without a validation goes on, but cannot be asked for an improvement")
    func begunWithout() throws {
        try withInputs { directory in
            func go(resuming: Bool, isRequired: Bool, last: Int = .max) throws -> RunEnding {
                try run(
                    directory, "old", resuming: resuming,
                    report: {
                        if case .step(let line, _) = $0, line.step > last { throw Gone() }
                    }
                ) {
                    $0.requireImprovement = isRequired ? true : nil
                    if !resuming { $0.validateAtStart = false }
                }.ending
            }
            #expect(throws: Gone.self) { _ = try go(resuming: false, isRequired: false, last: 5) }
            #expect(
                throws: TrainingError.startNotValidated(path: directory + "/old/metrics.jsonl")
            ) { _ = try go(resuming: true, isRequired: true) }
            let ending = try go(resuming: true, isRequired: false)
            #expect(ending.outcome.isComplete && ending.outcome.improvement == nil)
        }
    }

    @Test(
        "a base weight that is not finite is named, not the learning rate",
        arguments: [true, false])
    func damagedWeights(validates: Bool) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            let name = "blk.1.ffn_down.weight"
            let index = try #require(image.tensors.firstIndex { $0.name == name })
            let nan = withUnsafeBytes(of: Float.nan.bitPattern.littleEndian) { Array($0) }
            image.tensors[index].data.replaceSubrange(8..<12, with: nan)
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            let rows = (0..<20).map { "{\"prompt\": \"\($0)?\", \"completion\": \"\($0)\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let error = #expect(throws: FormatError.self) {
                _ = try run(directory, "a") { $0.validateAtStart = validates }
            }
            #expect(
                error
                    == .notFinite(
                        path: directory + "/tiny.gguf",
                        tensor: "model.layers.1.mlp.down_proj.weight",
                        row: 0, column: 2, value: "nan"))
            #expect(error?.explanation.status == .badData)
        }
    }

    @Test("early stopping by accuracy is the same in a run that was killed after any step")
    func stopping() throws {
        try withInputs { directory in
            func stop(
                _ name: String, resuming: Bool = false,
                report: @escaping (TrainingLoop.Event) throws -> Void = { _ in }
            ) throws -> (ending: RunEnding, validations: [ValidationMetrics], lines: [String]) {
                try run(directory, name, resuming: resuming, report: report) {
                    ($0.validateEvery, $0.bestMetric) = (1, .accuracy)
                    ($0.earlyStopPatience, $0.epochs, $0.learningRate) = (3, 20, 0.3)
                }
            }
            let whole = try stop("whole")
            let outcome = whole.ending.outcome
            #expect(outcome.isComplete && outcome.step == outcome.keptStep + 3)
            #expect(outcome.step < 80)
            for last in 1..<outcome.step {
                #expect(throws: Gone.self) {
                    _ = try stop("\(last)") { event in
                        if case .step(let line, _) = event, line.step > last { throw Gone() }
                    }
                }
                let resumed = try stop("\(last)", resuming: true)
                #expect(resumed.lines == whole.lines && resumed.ending.outcome == outcome)
                #expect(
                    try resumed.ending.directory.adapterDigest()
                        == whole.ending.directory.adapterDigest())
            }
        }
    }

    @Test("options about validations need rows for them")
    func refused() throws {
        try withInputs { directory in
            for (flag, value) in [
                ("validate-every", "2"), ("best-metric", "loss"), ("validate-at-start", "on"),
                ("require-improvement", "on"),
            ] {
                var configuration = TrainingConfiguration.fixed
                configuration.validationSplit = 0
                try configuration.set(flag, to: value)
                let error = #expect(throws: TrainingError.self) {
                    _ = try TrainingJob(
                        configuration: configuration, modelPath: directory + "/tiny.gguf",
                        dataPath: directory + "/rows.jsonl", version: "test")
                }
                guard case .badCombination(flag, .needs) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(error?.explanation.status == .usage)
                configuration.validData = directory + "/rows.jsonl"
                let job = try TrainingJob(
                    configuration: configuration, modelPath: directory + "/tiny.gguf",
                    dataPath: directory + "/rows.jsonl", version: "test")
                #expect(job.validation.count == 20)
            }
            var configuration = TrainingConfiguration.fixed
            (configuration.requireImprovement, configuration.validateAtStart) = (true, false)
            #expect(
                throws: TrainingError.badCombination(
                    flag: "require-improvement", problem: .excludes("validate-at-start off"))
            ) { try configuration.checkValidation(hasFile: false) }
        }
    }
}
