import Foundation
import SkeinCoordination
import SkeinLab
import SkeinTensors
import SkeinTestSupport
import Testing

/// Real workers that do not belong to the run end with the reason and its remedy; those that do
/// belong to it finish.
@Suite("refused workers", .ownThreads)
struct RefusedWorkerTests {
    /// The process that says so has proved nothing, so the worker tries for as long as its patience lasts.
    @Test("a wrong token, a missing one, or one where none is needed")
    func tokens() throws {
        try Workbench.with { bench in
            let right = try FaultBench.token(bench, text: "the right token, 32 characters..\n")
            let wrong = try FaultBench.token(
                bench, "wrong", text: "the wrong token, 32 characters..\n")
            let cluster = try ClusterHarness(
                bench, "run", FaultBench.run + ["--token-file", right])
            let patience = ["--patience", "2600ms"]
            let complaint = Complaint(
                69, "refused (authentication)", "has not proved", "--token-file")
            for options in [["--token-file", wrong], []] {
                let ending = try cluster.startWorker("stray", options + patience).wait()
                complaint.check(ending, isPlaced: false)
            }
            cluster.forgetWorkers()
            try FaultBench.finish(cluster, ["--token-file", right])

            let open = try ClusterHarness(bench, "open", FaultBench.run)
            let ending = try open.startWorker("stray", ["--token-file", right] + patience).wait()
            complaint.check(ending, isPlaced: false)
        }
    }

    @Test("a coordinator that does not know the token is not trusted, whatever it sends")
    func impostor() throws {
        try Workbench.with { bench in
            let token = try FaultBench.token(bench, text: "the right token, 32 characters..\n")
            let lies: [(Impostor.Lie, String)] = [
                (.wrongKey, "session's key"), (.garbage, "a Skein frame"),
                (.silence, "no coordinator"),
            ]
            // All at the same time: each takes as long as its patience.
            let pairs = try lies.map { lie, mention in
                let impostor = try Impostor(lie)
                let worker = try SkeinProcess([
                    "worker", "--coordinator", impostor.address, "--token-file", token,
                    "--model", bench.model, "--patience", "2600ms",
                ])
                return (impostor, worker, mention)
            }
            for (impostor, worker, mention) in pairs {
                defer { impostor.stop() }
                Complaint(69, mention, "--patience").check(try worker.wait(), isPlaced: false)
                #expect(impostor.connections > 0)
            }
        }
    }

    @Test(
        "another major version is an error at once for who asks, and no reason to leave for a worker"
    )
    func otherVersion() throws {
        let impostor = try Impostor(.majorVersion)
        defer { impostor.stop() }
        let place = ["--coordinator", impostor.address]
        let mention = "speaks version \(ProtocolVersion.major + 1)"
        Complaint(65, mention, impostor.address, "same version").check(
            try SkeinProcess.run(["status"] + place))
        Complaint(69, mention, "--patience").check(
            try SkeinProcess.run(["worker", "--patience", "2600ms"] + place), isPlaced: false)
        #expect(impostor.connections > 2)
    }

    @Test(
        "a fleet outlives a stranger on the port of its dead coordinator, and finishes the run",
        arguments: [
            Impostor.Lie.rejection(.authentication), .rejection(.superseded), .majorVersion,
            .minorVersion, .garbage,
        ])
    func strangers(lie: Impostor.Lie) throws {
        try FaultBench.withCluster { cluster in
            let worker = try cluster.startWorker("faithful")
            try cluster.waitForSteps(2)
            cluster.coordinator.end()
            let impostor = try Impostor(lie, at: cluster.address)
            try FaultBench.wait(for: "three connections") { impostor.connections >= 3 }
            impostor.stop()
            #expect(worker.isRunning)
            try FaultBench.wait(for: "the port") { impostor.hasEnded }
            try cluster.restartCoordinator()
            try FaultBench.finish(cluster, worker: nil)
            #expect(!worker.errorText.contains("prepares again"))
        }
    }

