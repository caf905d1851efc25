import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// Input that cannot be used: the message says what, where and how to mend it, and nothing is made.
@Suite("bad input", .ownThreads)
struct BadInputTests {
    /// Expects that `skein train` refuses, and that it does not even make the output directory.
    private func refuses(
        _ bench: Workbench, _ name: String, _ complaint: Complaint, _ flags: [String] = [],
        model: String? = nil, data: String? = nil
    ) throws {
        let words = bench.trainWords("never", flags, model: model, data: data)
        let ending = try SkeinProcess.run(words)
        Complaint.$current.withValue(name) { complaint.check(ending) }
        #expect(!FileManager.default.fileExists(atPath: bench.path("never")), "\(name)")
        #expect(ending.output.isEmpty, "\(name): \(ending.output)")
    }

    @Test("a model that cannot be used")
    func models() throws {
        try Workbench.with { bench in
            func file(_ name: String, _ bytes: [UInt8]) throws -> String {
                try AtomicFile.write(bytes, to: bench.path(name))
                return bench.path(name)
            }
            let whole = try bench.bytes(bench.model)
            var type = TinyModel().gguf()
            type.tensors[2].type = 99
            var shape = TinyModel().gguf()
            shape.tensors[2].dimensions = [128, 32]
            var offset = TinyModel().gguf()
            offset.tensors[3].statedOffset = 1 << 40
            var other = TinyModel().gguf()
            other.metadata[0].value = .string("gptneox")
            var lacking = TinyModel().gguf()
            lacking.tensors.removeLast()
            let table: [(name: String, path: String, complaint: Complaint)] = [
                ("missing", bench.path("none.gguf"), Complaint(65, "no such file", "none.gguf")),
                ("empty", try file("empty.gguf", []), Complaint(65, "empty.gguf")),
                (
                    "text", try file("text.gguf", Array("hello, hello, hello".utf8)),
                    Complaint(65, "GGUF", "text.gguf")
                ),
                (
                    "truncated", try file("half.gguf", Array(whole[..<(whole.count / 2)])),
                    Complaint(65, "half.gguf", "fetch it again")
                ),
                (
                    "cut in its head", try file("head.gguf", Array(whole[..<400])),
                    Complaint(65, "head.gguf, byte", "fetch it again")
                ),
                (
                    "architecture", try file("other.gguf", other.bytes()),
                    Complaint(65, "gptneox", "other.gguf")
                ),
                (
                    "tensor type", try file("type.gguf", type.bytes()),
                    Complaint(65, "blk.0.attn_q.weight", "99", "type.gguf")
                ),
                ("shape", try file("shape.gguf", shape.bytes()), Complaint(65, "q_proj")),
                ("offset", try file("offset.gguf", offset.bytes()), Complaint(65, "offset.gguf")),
                ("tensor", try file("lacking.gguf", lacking.bytes()), Complaint(65, "missing")),
                ("folder", bench.directory, Complaint(65, "config.json")),
            ]
            for (name, path, complaint) in table {
                try refuses(bench, name, complaint, model: path)
            }
        }
    }

    @Test("data that cannot be used")
    func data() throws {
        try Workbench.with(rows: 3) { bench in
            let good = Workbench.rows(2)
            func file(_ name: String, _ text: String) throws -> String {
                try bench.write(text, to: name)
            }
            try FileManager.default.createDirectory(
                atPath: bench.path("folder"), withIntermediateDirectories: true)
            let table: [(name: String, path: String, flags: [String], complaint: Complaint)] = [
                (
                    "not JSON", try file("a.jsonl", good + "{\"prompt\": \"x\", oops\n" + good), [],
                    Complaint(65, "a.jsonl:3", "not JSON", "--skip-bad-lines")
                ),
                (
                    "lacking", try file("b.jsonl", "\n{\"prompt\": \"x\"}\n"), [],
                    Complaint(65, "b.jsonl:2", "\"completion\" is missing")
                ),
                (
                    "type", try file("c.jsonl", "{\"prompt\": 3, \"completion\": \"x\"}\n"), [],
                    Complaint(65, "c.jsonl:1", "\"prompt\" is")
                ),
                ("empty", try file("d.jsonl", ""), [], Complaint(65, "no row", "d.jsonl")),
                ("blank", try file("e.jsonl", "\n \n"), [], Complaint(65, "no row", "e.jsonl")),
                (
                    "all bad", try file("f.jsonl", "x\ny\n"), ["--skip-bad-lines"],
                    Complaint(65, "besides 2 bad lines")
                ),
                (
                    "nothing to learn", bench.data, ["--max-length", "6"],
                    Complaint(65, "none of 3 rows", "6 tokens", "--max-length")
                ),
                (
                    "missing", bench.path("none.jsonl"), [],
                    Complaint(74, "No such file", "none.jsonl")
                ),
                ("folder", bench.path("folder"), [], Complaint(65, "train.jsonl", "folder")),
                (
                    "validation", bench.data, ["--valid-data", bench.path("none.jsonl")],
                    Complaint(74, "No such file", "none.jsonl")
                ),
            ]
            for (name, path, flags, complaint) in table {
                try refuses(bench, name, complaint, flags, data: path)
            }
        }
    }

