import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// Paths that lead to something else than was meant.
@Suite struct MistakenPathsTests {
    private static func error(_ words: String..., status: Int32 = 65) -> String {
        let process = CapturedProcess()
        #expect(CommandLineTool.skein.run(words, process.io()) == status, "\(words)")
        return process.error
    }

    private static let adapter = TestPaths.fixture("adapters") + "/peft"

    /// A directory with a model as `tiny.gguf`.
    private static func withModel(
        _ model: TinyModel = TinyModel(), _ body: (String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try model.writeGGUF(to: directory + "/tiny.gguf")
            try body(directory)
        }
    }

    private static func generate(
        _ model: String, _ adapter: String, status: Int32 = 65
    ) -> String {
        error(
            "generate", "--model", model, "--adapter", adapter, "--prompt", "hi", status: status)
    }

    /// A copy of the fixture whose configuration has other values.
    private static func copy(to path: String, _ change: (inout [String: Any]) -> Void) throws {
        try FileManager.default.copyItem(atPath: adapter, toPath: path)
        let file = path + "/adapter_config.json"
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        var object = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        change(&object)
        try AtomicFile.write(Array(try JSONSerialization.data(withJSONObject: object)), to: file)
    }

    @Test("an adapter of a base model of other shapes is told from a damaged one")
    func otherShapes() throws {
        var wide = TinyModel()
        wide.width = 96
        var flat = TinyModel()
        flat.layerCount = 1
        for (model, detail) in [(wide, "[2, 64]"), (flat, "layers.1.")] {
            try Self.withModel(model) { (directory: String) throws -> Void in
                let path = directory + "/big"
                try Self.copy(to: path) { $0["base_model_name_or_path"] = "org/big-7B" }
                let error = Self.generate(directory + "/tiny.gguf", path)
                #expect(error.contains("this adapter was made for org/big-7B, not for this model"))
                #expect(error.contains(detail), "\(error)")
                #expect(error.contains("  at: \(path)\n") && error.contains("fix: give --model"))
                // The base has no name, or this one's.
                let tiny = Self.generate(directory + "/tiny.gguf", Self.adapter)
                #expect(tiny.contains("this adapter was made for another base model"))
                #expect(tiny.contains(detail) && tiny.contains("fix: give --model"))
            }
        }
        // In its own files.
        try Self.withModel { (directory: String) throws -> Void in
            try Self.copy(to: directory + "/a") { $0["r"] = 3 }
            let error = Self.generate(directory + "/tiny.gguf", directory + "/a")
            #expect(error.contains("the weights and their configuration do not match"))
        }
    }

    @Test("a base model in the place of an adapter is told to be one")
    func modelAsAdapter() throws {
        try Self.withModel { (directory: String) throws -> Void in
            let model = directory + "/tiny.gguf"
            try AtomicFile.makeDirectory(directory + "/folder")
            try TinyModel().writeHuggingFaceFolder(to: directory + "/folder")
            var untyped = TinyModel().gguf()
            untyped.metadata.removeAll { $0.key == "general.type" }
            try AtomicFile.write(untyped.bytes(), to: directory + "/untyped.gguf")
            for path in [model, directory + "/folder", directory + "/untyped.gguf"] {
                let error = Self.generate(model, path)
                #expect(error.contains("error: this is a base model, not an adapter\n"), "\(error)")
                #expect(error.contains("fix: give it as --model"))
            }
        }
    }

