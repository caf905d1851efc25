import Foundation
import SkeinBench
import SkeinTestSupport
import Testing

/// The law over a network: whoever computes, the bytes are those of a run in one process.
@Suite("one hash over a cluster", .serialized)
struct ClusterHashTests {
    private let run = ["--epochs", "4", "--checkpoint-every", "3"]
    private let steps = 32

    @Test(
        "coordinator and workers give the bytes of a run in one process",
        arguments: [1, 2, 3, 5, 7])
    func workerCounts(count: Int) throws {
        try Workbench.with { bench in
            try bench.train("alone", run + ["--threads", "2"])
            let cluster = try ClusterHarness(
                bench, "cluster", run + ["--min-workers", String(count)])
            for number in 1...count { try cluster.startWorker("w\(number)") }
            try cluster.finish()
            #expect(try bench.result(of: "cluster") == bench.result(of: "alone"))
            #expect(try losses(bench, "cluster") == losses(bench, "alone"))
            try verifyLedger(bench, of: "cluster", steps: steps)
        }
    }

    @Test("each codec has its own one hash", arguments: ["fp32", "bf16", "int8"])
    func codecs(codec: String) throws {
        try Workbench.with { bench in
            let run = run + ["--gradient-codec", codec]
            try bench.train("alone", run)
            let cluster = try ClusterHarness(bench, "cluster", run + ["--min-workers", "2"])
            for number in 1...2 { try cluster.startWorker("w\(number)") }
            try cluster.finish()
            #expect(try bench.result(of: "cluster") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "cluster", steps: steps)
        }
    }

    @Test(
        "losses of pairs of answers have one hash, also when a worker and the coordinator are killed",
        arguments: ["dpo", "orpo", "simpo"])
    func pairs(loss: String) throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            // Each run computes its references.
            let run = run + ["--loss", loss, "--micro-batch-tokens", "64", "--no-token-cache"]
            try bench.train("alone", run, data: data)
            let cluster = try ClusterHarness(
                bench, "cluster", run + ["--min-workers", "1"], data: data)
            for number in 1...2 { try cluster.startWorker("w\(number)") }
            try cluster.waitForSteps(5)
            try cluster.restartWorker(0)
            try cluster.waitForSteps(9)
            try cluster.restartCoordinator()
            try cluster.finish()
            #expect(try bench.result(of: "cluster") == bench.result(of: "alone"))
            #expect(try losses(bench, "cluster") == losses(bench, "alone"))
            try verifyLedger(bench, of: "cluster", steps: steps)
        }
    }

    @Test("steps cut for slots have one hash, however many workers there are")
    func slots() throws {
        try Workbench.with { bench in
            // Three micro-batches for four rows; without --slots there are two.
            let run = run + ["--slots", "3"]
            try bench.train("alone", run + ["--threads", "1"])
            let cluster = try ClusterHarness(bench, "cluster", run + ["--min-workers", "2"])
            for number in 1...2 { try cluster.startWorker("w\(number)") }
            try cluster.finish()
            #expect(try bench.result(of: "cluster") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "cluster", steps: steps)
            try bench.train("uncut", self.run)
            #expect(try bench.result(of: "uncut") != bench.result(of: "alone"))
        }
    }

    @Test("a worker with several threads and threads of the coordinator itself")
    func threads() throws {
        try Workbench.with { bench in
            try bench.train("alone", run)
            let cluster = try ClusterHarness(bench, "cluster", run + ["--local-workers", "2"])
            try cluster.startWorker("w1", threads: 3)
            try cluster.finish()
            #expect(try bench.result(of: "cluster") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "cluster", steps: steps)
        }
    }

    @Test("a run that began in one process goes on in a cluster, and the other way round")
    func changeOver() throws {
        try Workbench.with { bench in
            try bench.train("alone", run)
            let first = try SkeinProcess(bench.trainWords("changed", run))
            try first.waitForError("step 7/")
            first.send(SIGKILL)
            _ = try first.wait()
            let cluster = try ClusterHarness(bench, "changed", run + ["--resume"])
            try cluster.startWorker("w1")
            try cluster.waitForSteps(15)
            cluster.coordinator.send(SIGKILL)
            _ = try cluster.coordinator.wait()
            cluster.workers[0].send(SIGKILL)
            _ = try cluster.workers[0].wait()
            try bench.train("changed", run + ["--resume"])
            #expect(try bench.result(of: "changed") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "changed", steps: steps)
        }
    }

    /// What metrics.jsonl says about the model, without who computed it.
    private func losses(_ bench: Workbench, _ output: String) throws -> [String] {
        try bench.text(bench.path(output) + "/metrics.jsonl").split(separator: "\n").map { line in
            let fields = try Workbench.object(String(line))
            let names = ["step", "epoch", "loss", "gradient_norm", "validation_loss"]
            return names.map { "\(fields[$0] ?? "-")" }.joined(separator: " ")
        }
    }
}
