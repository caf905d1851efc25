import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// Workers that have no model and fetch it from the coordinator.
@Suite("fetched models", .ownThreads)
struct ModelFetchTests {
    private func shell(_ bench: Workbench) -> String {
        "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\""
    }

    /// Files in the cache by their path below `models/<digest>`, without the lock.
    private func cached(_ bench: Workbench) throws -> [String: [UInt8]] {
        let models = bench.path("cache/models")
        var files: [String: [UInt8]] = [:]
        for model in try FileManager.default.contentsOfDirectory(atPath: models) {
            for name in try FileManager.default.contentsOfDirectory(atPath: models + "/" + model)
            where name != ".lock" {
                files[name] = try bench.bytes("\(models)/\(model)/\(name)")
            }
        }
        return files
    }

    private func cachedDirectory(_ bench: Workbench) throws -> String {
        let models = bench.path("cache/models")
        // Before its first file the folder is empty, or not there: the wait looks again.
        guard let name = try FileManager.default.contentsOfDirectory(atPath: models).first else {
            throw CocoaError(.fileNoSuchFile)
        }
        return models + "/" + name
    }

    @Test("a model of several pieces: new, partly there, damaged, and there already")
    func file() throws {
        // 3 MiB, three pieces.
        var model = TinyModel()
        model.width = 128
        model.feedForwardWidth = 1024
        try Workbench.with(model: model) { bench in
            try bench.train("quiet", FaultBench.run)
            let whole = try bench.bytes(bench.model)
            #expect(whole.count > 5 << 19)
            func run(_ output: String) throws -> String {
                let cluster = try ClusterHarness(bench, output, FaultBench.run)
                try cluster.startWorker("fetches", model: nil, shell: shell(bench))
                try cluster.finish()
                #expect(try bench.result(of: output) == bench.result(of: "quiet"), "\(output)")
                try verifyLedger(bench, of: output, steps: FaultBench.steps)
                #expect(try cached(bench) == ["model.gguf": whole], "\(output)")
                return cluster.coordinator.errorText
            }
            _ = try run("first")
            let file = try cachedDirectory(bench) + "/model.gguf"
            let traffic = try sentBytes(bench, "first")
            #expect(traffic > whole.count)

            _ = try run("again")
            #expect(try sentBytes(bench, "again") < traffic - whole.count / 2)

            // Part of it came before the line was cut.
            try FileManager.default.removeItem(atPath: file)
            let half = Array(whole.prefix(whole.count * 3 / 4 + 17))
            try AtomicFile.write(half, to: file + ".part")
            _ = try run("resumed")
            #expect(try sentBytes(bench, "resumed") < traffic - whole.count / 2)

            // The disk lies: it is fetched again.
            var damaged = whole
            damaged[damaged.count / 2] ^= 1
            try AtomicFile.write(damaged, to: file)
            _ = try run("damaged")
            #expect(try sentBytes(bench, "damaged") > whole.count)

            // A part that is wrong cannot be completed: it is reported, removed and fetched again.
            try FileManager.default.removeItem(atPath: file)
            try AtomicFile.write([UInt8](repeating: 1, count: 1000), to: file + ".part")
            let cluster = try ClusterHarness(bench, "wrong", FaultBench.run)
            let worker = try cluster.startWorker("fetches", model: nil, shell: shell(bench))
            try cluster.finish()
            #expect(worker.errorText.contains("it has been removed and is fetched again"))
            #expect(try cached(bench) == ["model.gguf": whole])
            #expect(try bench.result(of: "wrong") == bench.result(of: "quiet"))
        }
    }

    /// Bytes that the coordinator sent until the end of the first step, with the model if it was
    /// asked for it.
    private func sentBytes(_ bench: Workbench, _ output: String) throws -> Int {
        let lines = try bench.text(bench.path(output) + "/metrics.jsonl").split(separator: "\n")
        let fields = try Workbench.object(String(try #require(lines.first)))
        return try #require(fields["sent_bytes"] as? Int, "\(fields)")
    }

    @Test("a folder of several files, fetched by two workers of one host at the same time")
    func folder() throws {
        try Workbench.with { bench in
            let folder = bench.path("folder")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try TinyModel().writeHuggingFaceFolder(to: folder)
            let ending = try SkeinProcess.run(
                bench.trainWords("quiet", FaultBench.run, model: folder))
            #expect(ending.status == 0, "\(ending.error)")
            let cluster = try ClusterHarness(
                bench.work(model: folder), "run", FaultBench.run + ["--min-workers", "2"])
            for name in ["w1", "w2"] {
                try cluster.startWorker(name, model: nil, shell: shell(bench))
            }
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "run", steps: FaultBench.steps)
            let files = try cached(bench)
            for name in ["config.json", "model.safetensors"] {
                #expect(try files[name] == bench.bytes(folder + "/" + name), "\(name)")
            }
            #expect(!files.keys.contains { $0.hasSuffix(".part") }, "\(files.keys)")
        }
    }

    @Test("a worker that was stopped while it fetched does not keep others of its host waiting")
    func stoppedNeighbour() throws {
        // 3 MiB, three pieces, which take five seconds on a line of 640 KB/s.
        var model = TinyModel()
        model.width = 128
        model.feedForwardWidth = 1024
        try Workbench.with(model: model) { bench in
            let cluster = try ClusterHarness(bench, "run", FaultBench.run)
            let line = try SlowLine(to: cluster.address, seconds: 0, delay: 0.1)
            defer { line.stop() }
            let stopped = try cluster.startWorker(
                "stopped", model: nil, shell: shell(bench), at: line.address)
            try FaultBench.wait(for: "the first piece") {
                let models = try? cachedDirectory(bench)
                let partial = models.flatMap {
                    FileManager.default.contents(atPath: $0 + "/model.gguf.part")
                }
                return partial?.isEmpty == false
            }
            stopped.send(SIGSTOP)
            let worker = try cluster.startWorker(
                "neighbour", model: nil, shell: shell(bench), ["--patience", "3"])
            try worker.waitForError("fetches it beside that one")
            try worker.waitForError("joined the run")
            // It would come back for a run that is over.
            stopped.send(SIGKILL)
            _ = try stopped.wait()
            cluster.workers.removeAll { $0 === stopped }
            try cluster.finish()
            #expect(worker.errorText.components(separatedBy: "beside that one").count == 2)
            let names = try cached(bench).keys.sorted()
            #expect(names == ["model.gguf", "model.gguf.part"], "\(names)")
            #expect(try cached(bench)["model.gguf"] == bench.bytes(bench.model))
        }
    }

    @Test("a cache that cannot be written is an error that names its place")
    func cacheNotWritable() throws {
        try FaultBench.withCluster { cluster in
            let bench = cluster.bench
            try bench.write("", to: "cache")
            let worker = try cluster.startWorker("fetches", model: nil, shell: shell(bench))
            Complaint(74, "cache").check(try worker.wait())
            cluster.forgetWorkers()
            try FaultBench.finish(cluster)
        }
    }
}
