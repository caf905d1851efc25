import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands
@testable import SkeinLab

/// Tests what `skein-lab bench` prints, not how fast anything is.
@Suite struct BenchCommandTests {
    @Test("bench step measures whole steps of a model and prints one object")
    func step() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let process = CapturedProcess()
            let status = process.run(
                by: LabTool.tool, "bench", "step", "--model", path, "--threads", "2",
                "--micro-batch-tokens", "48",
                "--steps", "2", "--json")
            try #require(status == 0, "\(process.error)")
            let json = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["threads"] as? Int == 2)
            #expect(object["weights"] as? String == "resident")
            let mixes = try #require(object["mixes"] as? [[String: Any]])
            #expect(mixes.map { $0["mix"] as? String } == ["dense", "rows"])
            for mix in mixes {
                #expect(mix["row_tokens"] as? [Int] == [48])
                #expect(mix["repetitions"] as? Int == 2)
                for field in [
                    "tokens_per_second", "flops_in_step", "flops_alone", "flops_of_registers",
                    "share", "share_alone",
                ] {
                    #expect((mix[field] as? Double ?? 0) > 0, "\(field)")
                }
            }
            // The dense row carries more loss, so more rows reach the head.
            let operations = mixes.compactMap { $0["operations"] as? Int }
            #expect(operations.count == 2 && operations[0] > operations[1])
        }
    }

    @Test("a directory for runs is this user's alone, and its name is not known before")
    func newDirectory() throws {
        let paths = try (0..<2).map { _ in try BenchCommand.newDirectory("skein-test") }
        defer { for path in paths { rmdir(path) } }
        for path in paths {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.type] as? FileAttributeType == .typeDirectory)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            let name = URL(fileURLWithPath: path).lastPathComponent
            // 62^6 of them, chosen by the system.
            #expect(name.wholeMatch(of: /skein-test-[A-Za-z0-9]{6}/) != nil, "\(name)")
            #expect(!name.hasSuffix("XXXXXX"))
        }
        #expect(paths[0] != paths[1])
    }

    @Test("bench generate measures a prompt and an answer and prints one object")
    func generate() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let process = CapturedProcess()
            let status = process.run(
                by: LabTool.tool, "bench", "generate", "--model", path, "--threads", "2",
                "--prompt-tokens", "40",
                "--tokens", "5", "--json")
            try #require(status == 0, "\(process.error)")
            let json = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["threads"] as? Int == 2)
            #expect(object["prompt_tokens"] as? Int == 40)
            #expect(object["tokens"] as? Int == 5)
            #expect((object["repetitions"] as? Int ?? 0) >= 5)
            // The projections of two layers, the head, and 42 keys and values of each layer.
            #expect(object["bytes_per_token"] as? Int == 4 * (2 * 36_864 + 20_480 + 2 * 42 * 64))
            for field in ["prompt_tokens_per_second", "decode_tokens_per_second", "decode_limit"] {
                #expect((object[field] as? Double ?? 0) > 0, "\(field)")
            }
            #expect(
                process.run(
                    by: LabTool.tool, "bench", "generate", "--model", path, "--prompt-tokens",
                    "250", "--tokens", "7")
                    != 0, "longer than the context")
        }
    }

    @Test("bench generate --batch measures answers together beside one alone")
    func batch() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let process = CapturedProcess()
            let status = process.run(
                by: LabTool.tool, "bench", "generate", "--model", path, "--threads", "2",
                "--prompt-tokens", "70",
                "--tokens", "5", "--batch", "3", "--cache-type", "bf16", "--json")
            try #require(status == 0, "\(process.error)")
            let json = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["sequences"] as? [Int] == [1, 2, 3])
            #expect(object["cache_type"] as? String == "bf16")
            let rates = try #require(object["tokens_per_second"] as? [Double])
            #expect(rates.count == 3 && rates.allSatisfy { $0 > 0 })
            #expect((object["gain"] as? [Double])?[0] == 1)
            #expect((object["memory_bytes"] as? Int ?? 0) > 0)
        }
    }

    @Test("a missing model, option or benchmark to dial is an error")
    func missing() {
        let process = CapturedProcess()
        #expect(process.run(by: LabTool.tool, "bench", "step", "--model", "/nowhere/m.gguf") == 65)
        #expect(process.run(by: LabTool.tool, "bench", "step") == 64)
        #expect(process.run(by: LabTool.tool, "bench", "generate") == 64)
        #expect(process.run(by: LabTool.tool, "bench", "recovery", "--model", "m.gguf") == 64)
        #expect(
            process.run(
                by: LabTool.tool, "bench", "wire", "--dial", "127.0.0.1:1", "--workers", "1") == 69)
    }

    @Test("bench tokenize measures a tokenizer on the pages of --help")
    func tokenize() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let process = CapturedProcess()
            let status = process.run(
                by: LabTool.tool, "bench", "tokenize", "--model", path, "--json")
            try #require(status == 0, "\(process.error)")
            let json = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["texts"] as? Int == CommandLineTool.skein.commands.count)
        }
    }

    @Test("what is measured is the skein beside the program, or that of --skein")
    func program() {
        let process = CapturedProcess()
        let words = ["bench", "chaos", "--model", "m", "--data", "d", "--skein", "/nowhere/skein"]
        #expect(LabTool.tool.run(words, process.io()) == 64)
        #expect(process.output.isEmpty)
        #expect(
            process.error == """
                error: there is no skein to start
                  at: /nowhere/skein
                  fix: build it with `swift build -c release --product skein`, or name it with --skein

                """)
    }

    @Test("the program's own name is in its version, its errors and its manual page")
    func name() {
        for (words, text) in [
            (["--version"], "skein-lab \(Version.text)\n"),
            (["bench", "--version"], "skein-lab \(Version.text)\n"),
            (["bench", "chaos"], "error: --model is missing\n  at: skein-lab bench\n"),
            (["bench"], "fix: add it; `skein-lab bench --help` shows an example\n"),
            (["bench", "network"], "error: skein-lab bench takes kernels, step, "),
            (["bench", "step", "--x"], "fix: `skein-lab bench --help` lists them all\n"),
            (["bnech"], "  at: skein-lab\n  fix: did you mean skein-lab bench?\n"),
            (["help", "--man"], "\n.SS \"skein\\-lab bench\"\n"),
        ] {
            let process = CapturedProcess()
            _ = LabTool.tool.run(words, process.io())
            #expect((process.output + process.error).contains(text), "\(words)")
        }
    }
}