    @Test("a folder around adapters is answered with those in it")
    func around() throws {
        try Self.withModel { (directory: String) throws -> Void in
            let (model, run) = (directory + "/tiny.gguf", directory + "/run")
            let checkpoints = run + "/checkpoints"
            try AtomicFile.makeDirectory(checkpoints)
            try AtomicFile.write("{}", to: run + "/run.json")
            let places = ["/adapter", "/checkpoints/step-000006", "/checkpoints/step-000012"]
            for place in places {
                try FileManager.default.copyItem(atPath: Self.adapter, toPath: run + place)
            }
            let error = Self.generate(model, checkpoints)
            #expect(
                error.contains("fix: give \(run) or \(checkpoints)/step-000012\n"), "\(error)")
            try FileManager.default.removeItem(atPath: run + "/adapter")
            #expect(Self.generate(model, checkpoints).contains("give \(checkpoints)/step-000012\n"))
            // As a sweep's.
            let sweep = directory + "/sweep"
            for name in ["b", "a"] {
                try AtomicFile.makeDirectory(sweep + "/" + name)
                try FileManager.default.copyItem(
                    atPath: Self.adapter, toPath: sweep + "/\(name)/adapter")
            }
            #expect(Self.generate(model, sweep).contains("fix: give \(sweep)/a or \(sweep)/b\n"))
        }
    }

    /// Root may read everything, so a test refuses by a link to itself, which the system does not
    /// follow.
    @Test("what may not be looked at is not called missing")
    func refused() throws {
        try Self.withModel { (directory: String) throws -> Void in
            let model = directory + "/tiny.gguf"
            let loop = directory + "/loop"
            try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
            let inside = loop + "/run"
            let record = directory + "/record"
            try AtomicFile.makeDirectory(record)
            try FileManager.default.createSymbolicLink(
                atPath: record + "/run.json", withDestinationPath: record + "/run.json")
            let lines: [[String]] = [
                ["generate", "--model", inside, "--prompt", "p"],
                ["generate", "--model", model, "--adapter", inside, "--prompt", "p"],
                ["inspect", inside], ["status", inside], ["status", record], ["report", inside],
                ["report", record], ["sync", record, "--mlflow", "http://127.0.0.1:1"],
                ["train", "--resume", "--output", record],
            ]
            for words in lines {
                let process = CapturedProcess()
                #expect(CommandLineTool.skein.run(words, process.io()) == 74, "\(words)")
                #expect(
                    process.error.contains("Too many levels of symbolic links"),
                    "\(words): \(process.error)")
            }
        }
    }

    @Test("a pattern that the shell has not expanded is told from a missing file")
    func patterns() throws {
        try Self.withModel { (directory: String) throws -> Void in
            let model = directory + "/tiny.gguf"
            for (words, status) in [
                (["data", directory + "/*.jsonl", "--model", model], 74),
                (["generate", "--model", directory + "/*.gguf", "--prompt", "p"], 65),
                (["evaluate", "--model", model, "--data", directory + "/*.jsonl"], 74),
            ] as [([String], Int32)] {
                let process = CapturedProcess()
                #expect(CommandLineTool.skein.run(words, process.io()) == status, "\(words)")
                #expect(process.error.contains("No such file") || process.error.contains("no such"))
                #expect(process.error.contains("fix: patterns with * are not expanded"), "\(words)")
            }
        }
    }

    @Test("inspect sends a data file to the command that shows it")
    func inspectRows() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            for name in ["rows.jsonl", "my rows.csv"] {
                let path = directory + "/" + name
                try AtomicFile.write("{\"text\": \"a\"}\n", to: path)
                #expect(
                    Self.error("inspect", path).contains(
                        "fix: this is a data file: `skein data \(ShellWords.quoted(path)) "
                            + "--model MODEL`"))
            }
        }
    }

    @Test("an output that is a file is told as one, also with --resume")
    func outputFile() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            let file = directory + "/rows.jsonl"
            try AtomicFile.write("{\"text\": \"a\"}\n", to: file)
            for words in [
                ["train", "--model", file, "--data", file, "--output", file],
                ["train", "--resume", "--output", file],
            ] {
                let process = CapturedProcess()
                #expect(CommandLineTool.skein.run(words, process.io()) == 65)
                #expect(process.error.contains("the output is a file"), "\(process.error)")
            }
        }
    }
}
