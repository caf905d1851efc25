import Foundation
import SkeinBasics
import SkeinTensors
import Testing

@testable import Skein

/// What a trainer, a coordinator, a worker and an evaluation refuse, and what they say.
@Suite struct TrainerRefusalTests {
    @Test("an output that is not empty is refused before the data are read")
    func fullOutput() async throws {
        try await TrainerBench.with { bench in
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

    @Test("without fused multiply-add a program that trained in fp32 is refused int8")
    func oneArithmetic() async {
        // In a process of its own, whose level it sets.
        await #expect(processExitsWith: .success) {
            ProcessorLevel.plain.use()
            try await TrainerBench.with { bench in
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

    @Test("a run that is refused throws, and so does waiting for its address")
    func refused() async throws {
        try await TrainerBench.with { bench in
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
        try await TrainerBench.with { bench in
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
        try await TrainerBench.with { bench in
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
}
