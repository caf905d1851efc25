import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTraining

@Suite("sample prompts")
struct SampleTests {
    @Test("one prompt is a text, several are a JSON list, and both read back")
    func texts() throws {
        for prompts in [["a"], ["a", "b"], ["[\"x\"]"], ["[x"], ["\"", "é\n"]] {
            let text = SamplePromptText.text(of: prompts)
            #expect(SamplePromptText.prompts(of: text) == prompts)
        }
        #expect(SamplePromptText.prompts(of: "What?") == ["What?"])
        #expect(SamplePromptText.prompts(of: "[not JSON") == ["[not JSON"])
        #expect(SamplePromptText.prompts(of: "") == nil)
        #expect(SamplePromptText.prompts(of: "[]") == nil)
        #expect(SamplePromptText.prompts(of: String(repeating: "a", count: 5000)) == nil)
        #expect(try SamplePromptText.joined("a", "[\"b\",\"c\"]") == #"["a","b","c"]"#)
        let many = SamplePromptText.text(of: Array(repeating: "a", count: 16))
        #expect(throws: JoinProblem.tooMany(most: 16)) {
            try SamplePromptText.joined(many, "one more")
        }
    }

    @Test("a sample's line reads back, whatever it says")
    func line() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/metrics.jsonl"
            let samples = [
                SampleMetrics(
                    step: 3, epoch: 1, prompt: "\"validation_tokens\":",
                    text: "\"sample_prompt\":1",
                    tokens: 2),
                SampleMetrics(step: 3, epoch: 1, prompt: "é\n", text: nil, tokens: 0),
            ]
            let validation = ValidationMetrics(step: 3, epoch: 1, loss: 2, tokens: 5)
            do {
                let metrics = try Metrics(path: path, keepingThroughStep: 0)
                try metrics.append(validation)
                try metrics.append(samples)
            }
            var read: [Metrics.Record] = []
            try Metrics.read(path: path) { read.append($0) }
            #expect(read == [.validation(validation)] + samples.map { .sample($0) })
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.hasSuffix("\"sample\":null,\"sample_tokens\":0}\n"))
        }
    }

    /// A run of the tiny model; its metrics without times, and its adapter's SHA-256.
    private func run(
        _ directory: String, prompts: [String]?, resuming: Bool = false, steps: Int? = nil,
        threads: Int = 1
    ) throws -> (samples: [SampleMetrics], digest: String) {
        var configuration = TrainingConfiguration.fixed
        configuration.epochs = 2
        configuration.maxLength = 64
        configuration.threads = threads
        configuration.samplePrompt = prompts
        configuration.promptFormat = .raw
        let request = RunRequest(
            configuration: configuration, model: .path(directory + "/tiny.gguf"),
            data: directory + "/rows.jsonl", output: directory + "/run", tokenCache: nil)
        let done = Mutex(0)
        let ending = try TrainingRun(request, resuming: resuming).run(
            report: { event in
                guard case .loop(.step(let metrics, _)) = event else { return }
                done.withLock { $0 = metrics.step }
            }, shouldStop: { steps.map { last in done.withLock { $0 >= last } } ?? false })
        var samples: [SampleMetrics] = []
        try Metrics.read(path: ending.directory.metrics) {
            if case .sample(let sample) = $0 { samples.append(sample) }
        }
        return (samples, try ending.directory.adapterDigest().description)
    }

    private func withInputs(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<10).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
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

    @Test("a prompt that is too long for the model is an error before anything is written")
    func tooLong() throws {
        try withInputs { directory in
            let long = String(repeating: "12 ", count: 1300)
            #expect(throws: (any Error).self) { try run(directory, prompts: [long]) }
            #expect(!FileManager.default.fileExists(atPath: directory + "/run"))
        }
    }
}