    @Test("a fleet outlives a coordinator with the wrong token file at its address")
    func wrongTokenFile() throws {
        try Workbench.with { bench in
            let tokens = try ["right", "wrong"].map {
                [
                    "--token-file",
                    try FaultBench.token(
                        bench, "\($0).token", text: "the \($0) token, 32 bytes..\n"),
                ]
            }
            let cluster = try ClusterHarness(bench, "run", FaultBench.run + tokens[0])
            let worker = try cluster.startWorker("faithful", tokens[0])
            try cluster.waitForSteps(2)
            cluster.coordinator.end()
            let wrong = try ClusterHarness(
                bench.work(), "wrong", FaultBench.run + tokens[1], listen: cluster.address)
            try FaultBench.wait(for: "a refusal") {
                worker.errorText.contains("refused (authentication)")
            }
            wrong.coordinator.end()
            try cluster.restartCoordinator()
            try FaultBench.finish(cluster, worker: nil)
        }
    }

    @Test("another base model")
    func model() throws {
        try FaultBench.withCluster { cluster in
            var other = TinyModel()
            other.seed = 2
            let path = cluster.bench.path("other.gguf")
            try other.writeGGUF(to: path)
            let ending = try cluster.startWorker("stray", model: path).wait()
            Complaint(65, "refused (model)", cluster.address, "--model").check(ending)
            cluster.forgetWorkers()
            try FaultBench.finish(cluster)
        }
    }

    @Test(
        "a worker of another run that finds this one at the same port works for it",
        arguments: ["data", "configuration", "model"])
    func otherRun(what: String) throws {
        try Workbench.with { bench in
            var other = TinyModel()
            other.seed = 2
            let model = what == "model" ? bench.path("other.gguf") : bench.model
            try other.writeGGUF(to: bench.path("other.gguf"))
            let data =
                what == "data" ? try bench.write(Workbench.rows(41), to: "o.jsonl") : bench.data
            let ending = try SkeinProcess.run(
                bench.trainWords("alone", FaultBench.run, model: model, data: data))
            #expect(ending.status == 0, "\(ending.error)")

            let options = what == "configuration" ? ["--rank", "4"] : []
            let cluster = try ClusterHarness(bench, "old", Self.endless + options)
            // Without a model of its own where the model changes.
            try cluster.startWorker(
                "stray", model: what == "model" ? nil : bench.model,
                shell: "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\"")
            try cluster.waitForSteps(2)
            let found = try Self.another(bench.work(model: model, data: data), after: cluster)
            try found.finish()
            #expect(found.workers[0].errorText.contains("prepares again"))
            #expect(try bench.result(of: "run") == bench.result(of: "alone"))
        }
    }

    /// A run that another one replaces.
    private static let endless = ["--epochs", "10000", "--micro-batch-tokens", "1"]

    /// Kills the coordinator and starts one of another run at its address, for the same fleet.
    private static func another(
        _ work: Workload, after cluster: ClusterHarness
    ) throws -> ClusterHarness {
        cluster.coordinator.end()
        let found = try ClusterHarness(work, "run", FaultBench.run, listen: cluster.address)
        found.workers = cluster.workers
        return found
    }

    @Test("a worker whose own model is not that of the new run")
    func otherModel() throws {
        try Workbench.with { bench in
            let cluster = try ClusterHarness(bench, "old", Self.endless)
            let worker = try cluster.startWorker("stray", ["--patience", "20s"])
            try cluster.waitForSteps(2)
            var other = TinyModel()
            other.seed = 2
            try other.writeGGUF(to: bench.path("other.gguf"))
            // It has worked in a run, which may come back; but nothing waits for ever.
            let next = try Self.another(bench.work(model: bench.path("other.gguf")), after: cluster)
            Complaint(69, "refused (model)", "--model").check(try worker.wait(), isPlaced: false)
            #expect(next.coordinator.isRunning)
        }
    }

