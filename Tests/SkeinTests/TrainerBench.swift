import SkeinBasics
import SkeinTestSupport
import SkeinTraining

@testable import Skein

/// A tiny model, 20 rows, and trainers on them: 8 steps, a checkpoint after each 2.
struct TrainerBench {
    let directory: String
    let model: Model
    let data: Dataset

    static func with(_ body: (TrainerBench) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try await body(
                TrainerBench(
                    directory: directory, model: Model(at: path),
                    data: Dataset(at: directory + "/rows.jsonl")))
        }
    }

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

extension Recipe {
    static func short(seed: Int = 0) -> Recipe {
        var recipe = Recipe(.fixed)
        recipe.seed = seed
        recipe.iterations = 8
        return recipe
    }
}

extension Machine {
    static var one: Machine {
        var machine = Machine(threads: 1)
        machine.keepsTokens = false
        machine.checkpointEvery = 2
        return machine
    }
}
