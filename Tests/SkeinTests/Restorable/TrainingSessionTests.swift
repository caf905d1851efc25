import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

@Suite struct TrainingSessionTests {
    @Test("a job goes through its phases in order and reports and saves once in each interval")
    func phases() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            #expect(session.phase == .initialized && session.iteration == 0)
            #expect(session.checkpoints.isEmpty && session.extractedFeatures == nil)
            let job = try AdapterTrainer.resume(session)
            let trained = try await job.result
            // Every sequence begins with the job's first element, however late it is read.
            let phases = try await job.phase.all()
            #expect(
                phases == [
                    .initialized, .extractingFeatures, .evaluating, .training, .evaluating,
                    .training, .evaluating,
                ])
            let reports = try await job.progress.all()
            #expect(reports.first?.phase == .extractingFeatures && reports.first?.itemCount == 20)
            let training = reports.filter { $0.phase == .training }
            #expect(training.map(\.itemCount) == [2, 4, 6, 8])
            #expect(training.allSatisfy { $0.totalItemCount == 8 && $0.metrics[.loss] != nil })
            #expect(training.allSatisfy { $0.metrics[.tokensPerSecond] != nil })
            let evaluating = reports.filter { $0.phase == .evaluating }
            // One before the first step, which is none of the two after epochs.
            #expect(evaluating.map(\.itemCount) == [0, 1, 2])
            #expect(evaluating.map(\.totalItemCount) == [2, 2, 2])
            #expect(evaluating.compactMap { $0.metrics[.validationLoss] }.count == 3)
            #expect(evaluating.compactMap { $0.metrics[.accuracy] }.count == 3)
            #expect(reports.map(\.elapsedTime) == reports.map(\.elapsedTime).sorted())
            let checkpoints = try await job.checkpoints.all()
            #expect(checkpoints.map(\.iteration) == [2, 4, 6, 8])
            #expect(checkpoints.map { $0.metrics[.loss] } == training.map { $0.metrics[.loss] })
            #expect(
                checkpoints.map { $0.metrics[.validationLoss] != nil }
                    == [false, true, false, true])
            // Three stay, besides the best, which is among them.
            #expect(session.checkpoints.map(\.iteration) == [4, 6, 8])
            #expect(session.phase == .evaluating && session.iteration == 2)
            #expect(session.extractedFeatures == .init(rows: 20, tokenizedRows: 20))
            #expect(!job.isCancelled && trained.outcome.isComplete)
            #expect(trained.adapter.sha256 == (try bench.reference()))
            let adapter = try Adapter(checkpoint: try #require(session.checkpoints.last))
            #expect(adapter.rank == 8)
        }
    }

    @Test("intervals that do not divide an epoch add the checkpoints of its end")
    func unevenIntervals() async throws {
        try await SessionBench.with { bench in
            let job = try AdapterTrainer.train(
                pairs: .file(bench.rows), parameters: bench.parameters(),
                sessionParameters: bench.settings("a", report: 3, checkpoint: 3, iterations: 7))
            _ = try await job.result
            let reports = try await job.progress.all().filter { $0.phase == .training }
            #expect(reports.map(\.itemCount) == [3, 6])
            #expect(try await job.checkpoints.all().map(\.iteration) == [3, 4, 6, 7])
        }
    }

    @Test("sample prompts, test rows and an early stop have their phases; no validation has none")
    func otherPhases() async throws {
        try await SessionBench.with { bench in
            func job(
                _ name: String, test: String? = nil, iterations: Int? = 8,
                change: (inout AdapterTrainer.Parameters) -> Void
            ) throws -> TrainingTask {
                var parameters = bench.parameters()
                change(&parameters)
                return try AdapterTrainer.train(
                    pairs: .dataset(Dataset(at: bench.rows, test: test)), parameters: parameters,
                    sessionParameters: bench.settings(name, iterations: iterations))
            }
            let samples = try job("a") { $0.machine.samplePrompts = ["1?", "2?"] }
            _ = try await samples.result
            let round: [TrainingSession.Phase] = [.training, .evaluating, .inferencing]
            let expected =
                [.initialized, .extractingFeatures, .evaluating, .inferencing] + round + round
            #expect(try await samples.phase.all() == expected)
            let answers = try await samples.progress.all().filter { $0.phase == .inferencing }
            #expect(answers.map(\.itemCount) == [1, 2, 1, 2, 1, 2])

            let without = try job("b", test: bench.rows) { $0.recipe.validationSplit = 0 }
            let trained = try await without.result
            #expect(trained.outcome.testLoss != nil)
            #expect(try await trained.validationMetrics == nil)
            #expect(
                try await without.phase.all() == [
                    .initialized, .extractingFeatures, .training, .evaluating,
                ])

            // With this learning rate no loss becomes lower.
            let stopped = try job("c", iterations: nil) {
                $0.recipe.learningRate = 1e-30
                $0.recipe.earlyStopPatience = 1
            }
            let ending = try await stopped.result
            #expect(ending.outcome.isComplete && ending.outcome.step == 8)
            #expect(stopped.session.phase == .evaluating)

            let long = try job("d") { $0.recipe.maxLength = 24 }
            _ = try await long.result
            let warnings = try await long.warnings.all()
            #expect(warnings.contains { $0.contains("cut") || $0.contains("24") }, "\(warnings)")
        }
    }

    @Test("more validations than epochs, and one before the first step, are counted and reported")
    func validations() async throws {
        try await SessionBench.with { bench in
            var parameters = bench.parameters()
            parameters.recipe.validateEvery = 3
            parameters.recipe.bestMetric = .accuracy
            parameters.machine.validatesAtStart = true
            let job = try AdapterTrainer.train(
                pairs: .dataset(Dataset(at: bench.rows)), parameters: parameters,
                sessionParameters: bench.settings("v"))
            let trained = try await job.result
            // After steps 3, 4, 6 and 8.
            var expected: [TrainingSession.Phase] = [
                .initialized, .extractingFeatures, .evaluating,
            ]
            for _ in 0..<4 { expected += [.training, .evaluating] }
            #expect(try await job.phase.all() == expected)
            let reports = try await job.progress.all().filter { $0.phase == .evaluating }
            #expect(reports.map(\.itemCount) == [0, 1, 2, 3, 4])
            #expect(reports.allSatisfy { $0.totalItemCount == 4 })
            #expect(reports.allSatisfy { $0.metrics[.accuracy] != nil })
            #expect(try await job.checkpoints.all().map(\.iteration) == [2, 3, 4, 6, 8])
            #expect([3, 4, 6, 8].contains(trained.outcome.keptStep))
        }
    }

    @Test("relative paths are found from where the session was made")
    func relativePaths() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let record = SessionRecord(
                date: Date(), workingDirectory: directory, model: "m.gguf", data: "rows.jsonl",
                keepsTokens: true, configuration: TrainingConfiguration.fixed)
            #expect(record.found("rows.jsonl") == directory + "/rows.jsonl")
            #expect(record.found("/rows.jsonl") == "/rows.jsonl")
            var other = record
            other.workingDirectory = nil
            #expect(other.found("rows.jsonl") == "rows.jsonl")
        }
    }

    @Test("a session directory has the bytes of skein train, and either continues the other")
    func sameDirectory() async throws {
        try await SessionBench.with { bench in
            _ = try await bench.trained("a")
            _ = try bench.commandLine("b")
            for file in [
                "ledger.jsonl", "adapter/adapter_model.safetensors", "adapter/adapter_config.json",
                "checkpoints/step-000008/state.json", "checkpoints/step-000008/manifest.json",
                "checkpoints/step-000008/optimizer.safetensors", "run.json",
            ] {
                #expect(try bench.bytes("a/" + file) == bench.bytes("b/" + file), "\(file)")
            }
            // A session that was left is finished by the command line.
            let left = try bench.session("c")
            try await bench.stop(left, after: 3)
            let ending = try bench.commandLine("c", resuming: true)
            #expect(ending.outcome.isComplete)
            #expect(try bench.bytes("c/ledger.jsonl") == bench.bytes("b/ledger.jsonl"))
            // A run of the command line that has lost its newest steps is finished by a session.
            let store = DiskStore()
            for step in [6, 8] { try store.remove(bench.place("b/checkpoints/step-00000\(step)")) }
            let restored = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("b", iterations: nil))
            #expect(restored.phase == .training && restored.iteration == 4)
            #expect(restored.checkpoints.map { $0.metrics[.loss] != nil } == [true])
            let job = try AdapterTrainer.resume(restored)
            let trained = try await job.result
            #expect(trained.adapter.sha256 == (try bench.reference()))
            #expect(try await job.checkpoints.all().map(\.iteration) == [6, 8])
            #expect(try bench.bytes("a/ledger.jsonl") == bench.bytes("b/ledger.jsonl"))
        }
    }

    @Test("a cancelled session is restored and ends with the adapter of a straight run")
    func restores() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            try await bench.stop(session, after: 3)
            #expect(session.phase == .training && session.iteration == 3)
            #expect(session.checkpoints.map(\.iteration) == [2, 3])
            let restored = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"))
            #expect(restored.phase == .training && restored.iteration == 3)
            #expect(restored.date.timeIntervalSince(session.date).magnitude < 0.001)
            #expect(restored.parameters.recipe == session.parameters.recipe)
            #expect(restored.checkpoints.map(\.metrics) == session.checkpoints.map(\.metrics))
            try await bench.stop(restored, after: 5)
            // The same object can go on, too.
            let job = try AdapterTrainer.resume(restored)
            let trained = try await job.result
            #expect(trained.adapter.sha256 == (try bench.reference()))
            #expect(
                try await job.phase.all() == [
                    .training, .extractingFeatures, .training, .evaluating,
                ])
            #expect(restored.extractedFeatures == .init(rows: 20, tokenizedRows: 0))
            let reports = try await job.progress.all().filter { $0.phase == .training }
            #expect(reports.map(\.itemCount) == [6, 8])
            // A complete session has nothing left to do, and gives its adapter again.
            let again = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a", iterations: nil))
            let same = try await AdapterTrainer.resume(again).result
            #expect(same.adapter.sha256 == trained.adapter.sha256)
        }
    }

    @Test("a session that was killed before its first checkpoint begins again")
    func restoresFromNothing() async throws {
        try await SessionBench.with { bench in
            _ = try bench.session("a")
            let restored = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"))
            #expect(restored.phase == .initialized && restored.checkpoints.isEmpty)
            let trained = try await AdapterTrainer.resume(restored).result
            #expect(trained.adapter.sha256 == (try bench.reference()))
        }
    }

    @Test("removed checkpoints are gone, and what follows from those that are left is the same")
    func removesCheckpoints() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            try await bench.stop(session, after: 5)
            #expect(session.checkpoints.map(\.iteration) == [2, 4, 5])
            try session.removeCheckpoints { $0.iteration > 2 }
            #expect(session.checkpoints.map(\.iteration) == [2] && session.iteration == 2)
            let gone = bench.place("a/checkpoints/step-000005")
            #expect(!FileManager.default.fileExists(atPath: gone))
            let trained = try await AdapterTrainer.resume(session).result
            #expect(trained.adapter.sha256 == (try bench.reference()))
            try session.removeCheckpoints { _ in true }
            #expect(session.checkpoints.isEmpty && session.iteration == 0)
            let again = try await AdapterTrainer.resume(session).result
            #expect(again.adapter.sha256 == trained.adapter.sha256)
            struct Refused: Error {}
            #expect(throws: Refused.self) {
                try session.removeCheckpoints { _ in throw Refused() }
            }
            #expect(session.checkpoints.count == 3)
        }
    }

    @Test("pairs in memory train the adapter of skein train on the same rows")
    func pairsInMemory() async throws {
        try await SessionBench.with { bench in
            let trained = try await AdapterTrainer.train(
                pairs: .pairs(SessionBench.pairs), parameters: bench.parameters(),
                sessionParameters: bench.settings("a")
            ).result
            #expect(trained.adapter.sha256 == (try bench.reference()))
            #expect(try bench.bytes("a/session/pairs.jsonl") == bench.bytes("rows.jsonl"))
        }
    }

    @Test("a temporary session directory goes with the last that refers to it")
    func temporary() async throws {
        try await SessionBench.with { bench in
            func train() async throws -> TrainedAdapter {
                var settings = bench.settings("a")
                settings.sessionDirectory = nil
                return try await AdapterTrainer.train(
                    pairs: .pairs(SessionBench.pairs), parameters: bench.parameters(),
                    sessionParameters: settings
                ).result
            }
            func copy() async throws -> String {
                let trained = try await train()
                let path = trained.adapter.path
                #expect(FileManager.default.fileExists(atPath: path))
                try trained.write(to: URL(fileURLWithPath: bench.place("kept")))
                let error = #expect(throws: SkeinError.self) {
                    try trained.write(to: URL(fileURLWithPath: bench.place("kept")))
                }
                #expect(error?.code == .inputOutput)
                return path
            }
            let path = try await copy()
            // The job's thread is the last to let go, a little after it has given out the result.
            try await Deadline.pass { !FileManager.default.fileExists(atPath: path) }
            #expect(try Adapter(at: bench.place("kept")).sha256 == (try bench.reference()))
        }
    }

    @Test("a job whose result is awaited by a cancelled task is cancelled")
    func cancelledTask() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            let flag = CancelFlag()
            // The job stands before its first step until it is cancelled, so it cannot end before.
            let job = try TrainingTask(session, flag: flag) { moment in
                guard case .begun = moment else { return }
                while !flag.isSet { sched_yield() }
            }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await job.result
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(job.isCancelled)
            let trained = try await AdapterTrainer.resume(session).result
            #expect(trained.adapter.sha256 == (try bench.reference()))
        }
    }

    @Test("a checkpoint goes to JSON and back")
    func codable() throws {
        let checkpoint = TrainingSession.Checkpoint(
            url: URL(fileURLWithPath: "/run/checkpoints/step-000002"), phase: .training,
            iteration: 2, date: Date(timeIntervalSince1970: 1),
            metrics: [.loss: 1.5, .accuracy: 0.25])
        let data = try JSONEncoder().encode(checkpoint)
        #expect(String(decoding: data, as: UTF8.self).contains("\"loss\":1.5"))
        let read = try JSONDecoder().decode(TrainingSession.Checkpoint.self, from: data)
        #expect(read == checkpoint)
    }
}
