import Foundation
import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

/// Compares the library, as a program uses it, with the command line.
@Suite struct TrainerTests {
    private struct Bench {
        let directory: String
        let model: Model
        let data: Dataset

        func output(_ name: String) -> String { directory + "/" + name }

        func trainer(_ name: String, seed: Int = 0, machine: Machine = .one) -> Trainer {
            Trainer(
                recipe: .short(seed: seed), model: model, data: data, output: output(name),
                machine: machine)
        }

        /// The hash of the adapter that `skein train` makes.
        func reference(seed: Int = 0) throws -> String {
            var configuration = TrainingConfiguration.fixed
            configuration.seed = seed
            configuration.iterations = 8
            configuration.checkpointEvery = 2
            configuration.threads = 1
            let run = try TrainingRun(
                RunRequest(
                    configuration: configuration, model: .path(model.path), data: data.path,
                    output: output("reference-\(seed)"), tokenCache: nil), resuming: false,
                samples: .silent)
            let ending = try run.run(report: { _ in }, shouldStop: { false })
            return try ending.directory.adapterDigest().description
        }
    }

    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try await body(
                Bench(
                    directory: directory, model: Model(at: path),
                    data: Dataset(at: directory + "/rows.jsonl")))
        }
    }

    @Test("a trainer makes the adapter of skein train and reports every step")
    func trains() async throws {
        try await withBench { bench in
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

    @Test("an output that is not empty is refused before the data are read")
    func fullOutput() async throws {
        try await withBench { bench in
            let output = bench.output("photos")
            try FileManager.default.createDirectory(
                atPath: output + "/2026", withIntermediateDirectories: true)
            let missing = Dataset(at: bench.output("missing.jsonl"))
            let trainer = Trainer(model: bench.model, data: missing, output: output)
            let coordinator = Coordinator(model: bench.model, data: missing, output: output)
            for error in [
                await #expect(throws: SkeinError.self) { try await trainer.run() },
                await #expect(throws: SkeinError.self) { try await coordinator.run() },
            ] {
                #expect(error?.place == output && error?.what.contains("not empty") == true)
            }
            let foreign = Trainer(model: bench.model, data: missing, output: output)
            let error = await #expect(throws: SkeinError.self) { try await foreign.resume() }
            #expect(error?.place == output)
            // Where there is nothing to refuse, the data are what is wrong.
            let empty = Trainer(model: bench.model, data: missing, output: bench.output("new"))
            let absent = await #expect(throws: SkeinError.self) { try await empty.run() }
            #expect(absent?.place == missing.path)
        }
    }

    @Test("the folder of a run means its adapter, as it does to the commands")
    func runFolder() async throws {
        try await withBench { bench in
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
        try await withBench { bench in
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
        try await withBench { bench in
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
        try await withBench { bench in
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

    @Test("without fused multiply-add a program that trained in fp32 is refused int8")
    func oneArithmetic() async {
        // In a process of its own, whose level it sets.
        await #expect(processExitsWith: .success) {
            ProcessorLevel.plain.use()
            try await TrainerTests().withBench { bench in
                let first = try await bench.trainer("a").run()
                var recipe = Recipe.short()
                recipe.compute = .int8
                let trainer = Trainer(
                    recipe: recipe, model: bench.model, data: bench.data,
                    output: bench.output("b"), machine: .one)
                let adapter = try Adapter(at: bench.output("a"))
                for error in [
                    await #expect(throws: SkeinError.self) { try await trainer.run() },
                    await #expect(throws: SkeinError.self) {
                        try await Evaluation.measure(
                            bench.model, adapter: adapter, data: bench.data.path,
                            recipe: recipe, machine: .one)
                    },
                ] {
                    #expect(error?.code == .usage && error?.place == "`compute` int8")
                    #expect(error?.remedy == "start a process for each compute type")
                }
                #expect(!FileManager.default.fileExists(atPath: bench.output("b")))
                let again = try await bench.trainer("c").run()
                #expect(again.adapter?.sha256 == first.adapter?.sha256)
            }
        }
    }

    @Test("two trainers at once make the adapters that each makes alone")
    func twoAtOnce() async throws {
        try await withBench { bench in
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
        try await withBench { bench in
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

    @Test("a run that is refused throws, and so does waiting for its address")
    func refused() async throws {
        try await withBench { bench in
            let missing = #expect(throws: SkeinError.self) { try Model(at: "/nowhere") }
            #expect(missing?.description.contains("/nowhere") == true)
            var cluster = Cluster()
            cluster.token = Array("short".utf8)
            let coordinator = Coordinator(
                recipe: .short(), model: bench.model, data: bench.data,
                output: bench.output("a"), cluster: cluster)
            let run = Task { try await coordinator.run() }
            let told = await #expect(throws: SkeinError.self) { try await coordinator.address }
            let thrown = await #expect(throws: SkeinError.self) { try await run.value }
            #expect(told == thrown && thrown?.what.contains("token") == true)
            cluster = Cluster()
            cluster.patience = .seconds(1)
            let impatient = Coordinator(
                model: bench.model, data: bench.data, output: bench.output("a"), cluster: cluster)
            let error = await #expect(throws: SkeinError.self) { try await impatient.run() }
            #expect(error?.code == .usage)
            let waiting = Coordinator(
                model: bench.model, data: bench.data, output: bench.output("b"))
            let address = Task { try await waiting.address }
            address.cancel()
            await #expect(throws: CancellationError.self) { try await address.value }
            var machine = Machine.one
            for threads in [-1, 0, .max] {
                machine.threads = threads
                let worker = Worker(coordinator: "127.0.0.1:1", machine: machine)
                await #expect(throws: SkeinError.self) { try await worker.run() }
                await #expect(throws: SkeinError.self) {
                    try await Evaluation.measure(
                        bench.model, data: bench.data.path, machine: machine)
                }
                await #expect(throws: SkeinError.self) {
                    try await TextGenerator(model: bench.model, machine: machine)
                }
                let trainer = bench.trainer("c", machine: machine)
                await #expect(throws: SkeinError.self) { try await trainer.run() }
            }
            // An evaluation has no adapter that a run began from, and says so instead of using another.
            var compared = Recipe.short()
            (compared.loss, compared.reference) = (.dpo, .initial)
            await #expect(throws: SkeinError.self) {
                try await Evaluation.measure(
                    bench.model, data: bench.data.path, recipe: compared, machine: .one)
            }
            let refused = [
                Worker(coordinator: "10.0.0.1:7534"), Worker(coordinator: "nonsense"),
                Worker(coordinator: "127.0.0.1:1", token: [1]),
                Worker(coordinator: "127.0.0.1:1", name: "a b"),
                Worker(coordinator: "127.0.0.1:1", patience: .seconds(Int64.max)),
            ]
            for worker in refused {
                await #expect(throws: SkeinError.self) { try await worker.run() }
            }
        }
    }

    @Test("a run refuses an adapter that has changed since it was opened")
    func changed() async throws {
        try await withBench { bench in
            let adapter = try #require(try await bench.trainer("a").run().adapter)
            let other = try #require(try await bench.trainer("b", seed: 1).run().adapter)
            let name = "/adapter_model.safetensors"
            let bytes = try Data(contentsOf: URL(fileURLWithPath: other.path + name))
            try AtomicFile.write(Array(bytes), to: adapter.path + name)
            let next = Trainer(
                recipe: .short(), model: bench.model, data: bench.data, output: bench.output("c"),
                machine: .one, startingFrom: adapter)
            let error = await #expect(throws: SkeinError.self) { try await next.run() }
            #expect(error?.what.contains("changed") == true)
            let coordinator = Coordinator(
                recipe: .short(), model: bench.model, data: bench.data, output: bench.output("d"),
                machine: .one, startingFrom: adapter)
            let refused = await #expect(throws: SkeinError.self) { try await coordinator.run() }
            #expect(refused == error)
            // The run has created nothing.
            #expect(!FileManager.default.fileExists(atPath: bench.output("d")))
        }
    }

    @Test("magnitudes of the embedding and the head are refused, also for a run from an adapter")
    func edges() async throws {
        try await withBench { bench in
            let adapter = try #require(try await bench.trainer("a").run().adapter)
            var recipe = Recipe.short()
            recipe.targetModules = ["q_proj", "lm_head"]
            recipe.dora = true
            for start in [nil, adapter] {
                let trainer = Trainer(
                    recipe: recipe, model: bench.model, data: bench.data, output: bench.output("e"),
                    machine: .one, startingFrom: start)
                let error = await #expect(throws: SkeinError.self) { try await trainer.run() }
                #expect(error?.what.contains("exclude each other") == true)
            }
            recipe.dora = nil
            recipe.targetModules = ["embed_tokens", "lm_head"]
            let trained = try await Trainer(
                recipe: recipe, model: bench.model, data: bench.data, output: bench.output("f"),
                machine: .one
            ).run().adapter
            #expect(try #require(trained).targetModules == ["embed_tokens", "lm_head"])
        }
    }

    @Test("an adapter can be measured, answer prompts and start the next run")
    func uses() async throws {
        try await withBench { bench in
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

extension Recipe {
    fileprivate static func short(seed: Int = 0) -> Recipe {
        var recipe = Recipe(.fixed)
        recipe.seed = seed
        recipe.iterations = 8
        return recipe
    }
}

extension Machine {
    fileprivate static var one: Machine {
        var machine = Machine(threads: 1)
        machine.keepsTokens = false
        machine.checkpointEvery = 2
        return machine
    }
}
