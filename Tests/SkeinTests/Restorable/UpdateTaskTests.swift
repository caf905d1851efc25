import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

@Suite struct UpdateTaskTests {
    private static let more = (20..<32).map {
        PromptCompletion(prompt: "\($0)?", completion: "now it is \($0)")
    }

    /// What handlers saw, from the task's thread.
    private struct Seen: Sendable {
        var events: [UpdateTask.Events] = []
        var states: [UpdateTask.State] = []
        var contexts: [UpdateTask.Context] = []
    }

    private func task(
        _ bench: SessionBench, _ adapter: Adapter,
        events: UpdateTask.Events = [.trainingBegin, .miniBatchEnd, .epochEnd],
        _ seen: Condition<Seen>, change: (inout Recipe) -> Void = { _ in },
        handler: @escaping @Sendable (UpdateTask.Context) -> Void
    ) throws -> UpdateTask {
        var recipe = try Recipe(continuing: adapter, of: bench.model)
        recipe.epochs = 2
        recipe.learningRate = 1e-4
        recipe.schedule = .constant
        recipe.warmupSteps = 0
        change(&recipe)
        return try UpdateTask(
            adapter: adapter, model: bench.model, pairs: .pairs(Self.more), parameters: recipe,
            machine: Machine(threads: 1),
            progressHandlers: UpdateTask.ProgressHandlers(
                forEvents: events,
                progressHandler: { context in
                    seen.change {
                        $0.events.append(context.event)
                        $0.states.append(context.task.state)
                        $0.contexts.append(context)
                    }
                    handler(context)
                },
                completionHandler: { context in
                    seen.change {
                        $0.events.append(context.event)
                        $0.states.append(context.task.state)
                        $0.contexts.append(context)
                    }
                }))
    }

    @Test("a task pauses in each handler, and its version is that of a run from the adapter")
    func updates() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let seen = Condition(Seen())
            let task = try task(bench, base, seen) { $0.task.resume() }
            #expect(task.state == .suspended && task.version == nil)
            task.resume()
            let trained = try await task.result
            #expect(task.state == .completed && task.error == nil)
            // 12 pairs are 10 rows to train on: three steps an epoch.
            let found = seen.change { $0 }
            let epoch: [UpdateTask.Events] = [
                .miniBatchEnd, .miniBatchEnd, .miniBatchEnd, .epochEnd,
            ]
            #expect(found.events == [.trainingBegin] + epoch + epoch + [.completion])
            let pauses = Array(repeating: UpdateTask.State.suspended, count: 9)
            #expect(found.states == pauses + [.completed])
            let steps = found.contexts.filter { $0.event == .miniBatchEnd }
            #expect(steps.map { $0.metrics[.miniBatchIndex] } == [1, 2, 3, 4, 5, 6])
            #expect(steps.allSatisfy { $0.metrics[.lossValue] != nil })
            #expect(steps.allSatisfy { $0.parameters[.learningRate] == 1e-4 })
            let epochs = found.contexts.filter { $0.event == .epochEnd }
            #expect(epochs.map { $0.metrics[.epochIndex] } == [1, 2])
            #expect(epochs.allSatisfy { $0.metrics[.accuracy] != nil })
            #expect(found.contexts.last?.adapter == trained.adapter)
            #expect(found.contexts.first?.adapter == nil)

            // Beside the run that made the base, which is untouched.
            #expect(task.version?.path == bench.place("base-version-2"))
            #expect(try Adapter(at: base.path) == base)
            try TrainingPairs.write(Self.more, to: bench.place("more.jsonl"))
            let trainer = Trainer(
                recipe: task.parameters.recipe, model: bench.model,
                data: Dataset(at: bench.place("more.jsonl")), output: bench.place("straight"),
                machine: Machine(threads: 1), startingFrom: base)
            #expect(trained.adapter.sha256 == (try await trainer.run().adapter?.sha256))
            #expect(trained.adapter.sha256 != base.sha256)