    @Test("flags that do not fit the model")
    func flags() throws {
        try Workbench.with(rows: 3) { bench in
            let table: [(flags: [String], complaint: Complaint)] = [
                (["--target-modules", "qkv_proj"], Complaint(64, "qkv_proj", "q_proj")),
                (["--target-modules", "q_proj,,v_proj"], Complaint(64, "--target-modules")),
                (["--target-modules", ""], Complaint(64, "--target-modules")),
                (["--layers", "3"], Complaint(64, "2 layers", "--layers 3")),
                (["--layers", "0-2"], Complaint(64, "2 layers", "--layers 0-2")),
                (["--layers", "some"], Complaint(64, "--layers")),
                (["--rank", "0"], Complaint(64, "--rank")),
                (["--learning-rate", "nan"], Complaint(64, "--learning-rate")),
                (["--batch-size", "many"], Complaint(64, "--batch-size")),
                (["--lerning-rate", "1"], Complaint(64, "--learning-rate")),
            ]
            for (flags, complaint) in table {
                try refuses(bench, flags.joined(separator: " "), complaint, flags)
            }
        }
    }

    @Test("1 to 4 rows are split and trained, and no loss is ever NaN", arguments: 1...4)
    func fewRows(count: Int) throws {
        try Workbench.with(rows: count) { bench in
            try bench.train("run", ["--epochs", "2"])
            let text = try bench.text(bench.path("run/metrics.jsonl"))
            #expect(!text.lowercased().contains("nan"))
            let lines = try text.split(separator: "\n").map { try Workbench.object(String($0)) }
            let validations = lines.filter { $0.keys.contains("validation_loss") }
            // With rows there is one before the first step, too.
            #expect(validations.count == (count < 3 ? 2 : 3))
            for line in validations {
                if count < 3 {
                    #expect(line["validation_loss"] is NSNull)
                    #expect(line["validation_tokens"] as? Int == 0)
                } else {
                    #expect((line["validation_loss"] as? Double ?? .nan).isFinite)
                    #expect((line["validation_tokens"] as? Int ?? 0) > 0)
                }
            }
            #expect(FileManager.default.fileExists(atPath: bench.path("run/adapter")))
        }
    }

    @Test("without validation rows a run goes on to its last step")
    func noValidation() throws {
        try Workbench.with(rows: 2) { bench in
            try bench.train("wanted", ["--epochs", "4", "--early-stop-patience", "1"])
            #expect(try bench.metrics(of: "wanted").count == 4 * 2)
            try bench.train("unwanted", ["--epochs", "4", "--validation-split", "0"])
            #expect(try bench.metrics(of: "unwanted").count == 4)
        }
    }

    @Test("bad lines are counted and skipped when asked for")
    func skipped() throws {
        try Workbench.with { bench in
            let data = try bench.write(
                "oops\n" + Workbench.rows(5) + "{}\n", to: "mixed.jsonl")
            let ending = try bench.train(
                "run", ["--skip-bad-lines", "--epochs", "1"], data: data)
            #expect(ending.error.contains("2 bad lines"))
            #expect(ending.error.contains("mixed.jsonl:1"))
        }
    }
}
