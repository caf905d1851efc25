import Foundation
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// What goes wrong around a coordinator: ports, disks, directories, signals, missing workers.
@Suite("cluster faults", .ownThreads)
struct ClusterFaultTests {
    /// Seconds of steps after the one that a test waits for, however late it learns of that.
    private let long = ["--epochs", "40", "--micro-batch-tokens", "1"]
    private let longSteps = 320
    private let endless = ["--epochs", "10000", "--micro-batch-tokens", "1"]

    private func words(_ bench: Workbench, _ output: String, _ more: [String]) -> [String] {
        [
            "coordinator", "--model", bench.model, "--data", bench.data,
            "--output", bench.path(output),
        ] + TrainingConfiguration.fixedWords + more
    }

    @Test("two coordinators on one run directory, and two on one port")
    func twice() throws {
        try FaultBench.withCluster { cluster in
            let bench = cluster.bench
            let again = words(bench, "run", FaultBench.run + ["--listen", "127.0.0.1:0"])
            Complaint(74, "another skein process is using", "run").check(
                try SkeinProcess.run(again + ["--resume"]))
            Complaint(65, "run").check(try SkeinProcess.run(again))
            let other = words(bench, "other", FaultBench.run)
            Complaint(74, "another process listens on this port", cluster.address).check(
                try SkeinProcess.run(other + ["--listen", cluster.address]))
            // The same command works with another port.
            let free = try SkeinProcess(other + ["--listen", "127.0.0.1:0"])
            try free.waitForError("listening on")
            #expect(free.errorText.contains("listening on"), "\(free.errorText)")
            free.send(SIGKILL)
            _ = try free.wait()
            try FaultBench.finish(cluster)
        }
    }

    @Test("a worker without a coordinator ends when its patience does")
    func noCoordinator() throws {
        let worker = try SkeinProcess.run([
            "worker", "--coordinator", "127.0.0.1:9", "--patience", "2600ms",
        ])
        Complaint(69, "no coordinator has welcomed this worker", "--patience").check(
            worker, isPlaced: false)
        #expect(worker.error.contains("Connection refused"))
        #expect(worker.error.contains("tries again in"))
    }

    @Test(
        "a coordinator with too few workers ends when its patience does; who is there waits for its return"
    )
    func tooFew() throws {
        // The one that joins has time for it on a busy machine.
        try FaultBench.withCluster(["--min-workers", "2", "--patience", "30s"]) { cluster in
            let worker = try cluster.startWorker("healthy")
            let ending = try cluster.coordinator.wait()
            Complaint(69, "1 of 2 needed is here", "--resume").check(ending, isPlaced: false)
            cluster.options = cluster.options.map { $0 == "30s" ? "300s" : $0 }
            try cluster.restartCoordinator()
            try FaultBench.finish(cluster, worker: "second")
            #expect(worker.errorText.contains("may come back: step 1 has waited"))
        }
    }

    @Test("a run that diverges ends as in one process, and all workers hear why")
    func divergence() throws {
        try Workbench.with { bench in
            let run =
                FaultBench.run + [
                    "--learning-rate", "10", "--weight-decay", "1", "--max-grad-norm", "0",
                ]
            let alone = try SkeinProcess.run(bench.trainWords("alone", run))
            let cluster = try ClusterHarness(bench, "run", run + ["--min-workers", "2"])
            for name in ["w1", "w2"] { try cluster.startWorker(name) }
            let ending = try cluster.coordinator.wait()
            #expect(ending.status == alone.status)
            Complaint(65, "is not finite", "--learning-rate").check(alone)
            func complaint(_ ending: SkeinProcess.Ending) -> [String] {
                let lines = ending.error.split(separator: "\n").map(String.init)
                return lines[(lines.firstIndex { $0.hasPrefix("error: ") } ?? lines.endIndex)...]
                    .map { $0.replacing("/alone", with: "/run") }
            }
            #expect(complaint(ending) == complaint(alone))
            #expect(try bench.result(of: "run") == bench.result(of: "alone"))
            for worker in cluster.workers {
                Complaint(69, "is not finite", "coordinator's log").check(
                    try worker.wait(), isPlaced: false)
            }
        }
    }

