import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// An older copy of a run's directory is put in place: its term counts the same numbers once more, for
/// workers that know them with another meaning.
@Suite("restored copies of a run", .ownThreads)
struct RestoredCopyTests {
    @Test("a worker that knows a later life of the run computes with this one's parameters")
    func restored() throws {
        try Workbench.with { bench in
            try bench.train("quiet", Self.run)
            let cluster = try ClusterHarness(bench, "run", Self.run)
            let worker = try cluster.startWorker("survivor")
            try cluster.waitForSteps(2)
            // Term 1 ends here, and the directory is copied.
            cluster.coordinator.end()
            let (output, copy) = (bench.path("run"), bench.path("copy"))
            try FileManager.default.copyItem(atPath: output, toPath: copy)
            // Term 2 goes on.
            try cluster.restartCoordinator()
            try cluster.waitForSteps(7)
            cluster.coordinator.end()
            // Term 3 waits for a second worker. The first one has its parameters, and no work.
            let third = try ClusterHarness(
                bench.work(), "run", Self.run + ["--resume", "--min-workers", "2"],
                listen: cluster.address)
            try FaultBench.wait(for: "the third term") {
                worker.errorText.components(separatedBy: "joined the run").count > 3
            }
            func term() throws -> Substring? {
                try bench.text(output + "/term").split(separator: " ").first
            }
            let known = try term()
            // Parameters follow the welcome at once; a heartbeat later they are there.
            try FaultBench.wait(for: "a heartbeat") {
                try SkeinProcess.run(["status", "--coordinator", third.address]).status == 0
            }
            third.coordinator.end()
            try FileManager.default.removeItem(atPath: output)
            try FileManager.default.moveItem(atPath: copy, toPath: output)
            // Term 2 once more, where no worker finds it; then term 3 once more.
            let elsewhere = try ClusterHarness(bench, "run", Self.run + ["--resume"])
            elsewhere.coordinator.end()
            try cluster.restartCoordinator()
            #expect(try term() == known, "the numbers do not repeat")
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "run", steps: FaultBench.steps)
        }
    }

    /// A checkpoint after every step, so that each life goes on where the one before has ended.
    private static let run = [
        "--epochs", "2", "--checkpoint-every", "1", "--micro-batch-tokens", "1",
    ]
}