            // The next version is one of the second, beside it.
            let next = try self.task(bench, trained.adapter, events: [], seen) { _ in }
            next.resume()
            next.resume()
            _ = try await next.result
            #expect(next.version?.path == bench.place("base-version-3"))
            let again = try self.task(bench, base, events: [], seen) { _ in }
            again.resume()
            #expect(try await again.result.adapter.sha256 == trained.adapter.sha256)
            #expect(again.version?.path == bench.place("base-version-4"))
        }
    }

    @Test("a task that is not resumed waits in its handler until it is cancelled")
    func cancelled() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let seen = Condition(Seen())
            let (paused, continuation) = AsyncStream<Int>.makeStream()
            let task = try task(bench, base, events: .miniBatchEnd, seen) { context in
                let step = Int(context.metrics[.miniBatchIndex] ?? 0)
                continuation.yield(step)
                if step < 2 { context.task.resume() }
            }
            task.resume()
            for await step in paused where step == 2 { break }
            #expect(task.state == .suspended)
            #expect(throws: SkeinError.self) {
                try task.resume(withParameters: [.learningRate: 0.5])
            }
            #expect(task.state == .suspended)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.result }
            #expect(task.state == .failed && task.error is CancellationError)
            task.resume()
            #expect(task.state == .failed)
            let found = seen.change { $0 }
            #expect(found.events == [.miniBatchEnd, .miniBatchEnd, .completion])
            // The version's folder is a session that can go on.
            let restored = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: SessionParameters(sessionDirectory: task.version))
            #expect(restored.iteration == 2)
            let trained = try await AdapterTrainer.resume(restored).result
            let straight = try self.task(bench, base, events: [], seen) { _ in }
            straight.resume()
            #expect(try await straight.result.adapter.sha256 == trained.adapter.sha256)
        }
    }

    @Test("parameters may be given again, but a run's cannot change")
    func parameters() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let seen = Condition(Seen())
            let errors = Condition([SkeinError]())
            let task = try task(bench, base, events: .trainingBegin, seen) { context in
                do {
                    try context.task.resume(withParameters: [.learningRate: 0.1, .seed: 0])
                } catch let error as SkeinError {
                    errors.change { $0.append(error) }
                } catch {}
                do {
                    try context.task.resume(withParameters: context.parameters)
                } catch {
                    context.task.cancel()
                }
            }
            task.resume()
            _ = try await task.result
            let found = errors.change { $0 }
            #expect(found.count == 1 && found.first?.what.contains("learningRate") == true)
            #expect(found.first?.remedy.contains("Recipe.schedule") == true)
        }
    }

    @Test("a context's own parameters may be given back under a warmup and a schedule")
    func scheduled() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let seen = Condition(Seen())
            let refusals = Condition(0)
            let task = try task(
                bench, base, events: [.trainingBegin, .miniBatchEnd, .epochEnd], seen,
                change: {
                    $0.schedule = .cosine
                    $0.warmupSteps = 2
                },
                handler: { context in
                    do {
                        try context.task.resume(withParameters: [.learningRate: 0.5])
                    } catch {
                        refusals.change { $0 += 1 }
                    }
                    do {
                        try context.task.resume(withParameters: context.parameters)
                    } catch {
                        context.task.cancel()
                    }
                })
            task.resume()
            _ = try await task.result
            let contexts = seen.change { $0.contexts }
            // All but the completion, where nothing can be resumed.
            #expect(refusals.change { $0 } == contexts.count - 1)
            let rates = contexts.filter { $0.event == .miniBatchEnd }
                .compactMap { $0.parameters[.learningRate] }
            #expect(rates.count == 6 && Set(rates).count > 3, "\(rates)")
        }
    }

    @Test("a task that never begins can be cancelled; one that cannot begin says why")
    func neverBegun() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let seen = Condition(Seen())
            let idle = try task(bench, base, seen) { _ in }
            idle.cancel()
            idle.cancel()
            idle.resume()
            await #expect(throws: CancellationError.self) { try await idle.result }
            #expect(idle.state == .failed && idle.version == nil)
            #expect(seen.change { $0.events } == [.completion])
            #expect(!FileManager.default.fileExists(atPath: bench.place("base-version-2")))

            let refused = try UpdateTask(
                adapter: base, model: bench.model,
                pairs: .dataset(Dataset(at: bench.rows, validation: "")),
                machine: Machine(threads: 1))
            refused.resume()
            let error = await #expect(throws: SkeinError.self) { try await refused.result }
            #expect(error?.what.isEmpty == false && refused.state == .failed)
            #expect(refused.version == nil)
            #expect(!FileManager.default.fileExists(atPath: bench.place("base-version-2")))
        }
    }

    @Test("what a task could not begin with is refused when it is made")
    func badTasks() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base").adapter
            let empty = #expect(throws: SkeinError.self) {
                try UpdateTask(adapter: base, model: bench.model, pairs: .pairs([]))
            }
            #expect(empty?.code == .badData)
            func refusal(_ change: (inout Recipe) -> Void) -> SkeinError? {
                var recipe = Recipe(.fixed)
                change(&recipe)
                return #expect(throws: SkeinError.self) {
                    try UpdateTask(
                        adapter: base, model: bench.model, pairs: .pairs(Self.more),
                        parameters: recipe)
                }
            }
            #expect(refusal { $0.rank = 0 }?.what.contains("rank") == true)
            for change: (inout Recipe) -> Void in [
                { $0.rank = 4 }, { $0.alpha *= 2 }, { $0.targetModules = ["q_proj"] },
                { $0.layers = .last(1) },
            ] {
                #expect(refusal(change)?.what.isEmpty == false)
            }
        }
    }

    @Test("versions are counted from the adapter's own, in the first folder that is free")
    func versions() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let adapter = directory + "/jargon"
            #expect(AdapterVersion.parsed("/a/jargon").number == 1)
            let seventh = AdapterVersion.parsed("/a/jargon-version-7")
            #expect(seventh.name == "/a/jargon" && seventh.number == 7)
            #expect(AdapterVersion.parsed("/a/jargon-version-").name == "/a/jargon-version-")
            #expect(AdapterVersion.parsed("/a/x-version-0").number == 1)
            #expect(AdapterVersion.parsed("/a-version-3/x").number == 1)
            let made = [
                try AdapterVersion.next(to: adapter + "/"), try AdapterVersion.next(to: adapter),
                try AdapterVersion.next(to: adapter + "-version-2"),
            ]
            #expect(made == [2, 3, 4].map { adapter + "-version-\($0)" })
            // Those of a run stand beside it, also those of its checkpoints.
            let run = directory + "/run"
            try FileManager.default.createDirectory(
                atPath: run + "/checkpoints/step-000002", withIntermediateDirectories: true)
            try AtomicFile.write("{}", to: run + "/run.json")
            #expect(try AdapterVersion.next(to: run + "/adapter") == run + "-version-2")
            let checkpoint = run + "/checkpoints/step-000002"
            #expect(try AdapterVersion.next(to: checkpoint) == run + "-version-3")
        }
    }
}
