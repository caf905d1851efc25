import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

@Suite("advice at the end of train")
struct TrainingAdviceTests {
    @Test("train says what the accuracies of its adapter suggest, unless it is told not to")
    func atTheEnd() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            func train(_ output: String, _ more: [String]) -> String {
                let process = CapturedProcess()
                let status = CommandLineTool.skein.run(
                    [
                        "train", "--model", directory + "/tiny.gguf",
                        "--data", directory + "/rows.jsonl", "--output", directory + "/" + output,
                        "--learning-rate", "1e-6", "--validation-split", "0",
                    ] + more, process.io(log: process.log))
                #expect(status == 0, "\(process.error)")
                return process.error
            }
            // At this rate nothing is learned.
            let said = train("run", [])
            let words = "the adapter does not hold the data; train twice as many iterations"
            #expect(said.contains("advice: training accuracy is ") && said.contains(words))
            #expect(!train("quiet", ["--no-advice"]).contains("advice"))
            // A run that was complete already, and one of few steps, say nothing.
            #expect(!train("run", ["--resume"]).contains("advice"))
            #expect(!train("short", ["--iterations", "19"]).contains("advice"))
        }
    }
}
