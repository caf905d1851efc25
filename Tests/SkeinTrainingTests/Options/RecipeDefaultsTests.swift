import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// What a run finds for options that are left to it.
@Suite struct RecipeDefaultsTests {
    @Test("a learning rate has two digits, which read back as the same number")
    func digits() {
        for width in [1, 64, 576, 640, 2000, 2048, 4096, 16384] {
            for loss: PreferenceLoss.Kind? in [nil, .dpo, .orpo, .simpo] {
                let rate = RecipeDefaults.learningRate(width: width, loss: loss)
                let text = JSONValue.decimal(rate).written
                #expect(Double(text) == rate)
                let digits = text.prefix { $0 != "e" }.filter(\.isNumber)
                    .drop { $0 == "0" }
                #expect((1...2).contains(digits.count), "\(text)")
                #expect(RecipeOptions.table.learningRate.format.read(text) == rate)
            }
        }
        for (number, expected) in [
            (0.0013199, 0.0013), (0.00999, 0.01), (0.995, 1), (3, 3), (125, 130), (1e-7, 1e-7),
        ] { #expect(RecipeDefaults.twoDigits(number) == expected) }
    }

    @Test("wider models learn in smaller steps, and so do pairs")
    func rates() {
        let rates = [64, 576, 2048, 8192].map { RecipeDefaults.learningRate(width: $0, loss: nil) }
        #expect(rates == rates.sorted(by: >) && Set(rates).count == rates.count)
        for kind in [PreferenceLoss.Kind.dpo, .orpo, .simpo] {
            #expect(RecipeDefaults.learningRate(width: 576, loss: kind) < rates[1])
        }
    }

    @Test("few rows are passed over more often, and never more or less than the bounds say")
    func epochs() {
        let counts = [1, 20, 100, 400, 2000, 1_000_000].map {
            RecipeDefaults.epochs(rows: $0, batchSize: 4)
        }
        #expect(counts == counts.sorted(by: >))
        #expect(counts.first == RecipeDefaults.epochs.upperBound)
        #expect(counts.last == RecipeDefaults.epochs.lowerBound)
        #expect(RecipeDefaults.epochs(rows: 20, batchSize: 4, loss: .dpo) == 3)
        #expect(RecipeDefaults.epochs(rows: 4000, batchSize: 4, loss: .dpo) == 1)
        // The first step of a warm-up has the rate 0: a run of few steps would learn in fewer.
        for (steps, warmup) in [(1, 0), (2, 0), (19, 0), (20, 1), (39, 1), (200, 10)] {
            #expect(RecipeDefaults.warmupSteps(stepCount: steps) == warmup)
        }
    }

    private func withJob(
        _ automatic: Set<MeasuredOption>, directory: String,
        _ change: (inout TrainingConfiguration) -> Void = { _ in }
    ) throws -> TrainingJob {
        var configuration = TrainingConfiguration()
        configuration.validationSplit = 0.2
        change(&configuration)
        return try TrainingJob(
            configuration: configuration,
            model: { try ModelDirectory.open(directory + "/tiny.gguf") },
            dataPath: directory + "/rows.jsonl", version: "test", automatic: automatic)
    }

    private func withFiles(rows: Int = 50, _ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<rows).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try body(directory)
        }
    }

    @Test("a run whose options are left to it is, byte for byte, the run that names them")
    func named() throws {
        try withFiles { directory in
            let all = MeasuredOption.automatic
            let job = try withJob(all, directory: directory)
            #expect(job.resolved.map(\.name) == ["learning-rate", "epochs", "warmup-steps"])
            // 40 rows to train on, 10 steps an epoch.
            let epochs = RecipeDefaults.epochs(rows: 40, batchSize: 4)
            #expect(job.configuration.epochs == epochs)
            #expect(job.plan.stepCount == 10 * epochs)
            #expect(
                job.configuration.warmupSteps
                    == RecipeDefaults.warmupSteps(stepCount: 10 * epochs))
            let same = try withJob([], directory: directory) { configuration in
                for option in job.resolved {
                    #expect(throws: Never.self) {
                        try configuration.set(option.name, to: option.text)
                    }
                }
            }
            #expect(same.runFile.text == job.runFile.text)
            #expect(same.resolved.isEmpty)
            for option in MeasuredOption.automatic {
                #expect(!job.runFile.text.contains("\"\(option.rawValue)\": \"auto\""))
            }
        }
    }

    @Test("what is given counts: steps instead of epochs, a share instead of a warm-up")
    func given() throws {
        try withFiles { directory in
            let all = MeasuredOption.automatic
            let steps = try withJob(all, directory: directory) { $0.iterations = 7 }
            #expect(steps.resolved.map(\.name) == ["learning-rate", "warmup-steps"])
            #expect(steps.plan.stepCount == 7 && steps.configuration.warmupSteps == 0)
            let share = try withJob(all, directory: directory) { $0.warmupRatio = 0.5 }
            #expect(share.resolved.map(\.name) == ["learning-rate", "epochs"])
            #expect(share.configuration.warmupSteps == 0)
        }
    }

    @Test("a floor above the rate that the run finds is refused with that rate")
    func floor() throws {
        try withFiles { directory in
            let found = RecipeDefaults.learningRate(width: TinyModel().width, loss: nil)
            let good = try withJob([.learningRate], directory: directory) {
                $0.schedule = .cosine
                $0.minLearningRate = found / 2
            }
            #expect(good.configuration.learningRate == found)
            let error = #expect(throws: TrainingError.self) {
                try withJob([.learningRate], directory: directory) {
                    $0.schedule = .cosine
                    $0.minLearningRate = found * 2
                }
            }
            #expect(
                error?.explanation.what.contains(JSONValue.decimal(found).written) == true
                    || error?.explanation.remedy.contains(JSONValue.decimal(found).written) == true)
        }
    }

    @Test("a run goes on with the numbers that it began with, whatever would be found today")
    func resumed() throws {
        try withFiles { directory in
            let output = directory + "/run"
            let begun = try withJob([], directory: directory) {
                $0.learningRate = 7e-4
                $0.warmupSteps = 3
                $0.epochs = 5
                $0.rank = 3
                $0.targetModules = [.query]
                $0.schedule = .cosine
            }
            try AtomicFile.makeDirectory(output)
            try begun.runFile.write(to: output + "/run.json")
            let request = RunRequest(
                configuration: TrainingConfiguration(), model: .path(directory + "/tiny.gguf"),
                data: directory + "/rows.jsonl", output: output, tokenCache: nil,
                unnamed: Set(MeasuredOption.allCases))
            let job = try request.job(resuming: true)
            #expect(
                job.runFile == begun.runFile || job.runFile.configuration == begun.configuration)
            #expect(job.configuration.learningRate == 7e-4 && job.configuration.epochs == 5)
            #expect(job.resolved.isEmpty)
        }
    }
}
