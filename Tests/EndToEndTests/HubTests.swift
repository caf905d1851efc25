import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// Models by name in the real `skein`; `SkeinHubTests` has the downloads.
@Suite("models of the Hub", .ownThreads)
struct HubTests {
    /// Settings that lead to a cache of the test's, and to no server.
    private func shell(_ bench: Workbench, _ more: String = "") -> String {
        "unset HF_HUB_OFFLINE HF_HOME HF_TOKEN HF_TOKEN_PATH; export HF_HUB_CACHE='\(bench.path("cache"))' HF_ENDPOINT=http://127.0.0.1:9 \(more); "
            + "exec \"$@\""
    }

    @Test("a model in the cache is used by its name, without a server")
    func cached() throws {
        try Workbench.with { bench in
            let commit = String(repeating: "a", count: 40)
            let repository = bench.path("cache/models--o--n")
            for folder in ["blobs", "refs", "snapshots/\(commit)"] {
                try AtomicFile.makeDirectory(repository + "/" + folder)
            }
            try FileManager.default.copyItem(
                atPath: bench.model, toPath: repository + "/blobs/blob")
            try AtomicFile.write(commit, to: repository + "/refs/main")
            try FileManager.default.createSymbolicLink(
                atPath: repository + "/snapshots/\(commit)/tiny.gguf",
                withDestinationPath: "../../blobs/blob")
            for words in [
                ["tokenize", "--model", "o/n:tiny.gguf", "goose"],
                ["inspect", "o/n:tiny.gguf"],
                ["evaluate", "--model", "o/n:tiny.gguf", "--data", bench.data],
                bench.trainWords("run", ["--iterations", "1"], model: "o/n:tiny.gguf"),
            ] {
                let ending = try SkeinProcess.run(words, shell: shell(bench))
                #expect(ending.status == 0, "\(words[0]): \(ending.error)")
            }
            try bench.train("trained", ["--iterations", "1"])
            let adapter = bench.path("trained/adapter")
            for words in [
                ["generate", "--model", "o/n:tiny.gguf", "--prompt", "goose", "--max-tokens", "2"],
                [
                    "export", "--model", "o/n:tiny.gguf", "--adapter", adapter, "--format", "gguf",
                    "--output", bench.path("exported.gguf"),
                ],
                [
                    "fuse", "--model", "o/n:tiny.gguf", "--adapter", adapter, "--type", "F32",
                    "--output", bench.path("fused.gguf"),
                ],
                [
                    "launch", "--local", "2", "--model", "o/n:tiny.gguf", "--data", bench.data,
                    "--output", bench.path("launched"), "--iterations", "2",
                ],
            ] {
                let ending = try SkeinProcess.run(words, shell: shell(bench))
                #expect(ending.status == 0, "\(words[0]): \(ending.error)")
            }
            let measured = try SkeinProcess.run(
                ["bench", "step", "--model", "o/n:tiny.gguf", "--steps", "1"], shell: shell(bench),
                by: TestPaths.lab)
            #expect(measured.status == 0, "\(measured.error)")
            let pulled = try SkeinProcess.run(
                ["pull", "o/n:tiny.gguf"], shell: shell(bench, "HF_HUB_OFFLINE=1"))
            #expect(
                pulled.output.split(separator: "\n").last.map(String.init)
                    == repository + "/snapshots/\(commit)/tiny.gguf")
        }
    }

    @Test("an adapter in the cache is used by its name wherever one is taken, without a server")
    func cachedAdapter() throws {
        try Workbench.with { bench in
            try bench.train("trained", ["--iterations", "1"])
            let commit = String(repeating: "b", count: 40)
            let repository = bench.path("cache/models--o--lora")
            let snapshot = repository + "/snapshots/\(commit)"
            for folder in ["refs", "snapshots"] {
                try AtomicFile.makeDirectory(repository + "/" + folder)
            }
            try FileManager.default.copyItem(
                atPath: bench.path("trained/adapter"), toPath: snapshot)
            let metadata = "{\"creatorDefined\": {\"tone\": 3}}"
            try AtomicFile.write(metadata, to: snapshot + "/metadata.json")
            try AtomicFile.write(commit, to: repository + "/refs/main")
            let recipes = bench.path("recipes.jsonl")
            try AtomicFile.write(
                "{\"name\": \"a\", \"init-adapter\": \"o/lora\"}\n{\"name\": \"b\"}\n", to: recipes)
            let base = ["--model", bench.model]
            let training = ["--iterations", "1"]
            for words in [
                ["evaluate", "--adapter", "o/lora", "--data", bench.data] + base,
                ["generate", "--adapter", "o/lora", "--prompt", "a", "--max-tokens", "2"] + base,
                [
                    "export", "--adapter", "o/lora@\(commit)", "--format", "mlx", "--output",
                    bench.path("mlx"),
                ] + base,
                [
                    "fuse", "--adapter", "o/lora", "--type", "F32", "--output",
                    bench.path("fused.gguf"),
                ] + base,
                ["inspect", "o/lora"], ["pull", "o/lora"],
                bench.trainWords("on", training + ["--init-adapter", "o/lora"]),
                bench.trainWords("sweep", training + ["--sweep", recipes]),
                [
                    "launch", "--local", "1", "--data", bench.data, "--output",
                    bench.path("launched"), "--init-adapter", "o/lora",
                ] + training + base,
            ] {
                let ending = try SkeinProcess.run(words, shell: shell(bench, "HF_HUB_OFFLINE=1"))
                #expect(ending.status == 0, "\(words[0]): \(ending.error)")
            }
            // The card names the adapter so that it can be had again.
            let card = try String(
                contentsOfFile: bench.path("on/adapter/README.md"), encoding: .utf8)
            #expect(card.contains("--init-adapter o/lora@\(commit)"))
            // What stands beside an adapter is exported with it.
            let exported = try String(contentsOfFile: bench.path("mlx/README.md"), encoding: .utf8)
            #expect(exported.contains("library_name: mlx\n") && exported.contains("## Exported"))
            #expect(
                try String(contentsOfFile: bench.path("mlx/metadata.json"), encoding: .utf8)
                    == metadata)
            // What is no model is none, and where a run would have its adapter nothing is looked for.
            for (words, text) in [
                (["tokenize", "--model", "o/lora", "goose"], "no such model or adapter"),
                (
                    ["generate", "--adapter", "run/adapter", "--prompt", "a"] + base,
                    "run/adapter"
                ),
            ] {
                let ending = try SkeinProcess.run(words, shell: shell(bench, "HF_HUB_OFFLINE=1"))
                #expect(ending.status == 65 && ending.error.contains(text), "\(ending.error)")
                #expect(ending.error.contains("HF_HUB_OFFLINE") == (words[0] == "tokenize"))
            }
        }
    }

    @Test("a path wins over a name, and a link that leads nowhere is a path")
    func paths() throws {
        try Workbench.with { bench in
            try AtomicFile.makeDirectory(bench.path("org"))
            try FileManager.default.copyItem(atPath: bench.model, toPath: bench.path("org/tiny"))
            try FileManager.default.createSymbolicLink(
                atPath: bench.path("org/lost"), withDestinationPath: "nowhere")
            let shell = shell(bench, "HF_HUB_OFFLINE=1; cd '\(bench.directory)'")
            for (name, isThere) in [("org/tiny", true), ("org/lost", false), ("org/none", false)] {
                let ending = try SkeinProcess.run(
                    ["tokenize", "--model", name, "goose"], shell: shell)
                #expect((ending.status == 0) == isThere, "\(ending.error)")
                #expect(ending.error.contains("HF_HUB_OFFLINE") == (name == "org/none"))
            }
        }
    }

    @Test("what is neither a path nor in the cache is an error, and the command line comes first")
    func missing() throws {
        try Workbench.with { bench in
            let offline = try SkeinProcess.run(
                ["tokenize", "--model", "o/n", "goose"], shell: shell(bench, "HF_HUB_OFFLINE=1"))
            #expect(offline.status == 65)
            #expect(offline.error.contains("no file or folder has this path"))
            let inspected = try SkeinProcess.run(
                ["inspect", "runs/one"], shell: shell(bench, "SKEIN_FETCH=/nowhere/skein-fetch"))
            #expect(inspected.status == 65)
            #expect(inspected.error.contains("skein pull runs/one"))
            let lost = try SkeinProcess.run(
                ["tokenize", "--model", "o/n", "goose"],
                shell: shell(bench, "SKEIN_FETCH=/nowhere/skein-fetch"))
            #expect(lost.status == 74)
            #expect(lost.error.contains("--product skein-fetch"))
            let wrong = try SkeinProcess.run(
                ["tokenize", "--model", "o/n", "--chat", "--decode", "x"], shell: shell(bench))
            #expect(wrong.status == 64)
        }
    }

    @Test("skein does not load libcurl, and skein-fetch does")
    func libraries() throws {
        for (program, isExpected) in [(try TestPaths.binary, false), (try TestPaths.fetcher, true)]
        {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ldd", program]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("libcurl") == isExpected, "\(program)")
        }
    }
}
