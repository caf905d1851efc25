import Foundation
import SkeinBasics
import Testing

@testable import Skein

/// Compares the library, as a program uses it, with the command line.
@Suite struct TrainerTests {
    @Test("a trainer makes the adapter of skein train and reports every step")
    func trains() async throws {
        try await TrainerBench.with { bench in
            let trainer = bench.trainer("a")
            let events = trainer.events
            let outcome = try await trainer.run()
            let reference = try bench.reference()
            #expect(outcome.isComplete && outcome.step == 8)
            #expect(outcome.adapter?.sha256 == reference)
            #expect(outcome.adapter?.rank == 8 && outcome.bestValidationLoss != nil)
            // By now all events wait in the feed, and the feed has ended.
            var steps: [Int] = []
            var checkpoints: [Int] = []
            var plan: TrainingEvent.Plan?
            for await event in events {
                switch event {
                case .prepared(let prepared): plan = prepared
                case .step(let step): steps.append(step.step)
                case .checkpoint(let step, _): checkpoints.append(step)
                default: continue
                }
            }
            #expect(plan?.steps == 8 && plan?.trainingRows == 16 && plan?.validationRows == 4)
            #expect(steps == Array(1...8) && checkpoints == [2, 4, 6, 8])
            // A late listener gets nothing and does not wait.
            for await event in trainer.events { Issue.record("\(event)") }
            let second = await #expect(throws: SkeinError.self) { try await trainer.resume() }
            #expect(second?.what.contains("begun") == true)
            let full = await #expect(throws: SkeinError.self) { try await bench.trainer("a").run() }
            #expect(full?.code == .badData || full?.code == .usage)
        }
    }

