import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinRows
import SkeinTestSupport
import SkeinTraining
import Synchronization
import Testing

@testable import Skein

@Suite("samples of a run")
struct SampleRunTests {
    private func request(
        _ directory: String, prompts: [String]?, threads: Int = 1
    ) -> RunRequest {
        var configuration = TrainingConfiguration.fixed
        configuration.epochs = 2
        configuration.maxLength = 64
        configuration.threads = threads
        configuration.samplePrompt = prompts
        configuration.promptFormat = .raw
        return RunRequest(
            configuration: configuration, model: .path(directory + "/tiny.gguf"),
            data: directory + "/rows.jsonl", output: directory + "/run", tokenCache: nil)
    }

    private func lines(_ metrics: String) throws -> [SampleMetrics] {
        var samples: [SampleMetrics] = []
        try Metrics.read(path: metrics) {
            if case .sample(let sample) = $0 { samples.append(sample) }
        }
        return samples
    }

    /// A run of the tiny model; its metrics without times, and its adapter's SHA-256.
    private func run(
        _ directory: String, prompts: [String]?, resuming: Bool = false, steps: Int? = nil,
        threads: Int = 1
    ) throws -> (samples: [SampleMetrics], digest: String) {
        let request = request(directory, prompts: prompts, threads: threads)
        let done = Mutex(0)
        let ending = try TrainingRun(request, resuming: resuming, samples: .generating).run(
            report: { event in
                guard case .loop(.step(let metrics, _)) = event else { return }
                done.withLock { $0 = metrics.step }
            }, shouldStop: { steps.map { last in done.withLock { $0 >= last } } ?? false })
        return (
            try lines(ending.directory.metrics), try ending.directory.adapterDigest().description
        )
    }

    private func writeInputs(_ directory: String) throws {
        try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
        let rows = (0..<10).map {
            "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
        }
        try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
    }

    private func withInputs(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try writeInputs(directory)
            try body(directory)
        }
    }

    @Test("each validation answers every prompt; the adapter is the same with and without")
    func samples() throws {
        var plain = ""
        try withInputs { plain = try run($0, prompts: nil).digest }
        var straight: [SampleMetrics] = []
        try withInputs { directory in
            let result = try run(directory, prompts: ["what is 1?", "2"], threads: 2)
            straight = result.samples
            #expect(result.digest == plain)
            #expect(straight.map(\.step) == [0, 0, 2, 2, 4, 4])
            #expect(straight.map(\.epoch) == [0, 0, 1, 1, 2, 2])
            #expect(
                straight.map(\.prompt)
                    == ["what is 1?", "2", "what is 1?", "2", "what is 1?", "2"])
            #expect(straight.allSatisfy { $0.text != nil && (0...64).contains($0.tokens) })
            #expect(straight.contains { $0.tokens > 0 })
        }
        try withInputs { directory in
            let stopped = try run(directory, prompts: ["what is 1?", "2"], steps: 3)
            #expect(stopped.samples.map(\.step) == [0, 0, 2, 2])
            let resumed = try run(directory, prompts: ["what is 1?", "2"], resuming: true)
            #expect(resumed.samples == straight && resumed.digest == plain)
        }
    }

    @Test("a coordinator answers as a run in one process does, with the weights of its own")
    func coordinator() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            try writeInputs(directory)
            let model = try Model(at: directory + "/tiny.gguf")
            let data = Dataset(at: directory + "/rows.jsonl")
            var recipe = Recipe(.fixed)
            (recipe.maxLength, recipe.iterations) = (64, 4)
            var machine = Machine(threads: 1)
            machine.keepsTokens = false
            machine.samplePrompts = ["what is 1?", "2"]
            var cluster = Cluster()
            cluster.localThreads = 1
            _ = try await Trainer(
                recipe: recipe, model: model, data: data, output: directory + "/alone",
                machine: machine
            ).run()
            _ = try await Coordinator(
                recipe: recipe, model: model, data: data, output: directory + "/cluster",
                cluster: cluster, machine: machine
            ).run()
            let alone = try lines(directory + "/alone/metrics.jsonl")
            #expect(alone.count >= 4 && alone.contains { $0.text != nil })
            #expect(try lines(directory + "/cluster/metrics.jsonl") == alone)
        }
    }

    @Test("room for weights and a cache is kept for samples, and none without prompts")
    func room() throws {
        try withInputs { directory in
            func bytes(_ prompts: [String]?) throws -> Int {
                let run = try TrainingRun(
                    request(directory, prompts: prompts), resuming: false, samples: .generating)
                return SampleSource.generating.bytes(run.job)
            }
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            #expect(try bytes(nil) == 0)
            #expect(try bytes(["1?"]) > model.weightBytes)
            // One after another: the longest decides.
            #expect(try bytes(["1?", "what is 1?"]) == bytes(["what is 1?"]))
        }
    }

    @Test("a prompt that cannot be answered gets the words of skein generate")
    func words() {
        #expect(SamplePromptError.empty.explanation == GenerationError.emptyPrompt.explanation)
        #expect(
            SamplePromptError.tooLong(tokens: 9, limit: 8).explanation
                == GenerationError.promptTooLong(tokens: 9, limit: 8).explanation)
    }
}
