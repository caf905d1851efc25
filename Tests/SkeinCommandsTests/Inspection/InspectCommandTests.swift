import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

@Suite struct InspectCommandTests {
    private func inspect(_ words: String...) -> (status: Int32, output: String, error: String) {
        let process = CapturedProcess()
        let status = CommandLineTool.skein.run(["inspect"] + words, process.io())
        return (status, process.output, process.error)
    }

    /// The JSON object of `inspect --json`, which must succeed.
    private func facts(_ words: String...) throws -> [String: Any] {
        let process = CapturedProcess()
        let status = CommandLineTool.skein.run(["inspect", "--json"] + words, process.io())
        try #require(status == 0, "\(process.error)")
        let object = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
        return try #require(object as? [String: Any])
    }

    private func digest(_ path: String) throws -> String {
        let file = try MappedFile(path: path)
        return SHA256.digest(of: file.bytes).description
    }

    @Test("inspect shows the sizes, types and digest of a GGUF file")
    func gguf() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.weightType = .q8x0
            let path = directory + "/tiny"
            try tiny.writeGGUF(to: path)
            let found = try facts(path)
            #expect(found["kind"] as? String == "model")
            #expect(found["layers"] as? Int == 2)
            #expect(found["vocabulary"] as? Int == 320)
            #expect(found["norm_epsilon"] as? Double == 1e-5)
            #expect(found["chat_template"] as? Bool == true)
            #expect(found["sha256"] as? String == (try digest(path)))
            let types = try #require(found["tensor_types"] as? [String: [String: Int]])
            // An embedding, and seven projections in each layer; two norms in each, and the last.
            #expect(types["Q8_0"]?["tensors"] == 1 + 2 * 7)
            #expect(types["F32"] == ["tensors": 5, "numbers": 5 * 64])
            let numbers = types.values.reduce(0) { $0 + ($1["numbers"] ?? 0) }
            #expect(found["parameters"] as? Int == numbers)
            let text = inspect(path).output
            #expect(text.contains("\ntensor types        Q8_0: 15 tensors, "))
            #expect(text.contains("\n                    F32: 5 tensors, 320 numbers\n"))
        }
    }

    @Test("inspect shows the same of a Hugging Face folder, even if its tokenizer is damaged")
    func folder() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let found = try facts(directory)
            #expect(found["kind"] as? String == "model")
            #expect(found["tokenizer"] as? Bool == true)
            #expect(found["tokenizer_problem"] == nil)
            #expect(
                found["sha256"] as? String
                    == (try ModelDirectory.open(directory).contentDigest().description))
            try AtomicFile.write("{}", to: directory + "/tokenizer.json")
            let damaged = try facts(directory)
            #expect(damaged["layers"] as? Int == 2)
            #expect((damaged["tokenizer_problem"] as? String)?.isEmpty == false)
            #expect(inspect(directory).output.contains("\ntokenizer           not usable: "))
        }
    }

    @Test("inspect shows rank, scale, targets, layers, norms and digest of an adapter")
    func adapter() throws {
        let path = TestPaths.fixture("reference/adapter_init")
        let found = try facts(path)
        #expect(found["kind"] as? String == "adapter")
        #expect(found["rank"] as? Int == 8)
        #expect(found["alpha"] as? Double == 16)
        #expect(found["scale"] as? Double == 2)
        #expect(found["target_modules"] as? [String] == ["q_proj", "k_proj", "v_proj", "o_proj"])
        #expect(found["layers"] as? [Int] == Array(0..<30))
        #expect(found["parameters"] as? Int == 921_600)
        #expect(found["norm_b"] as? Double == 0)
        #expect((found["norm_a"] as? Double ?? 0) > 1)
        let weights = path + "/adapter_model.safetensors"
        #expect(found["sha256"] as? String == (try digest(weights)))
        #expect(inspect(path).output.contains("\nlayers          0-29 (30)\n"))

        let file = try facts(weights)
        #expect(file["kind"] as? String == "safetensors")
        #expect(file["tensors"] as? Int == 240)
        #expect(file["sha256"] as? String == (try digest(weights)))
    }

    @Test("layers are shown as ranges")
    func ranges() {
        #expect(Facts.ranges([]).isEmpty)
        #expect(Facts.ranges([4]) == "4")
        #expect(Facts.ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8")
    }

    static let nothing: [(String, [UInt8]?, InputProblem?)] = [
        ("empty", [], .unknownKind(lookedFor: ["the magic bytes GGUF", "a safetensors header"])),
        (
            "words", Array("hello, world".utf8),
            .unknownKind(lookedFor: ["the magic bytes GGUF", "a safetensors header"])
        ),
        (
            "folder", nil,
            .unknownKind(lookedFor: [
                "run.json", "manifest.json", "state.json", "adapter_config.json",
                "adapter_model.safetensors", "adapters.safetensors", "config.json",
            ])
        ),
        ("broken.gguf", Array("hello".utf8), nil), ("broken.safetensors", [1, 2, 3], nil),
    ]

    @Test("a path of no known kind is an error that lists what was looked for", arguments: nothing)
    func unknown(name: String, bytes: [UInt8]?, problem: InputProblem?) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/" + name
            if let bytes {
                try AtomicFile.write(bytes, to: path)
            } else {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            }
            if let problem {
                #expect(throws: CommandError.badInput(problem, place: path)) {
                    try InspectedKind(path: path)
                }
            }
            let found = inspect(path)
            #expect(found.status == 65)
            #expect(found.output.isEmpty)
            #expect(found.error.contains("\n  at: \(path)"))
        }
    }

    @Test("a missing path is an error, and so is --verify-ledger for something that is not a run")
    func missing() throws {
        #expect(inspect("/nowhere/at/all").status == 65)
        let path = TestPaths.fixture("reference/adapter_init")
        let found = inspect(path, "--verify-ledger")
        #expect(found.status == 65)
        #expect(found.error.hasPrefix("error: this is not a run directory, so it has no ledger\n"))
    }
}
