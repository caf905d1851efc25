import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct ExpressionSpeedTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// SKEIN_MEASURE_TOKENIZERS: a text file. SKEIN_TEST_MODEL: a GGUF file whose vocabulary is used
    /// with each pre-tokenizer.
    @Test(
        "how fast a text is encoded with the pre-tokenizers of llama.cpp",
        .enabled(if: environment["SKEIN_MEASURE_TOKENIZERS"] != nil))
    func speed() throws {
        let path = try #require(Self.environment["SKEIN_MEASURE_TOKENIZERS"])
        let model = try #require(Self.environment["SKEIN_TEST_MODEL"])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let metadata = try GGUFFile(path: model).metadata
        for name in ["smollm", "qwen2"] + PreTokenSteps.namesInGGUF {
            var changed = metadata
            changed["tokenizer.ggml.pre"] = .string(name)
            let tokenizer = try Tokenizer(ggufMetadata: changed)
            let lines = text.components(separatedBy: "\n\n")
            var count = 0
            let start = Self.seconds()
            for line in lines { count += tokenizer.encode(line).count }
            let seconds = Self.seconds() - start
            #expect(count > 0)
            print(name, count, String(format: "%.1f MB/s", Double(text.utf8.count) / seconds / 1e6))
        }
    }

    /// The time that this thread has run, whatever else the machine does.
    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