    @Test("a worker that is asked to stop hands in its work and leaves; others go on")
    func drained() throws {
        try Workbench.with { bench in
            try bench.train("quiet", long)
            let cluster = try ClusterHarness(bench, "run", long + ["--min-workers", "2"])
            for name in ["leaves", "stays"] { try cluster.startWorker(name) }
            try cluster.waitForSteps(3)
            cluster.workers[0].send(SIGTERM)
            let left = try cluster.workers[0].wait()
            #expect(left.status == 0, "\(left.error)")
            #expect(left.error.contains("left the run"))
            try cluster.startWorker("comes")
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "run", steps: longSteps)
            #expect(!cluster.coordinator.errorText.contains("lost leaves"))
        }
    }

    @Test(
        "Ctrl-C on a coordinator: a checkpoint, status 130, and workers that join the next one",
        arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
        try Workbench.with { bench in
            try bench.train("quiet", long)
            let cluster = try ClusterHarness(bench, "run", long)
            for name in ["w1", "w2"] { try cluster.startWorker(name) }
            try cluster.waitForSteps(5)
            cluster.coordinator.send(signal)
            let ending = try cluster.coordinator.wait()
            try cluster.restartCoordinator()
            Complaint(130, "interrupted after step", "--resume").check(ending)
            try cluster.finish()
            #expect(cluster.workers[0].errorText.contains("may come back"))
            #expect(cluster.coordinator.errorText.contains("resuming after step"))
            try bench.verifySame("run", as: "quiet", steps: longSteps)
        }
    }

    @Test("a coordinator killed in the middle of a step goes on, and nothing counts twice")
    func killedInStep() throws {
        try FaultBench.withCluster { cluster in
            // A member that holds on to its work keeps the step open.
            let hole = try HostilePeer(cluster.address, name: "hole")
            try hole.join(threads: 3)
            _ = try hole.lease()
            try cluster.startWorker("healthy")
            try FaultBench.wait(for: "the worker") {
                cluster.coordinator.errorText.contains("worker healthy")
            }
            try cluster.restartCoordinator()
            #expect(try hole.rejection() == nil)
            try FaultBench.finish(cluster, worker: nil)
            #expect(cluster.workers[0].errorText.contains("has restarted: term "))
        }
    }

    @Test("on a line so slow that a frame takes longer than silence may, no worker counts as lost")
    func slowLine() throws {
        try FaultBench.withCluster { cluster in
            let line = try SlowLine(to: cluster.address, seconds: 4)
            defer { line.stop() }
            let worker = try cluster.startWorker(
                "far", model: cluster.bench.model, at: line.address)
            try FaultBench.finish(cluster, worker: nil)
            #expect(!worker.errorText.contains("silent"), "\(worker.errorText)")
            #expect(!worker.errorText.contains("tries again"), "\(worker.errorText)")
            let log = cluster.coordinator.errorText
            #expect(!log.contains("lost far"), "\(log)")
        }
    }

    @Test(
        "a worker lives through its coordinator's full disk, and finishes the run with it",
        .enabled(if: FullDisk.isPossible, "needs the right to mount in a namespace of its own"))
    func fullDiskBesideWorker() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "2", "--checkpoint-every", "2", "--keep-checkpoints", "99"]
            try bench.train("whole", run)
            let (coordinator, address) = try FullDisk.coordinator(
                words(bench, "disk/run", run), in: bench, then: "16m")
            let worker = try SkeinProcess(
                [
                    "worker", "--coordinator", address, "--model", bench.model, "--name", "steady",
                    "--threads", "1",
                ], isHeld: true)
            let ending = try coordinator.wait()
            #expect(
                ending.output.hasPrefix("first: 74\n") && ending.output.hasSuffix("\nsecond: 0\n"),
                "\(ending.output) \(ending.error)")
            let left = try worker.wait()
            #expect(left.status == 0, "\(left.error)")
            #expect(left.error.contains("may come back: cannot"), "\(left.error)")
            #expect(left.error.contains("No space left on device"), "\(left.error)")
            #expect(left.error.hasSuffix("the run is complete\n"), "\(left.error)")
            #expect(try bench.result(of: "disk.second") == bench.result(of: "whole"))
            try verifyLedger(bench, of: "disk.second", steps: FaultBench.steps)
        }
    }

    @Test(
        "on a full disk the coordinator ends with 74, keeps its checkpoints and can be resumed",
        .enabled(if: FullDisk.isPossible, "needs the right to mount in a namespace of its own"))
    func fullDisk() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "2", "--checkpoint-every", "2", "--keep-checkpoints", "99"]
            try bench.train("whole", run)
            let options = run + ["--listen", "127.0.0.1:0", "--local-workers", "1"]
            let ending = try FullDisk.run(
                words(bench, "disk/run", options), in: bench, then: "16m")
            #expect(ending.output.contains("first: 74"), "\(ending.output) \(ending.error)")
            #expect(ending.output.contains("second: 0"), "\(ending.error)")
            #expect(ending.error.contains("No space left on device"))
            #expect(ending.error.contains("--resume"))
            #expect(try bench.result(of: "disk.second") == bench.result(of: "whole"))
            try verifyLedger(bench, of: "disk.second", steps: FaultBench.steps)
            let kept = try bench.digests(of: "disk.first").filter {
                $0.key.hasPrefix("checkpoints/step-")
            }
            #expect(kept.count >= 5 && kept.count % 5 == 0, "\(kept.keys.sorted())")
        }
    }
}

extension Workbench {
    /// Checks that two runs have the same files, and that the first one's ledger verifies.
    fileprivate func verifySame(_ output: String, as other: String, steps: Int) throws {
        #expect(try result(of: output) == result(of: other))
        try verifyLedger(self, of: output, steps: steps)
    }
}
