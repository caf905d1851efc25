import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("validations")
struct ValidationTests {
    @Test("an epoch's last step, the run's and every N-th are counted once each")
    func plan() {
        for stepCount in [0, 1, 7, 24, 30] {
            for stepsPerEpoch in [1, 4, 6, 9, 40] {
                for interval in [nil, 1, 2, 3, 4, 9, 24, 50] as [Int?] {
                    let plan = ValidationPlan(
                        stepCount: stepCount, stepsPerEpoch: stepsPerEpoch, interval: interval)
                    var count = 0
                    #expect(!plan.isDue(after: 0) && plan.count(through: 0) == 0)
                    for step in stride(from: 1, through: stepCount, by: 1) {
                        let isEnd = step % stepsPerEpoch == 0 || step == stepCount
                        let isDue = isEnd || interval.map { step % $0 == 0 } ?? false
                        #expect(plan.endsEpoch(step) == isEnd && plan.isDue(after: step) == isDue)
                        count += isDue ? 1 : 0
                        #expect(plan.count(through: step) == count, "\(plan) \(step)")
                    }
                    #expect(plan.count == count)
                }
            }
        }
        let long = ValidationPlan(
            stepCount: Limits.steps, stepsPerEpoch: Limits.steps - 1, interval: Limits.steps)
        #expect(long.count == 2)
    }

    @Test("by accuracy the highest wins, whatever its loss; an equal one later does not")
    func accuracy() {
        var stopping = EarlyStopping(patience: 2, metric: .accuracy)
        let validations: [(loss: Double, accuracy: Double?)] = [
            (2, 0.25), (3, 0.5), (1, 0.5), (.nan, 1), (4, 0.75), (1, nil), (0.5, 0.7),
        ]
        var best: [Bool] = []
        var stops: [Bool] = []
        for (index, one) in validations.enumerated() {
            best.append(
                stopping.record(loss: one.loss, accuracy: one.accuracy, step: index + 1))
            stops.append(stopping.shouldStop)
        }
        #expect(best == [true, true, false, false, true, false, false])
        #expect(stops == [false, false, false, true, false, false, true])
        #expect(stopping.bestLoss == 4 && stopping.bestAccuracy == 0.75 && stopping.bestStep == 5)
        var byLoss = EarlyStopping(patience: nil)
        let found = [(2, 0.1), (2.5, 0.9)].enumerated().map { index, one in
            byLoss.record(loss: one.0, accuracy: one.1, step: index + 1)
        }
        #expect(found == [true, false] && byLoss.bestAccuracy == nil)
    }

    @Test("who reads metrics finds the same best one, and never that before the first step")
    func readers() {
        func line(_ step: Int, _ loss: Double?, _ accuracy: Double?) -> ValidationMetrics {
            ValidationMetrics(
                step: step, epoch: 1, loss: loss, tokens: 4, tokenAccuracy: accuracy,
                namesAccuracy: true)
        }
        let lines = [
            line(0, 0.125, 1), line(2, nil, nil), line(4, 2, 0.25), line(6, 1, 0.5),
            line(8, 0.5, 0.5), line(10, 0.5, 0.25),
        ]
        for (metric, expected) in [(BestMetric.loss, 8), (.accuracy, 6)] {
            var best: ValidationMetrics?
            for line in lines where line.isBetter(than: best, by: metric) { best = line }
            #expect(best?.step == expected)
        }
    }

    @Test("a line names the accuracy only in a run that goes by it, and reads back")
    func line() throws {
        let plain = ValidationMetrics(step: 3, epoch: 1, loss: 2.5, tokens: 5, tokenAccuracy: 0.5)
        #expect(
            plain.line.text
                == #"{"step":3,"epoch":1,"validation_loss":2.5,"validation_tokens":5}"#)
        let third = 1 / 3.0
        for accuracy in [third, nil] {
            let named = ValidationMetrics(
                step: 3, epoch: 1, loss: accuracy, tokens: 5, tokenAccuracy: accuracy,
                namesAccuracy: true)
            let bytes = Array(named.line.text.utf8)
            let read = try bytes.withUnsafeBytes { try Metrics.record($0, path: "x", line: 1) }
            #expect(read == .validation(named))
        }
    }

    @Test("a checkpoint names the best accuracy only in a run that goes by it, and reads back")
    func state() throws {
        var state = TrainingState(
            step: 6, epoch: 2, bestValidationLoss: 0.1, bestStep: 4, validationsSinceBest: 1,
            configurationDigest: "d")
        let plain = state.text
        #expect(
            plain == """
                {
                  "step": 6,
                  "epoch": 2,
                  "best_validation_loss": 0.1,
                  "best_step": 4,
                  "validations_since_best": 1,
                  "configuration_sha256": "d"
                }

                """)
        state.bestValidationAccuracy = 1 / 3
        #expect(state.text.contains("\"best_validation_accuracy\": 0.3333333333333333"))
        for text in [plain, state.text] {
            let read = try RecordFile.decode(TrainingState.self, from: text.utf8, path: "x")
            #expect(read.text == text)
        }
    }

    // MARK: Whole runs

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
        _ directory: String, _ name: String, resuming: Bool = false,
        report: @escaping (TrainingLoop.Event) throws -> Void = { _ in },
        _ change: (inout TrainingConfiguration) -> Void
    ) throws -> (ending: RunEnding, validations: [ValidationMetrics], lines: [String]) {
        var configuration = TrainingConfiguration()
        configuration.epochs = 2
        configuration.maxLength = 64
        configuration.threads = 1
        configuration.learningRate = 0.01
        change(&configuration)
        let request = RunRequest(
            configuration: configuration, model: .path(directory + "/tiny.gguf"),
            data: directory + "/rows.jsonl", output: directory + "/" + name, tokenCache: nil)
        let ending = try TrainingRun(request, resuming: resuming).run(
            report: { if case .loop(let event) = $0 { try report(event) } },
            shouldStop: { false })
        var validations: [ValidationMetrics] = []
        var lines: [String] = []
        try Metrics.read(path: ending.directory.metrics) { record in
            switch record {
            case .step(let step): lines.append("\(step.step) \(step.loss)")
            case .validation(let validation):
                validations.append(validation)
                lines.append(validation.line.text)
            case .sample(let sample): lines.append(sample.line.text)
            }
        }
        return (ending, validations, lines)
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
                #expect(validations.map(\.step) == [3, 4, 6, 8])
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
            let plain = try run(directory, "plain") { _ in }
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
            #expect(whole.ending.outcome == plain.ending.outcome)
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
            ] {
                var configuration = TrainingConfiguration()
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
        }
    }
}