    @Test("the folder of a run means its adapter, as it does to the commands")
    func runFolder() async throws {
        try await TrainerBench.with { bench in
            let outcome = try await bench.trainer("run").run()
            let adapter = try Adapter(at: bench.output("run"))
            #expect(adapter == outcome.adapter)
            #expect(try Adapter(at: bench.output("run") + "/") == adapter)
            let link = bench.output("link")
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: bench.output("run"))
            #expect(try Adapter(at: link).sha256 == adapter.sha256)
            _ = try SystemLanguageModel.Adapter(fileURL: URL(fileURLWithPath: bench.output("run")))
            // Beside the run, as of run/adapter itself.
            #expect(
                try AdapterVersion.next(to: adapter.path) == bench.output("run-version-2"))
            let none = #expect(throws: SkeinError.self) { try Adapter(at: bench.directory) }
            #expect(none?.code == .badData)
        }
    }

    @Test("a cancelled run resumes to the same adapter; another recipe is refused")
    func resumes() async throws {
        try await TrainerBench.with { bench in
            let trainer = bench.trainer("a")
            // Called on the run's thread, so that the run cannot get ahead.
            trainer.control.feed.listen { event in
                if case .step(let step) = event, step.step == 3 { trainer.cancel() }
            }
            let stopped = try await trainer.run()
            #expect(stopped.step == 3 && !stopped.isComplete && stopped.adapter == nil)
            let other = bench.trainer("a", seed: 5)
            let error = await #expect(throws: SkeinError.self) { try await other.resume() }
            #expect(error?.description.contains("seed") == true)
            let again = bench.trainer("a")
            let events = again.events
            let outcome = try await again.resume()
            let reference = try bench.reference()
            #expect(outcome.isComplete && outcome.adapter?.sha256 == reference)
            var steps: [Int] = []
            for await case .step(let step) in events { steps.append(step.step) }
            #expect(steps == Array(4...8))
        }
    }

    @Test("a trainer that is cancelled before its run, or whose task is, does not begin")
    func cancelled() async throws {
        try await TrainerBench.with { bench in
            let trainer = bench.trainer("a")
            trainer.cancel()
            await #expect(throws: CancellationError.self) { try await trainer.run() }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await bench.trainer("b").run()
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let evaluation = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await Evaluation.measure(bench.model, data: bench.data.path)
            }
            await #expect(throws: CancellationError.self) { try await evaluation.value }
        }
    }

    @Test("a coordinator without workers, and a worker without a coordinator, can be cancelled")
    func cancelledCluster() async throws {
        try await TrainerBench.with { bench in
            let coordinator = Coordinator(
                recipe: .short(), model: bench.model, data: bench.data, output: bench.output("a"),
                machine: .one)
            let run = Task { try await coordinator.run() }
            let address = try await coordinator.address
            coordinator.cancel()
            let outcome = try await run.value
            #expect(!outcome.isComplete && outcome.step == 0)
            let worker = Worker(coordinator: address, model: bench.model, machine: .one)
            worker.cancel()
            #expect(try await worker.run() == .left)
        }
    }

    @Test("two trainers at once make the adapters that each makes alone")
    func twoAtOnce() async throws {
        try await TrainerBench.with { bench in
            async let first = bench.trainer("a", seed: 0).run()
            async let second = bench.trainer("b", seed: 1).run()
            let hashes = try await [first.adapter?.sha256, second.adapter?.sha256]
            let references = try [bench.reference(seed: 0), bench.reference(seed: 1)]
            #expect(hashes == references)
            #expect(references[0] != references[1])
        }
    }

    @Test("a coordinator and a worker in one program make the adapter of a run in one process")
    func cluster() async throws {
        try await TrainerBench.with { bench in
            let coordinator = Coordinator(
                recipe: .short(), model: bench.model, data: bench.data,
                output: bench.output("a"), machine: .one)
            async let run = coordinator.run()
            let address = try await coordinator.address
            await #expect(throws: SkeinError.self) { try await coordinator.run() }
            #expect(try await coordinator.address == address)
            let worker = Worker(
                coordinator: address, model: bench.model, name: "w", machine: .one)
            let ending = try await worker.run()
            let outcome = try await run
            let reference = try bench.reference()
            #expect(ending == .complete && outcome.adapter?.sha256 == reference)
            await #expect(throws: SkeinError.self) { try await coordinator.address }
        }
    }

    @Test("an adapter can be measured, answer prompts and start the next run")
    func uses() async throws {
        try await TrainerBench.with { bench in
            let outcome = try await bench.trainer("a").run()
            let adapter = try #require(outcome.adapter)
            let base = try await Evaluation.measure(
                bench.model, data: bench.data.path, machine: .one)
            let adapted = try await Evaluation.measure(
                bench.model, adapter: adapter, data: bench.data.path, machine: .one)
            #expect(base.rows == 20 && base.lossTokens == adapted.lossTokens)
            #expect(try #require(adapted.loss) < #require(base.loss))

            let generator = try await TextGenerator(
                model: bench.model, adapter: adapter, machine: .one)
            var options = TextGenerator.Options()
            options.maximumTokens = 12
            let answer = try await generator.answer(to: "7?", options: options)
            var pieces = ""
            for try await piece in generator.stream("7?", options: options) { pieces += piece }
            #expect(pieces == answer && !answer.isEmpty)
            let chosen = options
            async let first = generator.answer(to: "7?", options: chosen)
            async let second = generator.answer(to: "7?", options: chosen)
            #expect(try await [first, second] == [answer, answer])
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await generator.answer(to: "7?", options: chosen)
            }
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let cancelledLoading = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await TextGenerator(model: bench.model, machine: .one)
            }
            await #expect(throws: CancellationError.self) { try await cancelledLoading.value }
            for try await _ in generator.stream("7?", options: options) { break }
            options.topP = 0
            await #expect(throws: SkeinError.self) {
                try await generator.answer(to: "7?", options: options)
            }

            let next = Trainer(
                recipe: .short(), model: bench.model, data: bench.data, output: bench.output("b"),
                machine: .one, startingFrom: adapter)
            #expect(try await next.run().adapter?.sha256 != adapter.sha256)
        }
    }
}
