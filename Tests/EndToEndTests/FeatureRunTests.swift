import Foundation
import SkeinBasics
import SkeinJSON
import SkeinLab
import SkeinTestSupport
import Testing

/// `--reuse-features`: the same bits, computed once.
@Suite("features", .ownThreads)
struct FeatureRunTests {
    private let run = [
        "--epochs", "3", "--checkpoint-every", "3", "--learning-rate", "5e-3",
        "--micro-batch-tokens", "48", "--layers", "1",
    ]

    private func reusing(_ bench: Workbench, _ directory: String = "features") -> [String] {
        ["--reuse-features", "on", "--feature-dir", bench.path(directory)]
    }

    private func file(_ bench: Workbench, _ directory: String = "features") throws -> String {
        let names = try DiskStore().names(in: bench.path(directory))
        #expect(names.count == 1)
        return bench.path(directory) + "/" + (try #require(names.first))
    }

    @Test("workers that share a directory, killed and resumed, with others that keep nothing")
    func cluster() throws {
        try Workbench.with { bench in
            // Steps for as long as it takes to look.
            let run = run + ["--epochs", "60"]
            try bench.train("plain", run)
            let cluster = try ClusterHarness(
                bench.work(), "cluster", run + ["--min-workers", "2"])
            func start(_ name: String) throws -> SkeinProcess {
                try SkeinProcess(
                    ["worker", "--coordinator", cluster.address, "--name", name, "--threads", "1"]
                        + ["--model", bench.model] + reusing(bench))
            }
            var keeping = [try start("a"), try start("b")]
            try cluster.waitForSteps(6)
            for worker in keeping { worker.end() }
            // A step needs both, and so their files.
            keeping = [try start("c"), try start("d")]
            for worker in keeping {
                try worker.waitForError("the lower 1 of 2 blocks are computed once")
                #expect(worker.errorText.contains("blocks are computed once"))
            }
            try cluster.startWorker("plain")
            try cluster.waitForSteps(12)
            try cluster.restartCoordinator()
            try cluster.finish()
            // Whether they had come back before the end does not matter here.
            for worker in keeping { worker.end() }
            let expected = try bench.digests(of: "plain/adapter")["adapter_model.safetensors"]
            let found = try bench.digests(of: "cluster/adapter")["adapter_model.safetensors"]
            #expect(found != nil && found == expected)
            #expect(try MappedFile(path: file(bench)).count > 1000)
        }
    }

    @Test("a damaged file is noticed, mended and changes nothing")
    func damaged() throws {
        try Workbench.with { bench in
            try bench.train("plain", run)
            try bench.train("first", run + reusing(bench))
            let path = try file(bench)
            var bytes = try bench.bytes(path)
            for index in stride(from: 200, to: bytes.count, by: 977) { bytes[index] ^= 0x40 }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let second = try bench.train("second", run + reusing(bench))
            #expect(second.error.contains("damaged, so they are computed again"), "\(second.error)")
            #expect(try bench.result(of: "second") == bench.result(of: "plain"))
        }
    }

    @Test("a disk that is full is no reason to stop")
    func fullDisk() throws {
        try Workbench.with { bench in
            try bench.train("plain", run)
            // 64 KiB for each file: room for a checkpoint, not for all rows.
            let ending = try SkeinProcess.run(
                bench.trainWords("run", run + reusing(bench)),
                shell: "trap '' XFSZ; ulimit -f 128; exec \"$@\"")
            #expect(ending.status == 0, "\(ending.error)")
            #expect(ending.error.contains("the features are not kept any more"), "\(ending.error)")
            #expect(try bench.result(of: "run") == bench.result(of: "plain"))
        }
    }

    @Test("what makes no sense is refused before anything is written")
    func refused() throws {
        try Workbench.with { bench in
            let preferences = try bench.write(Workbench.preferences(24), to: "pairs.jsonl")
            for (more, data, text) in [
                (
                    ["--layers", "all", "--reuse-features", "on"], bench.data,
                    "--reuse-features needs --layers 1 or fewer"
                ),
                (
                    ["--layers", "all", "--feature-type", "bf16"], bench.data,
                    "--feature-type bf16 needs --layers 1 or fewer"
                ),
                (
                    ["--reuse-features", "on", "--neftune-alpha", "5"], bench.data,
                    "--reuse-features and --neftune-alpha exclude each other"
                ),
                (["--feature-disk", "5"], bench.data, "--feature-disk needs --reuse-features on"),
                (
                    ["--reuse-features", "on", "--target-modules", "q_proj,embed_tokens"],
                    bench.data,
                    "--reuse-features and --target-modules embed_tokens exclude each other"
                ),
                (["--feature-dir", "x"], bench.data, "--feature-dir needs --reuse-features on"),
                (
                    ["--feature-type", "bf16", "--loss", "dpo"], preferences,
                    "--feature-type bf16 and --loss dpo exclude each other"
                ),
            ] {
                let ending = try SkeinProcess.run(
                    bench.trainWords("x", ["--layers", "1"] + more, data: data))
                #expect(ending.status == 64, "\(ending.error)")
                #expect(ending.error.contains(text), "\(ending.error)")
            }
            let long = try bench.write(
                (0..<200).map {
                    JSONValue.fields([("text", .text(String(repeating: "goose \($0) ", count: 12)))]
                    ).written
                        + "\n"
                }.joined(), to: "long.jsonl")
            let ending = try SkeinProcess.run(
                bench.trainWords(
                    "x",
                    ["--layers", "1", "--feature-disk", "1"] + reusing(bench), data: long))
            #expect(ending.status == 65 && ending.error.contains("give --feature-disk"))
            #expect(!DiskStore().exists(bench.path("x")))
            let worker = try SkeinProcess.run(
                ["worker", "--coordinator", "127.0.0.1:9", "--feature-disk", "5"])
            #expect(
                worker.status == 64 && worker.error.contains("reuse-features on"), "\(worker.error)"
            )
        }
    }
}
