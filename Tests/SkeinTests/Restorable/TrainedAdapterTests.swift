import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

@Suite struct TrainedAdapterTests {
    @Test("metrics are those that evaluate measures over the same rows")
    func metrics() async throws {
        try await SessionBench.with { bench in
            let trained = try await bench.trained("a")
            let training = try await trained.trainingMetrics
            let validation = try #require(try await trained.validationMetrics)
            #expect(training.rows == 16 && validation.rows == 4)
            #expect(training.tokenAccuracy != nil && validation.tokenAccuracy != nil)
            let best = try #require(trained.outcome.bestValidationLoss)
            #expect(validation.loss == best)
            let all = try await trained.evaluation(on: .file(bench.rows))
            #expect(all.rows == 20)
            #expect(all.lossTokens == training.lossTokens + validation.lossTokens)
            #expect(
                try await trained.evaluation(on: .pairs(SessionBench.pairs)) == all)
            let base = try await trained.baseEvaluation(on: .file(bench.rows))
            #expect(try #require(all.loss) < #require(base.loss))
            // Once measured, figures need no files.
            try FileManager.default.removeItem(atPath: bench.rows)
            #expect(try await trained.trainingMetrics == training)
            let advice = try await trained.advice(test: all)
            #expect(advice.first?.finding == .trainingLow)
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await trained.evaluation(on: .pairs(SessionBench.pairs))
            }
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
    }

    @Test("figures of rows that have changed are refused, and that there are none is remembered")
    func changedRows() async throws {
        try await SessionBench.with { bench in
            let trained = try await bench.trained("a")
            var parameters = bench.parameters()
            parameters.recipe.validationSplit = 0
            let other = try await AdapterTrainer.train(
                pairs: .file(bench.rows), parameters: parameters,
                sessionParameters: bench.settings("b")
            ).result
            #expect(try await other.validationMetrics == nil)
            try TrainingPairs.write(SessionBench.pairs.reversed(), to: bench.rows)
            let error = await #expect(throws: SkeinError.self) {
                try await trained.trainingMetrics
            }
            #expect(error?.what.contains("data (SHA-256)") == true)
            await #expect(throws: SkeinError.self) { try await trained.validationMetrics }
            await #expect(throws: SkeinError.self) { try await other.trainingMetrics }
            #expect(try await other.validationMetrics == nil)
            try TrainingPairs.write(SessionBench.pairs, to: bench.rows)
            #expect(try await trained.trainingMetrics.rows == 16)
        }
    }

    private func figures(_ correct: Int, rows: Int = 1000) -> Evaluation {
        var sums = RowEvaluation()
        (sums.lossTokens, sums.correct, sums.rows) = (1000, correct, rows)
        return Evaluation(sums)
    }

    @Test("advice follows from the accuracies, and says the numbers")
    func advice() {
        func findings(
            _ training: Int, _ validation: Int?, _ test: Int? = nil, rows: Int = 1000
        ) -> [AccuracyAdvice.Finding] {
            AccuracyAdvice.on(
                training: figures(training, rows: rows), validation: validation.map { figures($0) },
                test: test.map { figures($0) }
            ).map(\.finding)
        }
        #expect(findings(900, 890) == [])
        #expect(findings(900, 890, 880) == [])
        #expect(findings(599, 590) == [.trainingLow])
        #expect(findings(900, 799) == [.validationBelowTraining])
        #expect(findings(900, 860, rows: 100) == [.fewRows])
        #expect(findings(900, 700, rows: 100) == [.fewRows])
        #expect(findings(900, 880, rows: 100) == [])
        #expect(findings(900, 890, 700) == [.testBelowBoth])
        #expect(findings(900, 790, 685) == [.validationBelowTraining, .testBelowBoth])
        #expect(findings(900, nil, 700) == [.testBelowBoth])
        #expect(
            findings(500, 300, 100) == [.trainingLow, .validationBelowTraining, .testBelowBoth])
        #expect(
            AccuracyAdvice.on(training: Evaluation(RowEvaluation()), validation: nil).isEmpty)
        // More steps were worse, so that more of them are no advice.
        let past = AccuracyAdvice.on(
            training: figures(430), validation: figures(425), gotWorse: true)
        #expect(past.isEmpty)
        #expect(
            AccuracyAdvice.on(training: figures(430), validation: figures(425)).map(\.finding)
                == [.trainingLow])
        let text = AccuracyAdvice.on(training: figures(905), validation: figures(785))
            .map(\.description)
        #expect(text.first?.hasPrefix("validation accuracy is 78.5 %, training 90.5 %") == true)
    }

    @Test("a session on a real model ends with the hash of a trainer", .enabled(if: isThere))
    func realModel() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let model = try Model(at: try #require(TestPaths.model))
            let text = try String(contentsOfFile: try #require(TestPaths.data), encoding: .utf8)
            let rows = directory + "/rows.jsonl"
            let few = text.split(separator: "\n").prefix(12).joined(separator: "\n")
            try AtomicFile.write(few, to: rows)
            var recipe = Recipe(.fixed)
            recipe.maxLength = 48
            let settings = SessionParameters(
                sessionDirectory: URL(fileURLWithPath: directory + "/a"), reportInterval: 1,
                checkpointInterval: 1, iterations: 2)
            let session = try AdapterTrainer.makeTrainingSession(
                pairs: .file(rows), parameters: .init(model: model, recipe: recipe),
                sessionParameters: settings)
            let flag = CancelFlag()
            let job = try TrainingTask(session, flag: flag) { moment in
                if case .iteration = moment { flag.set() }
            }
            await #expect(throws: CancellationError.self) { try await job.result }
            let restored = try AdapterTrainer.restoreTrainingSession(sessionParameters: settings)
            let trained = try await AdapterTrainer.resume(restored).result
            recipe.iterations = 2
            let trainer = Trainer(
                recipe: recipe, model: model, data: Dataset(at: rows), output: directory + "/b")
            #expect(trained.adapter.sha256 == (try await trainer.run().adapter?.sha256))
        }
    }

    private static var isThere: Bool { TestPaths.model != nil && TestPaths.data != nil }
}