    @Test("a mistyped option of --resume is refused before the port is bound; the fleet stays")
    func mistypedResume() throws {
        try FaultBench.withCluster { cluster in
            let bench = cluster.bench
            try cluster.startWorker("patient")
            try cluster.waitForSteps(2)
            cluster.coordinator.end()
            let term = try bench.bytes(bench.path("run/term"))
            let words = [
                "coordinator", "--listen", cluster.address, "--model", bench.model, "--data",
                bench.data, "--output", bench.path("run"), "--resume", "--rank", "4",
            ]
            let ending = try SkeinProcess.run(words + FaultBench.run)
            Complaint(65, "rank").check(ending)
            #expect(!ending.error.contains("listening on"))
            #expect(try bench.bytes(bench.path("run/term")) == term)
            try cluster.restartCoordinator()
            try FaultBench.finish(cluster, worker: nil)
        }
    }

    private static let other = "SKEIN_CPU_LEVEL=plain exec \"$@\""

    @Test(
        "a worker with other kernels is refused with the remedy, or admitted on request",
        .enabled(if: ProcessorLevel.current != .plain, "needs a processor with FMA"))
    func engines() throws {
        try FaultBench.withCluster { cluster in
            let model = cluster.bench.model
            let ending = try cluster.startWorker("stray", model: model, shell: Self.other).wait()
            Complaint(65, "refused (fingerprint)", "SKEIN_CPU_LEVEL", "no fma").check(ending)
            cluster.forgetWorkers()
            try FaultBench.finish(cluster)
        }
        try FaultBench.withCluster(["--admit-other-engines"]) { cluster in
            try cluster.startWorker("guest", model: cluster.bench.model, shell: Self.other)
            let ending = try cluster.finish()
            #expect(ending.error.contains("the result depends on who computes what"))
            let bench = cluster.bench
            try verifyLedger(bench, of: "run", steps: FaultBench.steps)
            // A later look at the run tells it, also after a resume without the option.
            #expect(
                try bench.text(bench.path("run/run.json"))
                    .hasPrefix("{\n  \"other_engines_from_step\": 1,\n"))
            #expect(
                try bench.text(bench.path("run/adapter/README.md"))
                    .contains("From step 1 on, workers with other engines were admitted"))
            let sentence = "workers with other engines were admitted from step 1 on"
            let again = try SkeinProcess.run(
                bench.trainWords("run", FaultBench.run + ["--resume"]))
            #expect(again.status == 0 && again.error.contains(sentence), "\(again.error)")
            #expect(try SkeinProcess.run(["inspect", bench.path("run")]).output.contains(sentence))
        }
    }

    @Test(
        "in fp32 a processor with AVX2 is as welcome as one with AVX-512, and the hash is the same",
        .enabled(
            if: [.avx512, .avx512vnni, .avx512bf16].contains(ProcessorLevel.current),
            "needs a processor with AVX-512"))
    func mixedProcessors() throws {
        try FaultBench.withCluster { cluster in
            let shell = "SKEIN_CPU_LEVEL=avx2 exec \"$@\""
            for name in ["narrow", "narrower"] {
                try cluster.startWorker(name, model: cluster.bench.model, shell: shell)
            }
            try FaultBench.finish(cluster)
        }
    }

    @Test("token files that others may read, and addresses that others reach without a token")
    func carelessness() throws {
        try Workbench.with { bench in
            let open = try FaultBench.token(
                bench, text: "a token that everybody may read.\n", mode: 0o644)
            let training = ["--model", bench.model, "--data", bench.data]
            func coordinator(_ options: [String]) throws -> SkeinProcess.Ending {
                try SkeinProcess.run(
                    ["coordinator"] + training + ["--output", bench.path("run")] + options)
            }
            Complaint(65, "its mode is 0644", "token", "chmod 600").check(
                try coordinator(["--listen", "127.0.0.1:0", "--token-file", open]))
            let words = ["worker", "--coordinator", "127.0.0.1:1", "--token-file", open]
            Complaint(65, "its mode is 0644", "token", "chmod 600").check(
                try SkeinProcess.run(words))
            for address in ["0.0.0.0:0", "[::]:0"] {
                Complaint(64, "not a loopback address", "--token-file", "create a token").check(
                    try coordinator(["--listen", address]))
            }
            #expect(!FileManager.default.fileExists(atPath: bench.path("run")))
        }
    }
}
