import Foundation
import SkeinBasics
import SkeinRows
import SkeinTestSupport
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

    @Test("prompts that cannot be answered are refused in the words of skein generate")
    func words() {
        #expect(
            SamplePromptError.empty.explanation
                == Explanation(
                    what: "the prompt has no tokens", place: "--prompt",
                    remedy: "give a text to answer or continue", status: .badData))
        #expect(
            SamplePromptError.tooLong(tokens: 9, limit: 8).explanation
                == Explanation(
                    what: "the prompt has 9 tokens, but the model reads at most 8",
                    remedy: "give a shorter --prompt", status: .badData))
    }

    @Test("a prompt that is too long for the model is an error before anything is written")
    func tooLong() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<10).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            var configuration = TrainingConfiguration.fixed
            configuration.maxLength = 64
            configuration.promptFormat = .raw
            configuration.samplePrompt = [String(repeating: "12 ", count: 1300)]
            let request = RunRequest(
                configuration: configuration, model: .path(directory + "/tiny.gguf"),
                data: directory + "/rows.jsonl", output: directory + "/run", tokenCache: nil)
            let error = #expect(throws: SamplePromptError.self) {
                try TrainingRun(request, resuming: false, samples: .told)
            }
            guard case .tooLong(let tokens, let limit) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(tokens >= limit)
            #expect(!FileManager.default.fileExists(atPath: directory + "/run"))
        }
    }
}
