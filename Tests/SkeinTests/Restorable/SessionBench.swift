import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining

@testable import Skein

/// A tiny model, 20 rows, and sessions on them: 8 steps, an epoch after each 4.
struct SessionBench {
    let directory: String
    let model: Model

    static let pairs = (0..<20).map {
        PromptCompletion(prompt: "\($0)?", completion: "the answer is \($0)")
    }

    static func with(_ body: (SessionBench) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let bench = SessionBench(directory: directory, model: try Model(at: path))
            try TrainingPairs.write(Self.pairs, to: bench.rows)
            try await body(bench)
        }
    }

    var rows: String { directory + "/rows.jsonl" }

    func place(_ name: String) -> String { directory + "/" + name }

    func parameters(seed: Int = 0, from adapter: Adapter? = nil) -> AdapterTrainer.Parameters {
        var recipe = Recipe(.fixed)
        recipe.seed = seed
        return AdapterTrainer.Parameters(
            model: model, recipe: recipe, machine: Machine(threads: 1), startingFrom: adapter)
    }

    func settings(
        _ name: String, report: Int = 2, checkpoint: Int = 2, iterations: Int? = 8
    ) -> SessionParameters {
        SessionParameters(
            sessionDirectory: URL(fileURLWithPath: place(name)), reportInterval: report,
            checkpointInterval: checkpoint, iterations: iterations)
    }

    func session(_ name: String, seed: Int = 0) throws -> TrainingSession {
        try AdapterTrainer.makeTrainingSession(
            pairs: .file(rows), parameters: parameters(seed: seed),
            sessionParameters: settings(name))
    }

    func trained(_ name: String, seed: Int = 0) async throws -> TrainedAdapter {
        try await AdapterTrainer.resume(session(name, seed: seed)).result
    }

    /// Stops a session after a step, on the job's own thread, so that it cannot get ahead.
    func stop(_ session: TrainingSession, after step: Int) async throws {
        let flag = CancelFlag()
        let job = try TrainingTask(session, flag: flag) { moment in
            if case .iteration(let line) = moment, line.step == step { flag.set() }
        }
        do {
            _ = try await job.result
        } catch is CancellationError {
            return
        }
        throw NotStopped(step: step)
    }

    struct NotStopped: Error {
        let step: Int
    }

    /// What `skein train` runs, in a directory of its own.
    func commandLine(_ name: String, seed: Int = 0, resuming: Bool = false) throws -> RunEnding {
        var configuration = TrainingConfiguration.fixed
        configuration.seed = seed
        configuration.iterations = 8
        configuration.reportEvery = 2
        configuration.checkpointEvery = 2
        configuration.threads = 1
        let run = try TrainingRun(
            RunRequest(
                configuration: configuration, model: .path(model.path), data: rows,
                output: place(name), tokenCache: nil), resuming: resuming,
            samples: .silent)
        return try run.run(report: { _ in }, shouldStop: { false })
    }

    func reference(seed: Int = 0) throws -> String {
        try commandLine("reference-\(seed)", seed: seed).directory.adapterDigest().description
    }

    func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: place(path)))
    }
}

extension AsyncSequence {
    func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}
