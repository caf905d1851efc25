import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

/// What programs read of a log, and what is refused before anything is read.
@Suite struct EventFieldsTests {
    @Test("a validation has fields in the log, not only a sentence")
    func validation() {
        let metrics = ValidationMetrics(
            step: 5, epoch: 2, loss: 2.5, tokens: 40, tokenAccuracy: 0.5)
        #expect(
            JSONValue.fields(TrainingReporter.facts(of: metrics, isBest: true)).written == """
                {"event":"validation","step":5,"epoch":2,"validation_loss":2.5,"validation_tokens":40,\
                "validation_accuracy":0.5,"is_best":true}
                """)
        let none = ValidationMetrics(step: 5, epoch: 2, loss: nil, tokens: 0)
        let fields = TrainingReporter.facts(of: none, isBest: false)
        #expect(JSONValue.fields(fields).written.contains("\"validation_loss\":null"))
    }

    private static func files(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try AtomicFile.write("{\"text\": \"a\"}\n", to: directory + "/rows.jsonl")
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            try AtomicFile.write("x", to: directory + "/there")
            try body(directory)
        }
    }

    @Test("an output that is there is refused before model, adapter and rows are looked at")
    func output() throws {
        try Self.files { (directory: String) throws -> Void in
            try AtomicFile.makeDirectory(directory + "/out")
            try AtomicFile.write("x", to: directory + "/out/mine.txt")
            // Names of the Hub, which would be downloaded.
            for words in [
                ["train", "--data", "none.jsonl"], ["coordinator", "--data", "none.jsonl"],
                ["launch", "--local", "1", "--data", "none.jsonl"],
                ["fuse", "--adapter", "org/adapter"],
                ["export", "--adapter", "org/adapter", "--format", "mlx"],
            ] {
                let process = CapturedProcess()
                let status = CommandLineTool.skein.run(
                    words + ["--model", "org/none", "--output", directory + "/out"], process.io())
                #expect(status != 0)
                #expect(process.error.contains(directory + "/out"), "\(words) \(process.error)")
                #expect(!process.error.contains("org/"), "\(process.error)")
            }
        }
    }

    @Test("what was meant for another option is told as what it is, and never called damaged")
    func otherFiles() throws {
        try Self.files { (directory: String) throws -> Void in
            func told(_ words: String...) -> String {
                let process = CapturedProcess()
                #expect(CommandLineTool.skein.run(words, process.io()) == 65)
                #expect(!process.error.contains("damaged"))
                return process.error
            }
            func model(_ path: String) -> String { told("generate", "--model", path, "hello") }
            let rows = model(directory + "/rows.jsonl")
            #expect(rows.contains("this is a data file") && rows.contains("--data"))
            let folder = directory + "/adapter"
            try AtomicFile.makeDirectory(folder)
            try AtomicFile.write("{}", to: folder + "/adapter_config.json")
            let adapter = model(folder)
            #expect(adapter.contains("this is an adapter") && adapter.contains("--adapter"))
            let run = directory + "/run"
            try AtomicFile.makeDirectory(run)
            try AtomicFile.write("{\"model\": \"m.gguf\"}", to: run + "/run.json")
            #expect(model(run).contains("give --model m.gguf, and the folder as --adapter"))
            let place = directory + "/data"
            try AtomicFile.makeDirectory(place)
            try AtomicFile.write("{}", to: place + "/train.jsonl")
            #expect(model(place).contains("folder of rows"))
            func data(of path: String) -> String {
                told(
                    "train", "--model", directory + "/tiny.gguf", "--output", directory + "/o",
                    "--data", path)
            }
            let given = data(of: directory + "/tiny.gguf")
            #expect(given.contains("this is a GGUF file") && given.contains("--model"), "\(given)")
            #expect(data(of: folder).contains("a model or an adapter, and no training rows"))
        }
    }
}
