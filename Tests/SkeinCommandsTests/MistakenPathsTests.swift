import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// Paths that lead to something else than was meant.
@Suite struct MistakenPathsTests {
    private static func error(_ words: String..., status: Int32 = 65) -> String {
        let process = CapturedProcess()
        #expect(CommandLineTool.run(words, process.io()) == status, "\(words)")
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
                #expect(CommandLineTool.run(words, process.io()) == 74, "\(words)")
                #expect(
                    process.error.contains("Too many levels of symbolic links"),
                    "\(words): \(process.error)")
            }
        }
    }
}
