import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// Runs with local steps as real processes on loopback.
@Suite(.ownThreads) struct LocalStepsTests {
    private static func options(_ codec: String, every: Int = 4) -> [String] {
        [
            "--local-steps", "3", "--logical-workers", "3", "--delta-codec", codec,
            "--batch-size", "1", "--epochs", "3", "--learning-rate", "0.01",
            "--save-state-every", String(every), "--max-length", "64",
        ]
    }

    /// SHA-256 of the adapter, after its ledger was proved.
    private func proved(_ bench: Workbench, _ output: String) throws -> String? {
        let ending = try SkeinProcess.run(["inspect", bench.path(output), "--verify-ledger"])
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.contains("each micro-batch was counted exactly once"))
        return try bench.digests(of: output + "/adapter")["adapter_model.safetensors"]
    }

    @Test("workers that are killed between saved rounds: others compute these rounds again")
    func replay() throws {
        try Workbench.with(rows: 44) { bench in
            // No state is ever sent to the coordinator: every loss goes back to the beginning.
            let options = Self.options("topk", every: 100) + ["--log-format", "json"]
            try bench.train("train", options)
            let cluster = try ClusterHarness(bench.work(), "c", options)
            for number in 0..<3 { try cluster.startWorker("w\(number)") }
            for round in [2, 4] {
                try cluster.waitForSteps(round)
                try cluster.restartWorker(round / 2)
            }
            try cluster.finish()
            #expect(try proved(bench, "c") == proved(bench, "train"))
            let replayed = cluster.coordinator.errorText.split(separator: "\n").filter {
                $0.contains("\"event\":\"replayed\"")
            }
            #expect(!replayed.isEmpty, "\(cluster.coordinator.errorText)")
        }
    }

    @Test("a coordinator that is killed goes on from its last saved round, with one hash")
    func coordinatorKilled() throws {
        try Workbench.with(rows: 44) { bench in
            let options = Self.options("int8", every: 2)
            try bench.train("train", options)
            let cluster = try ClusterHarness(bench.work(), "c", options)
            for number in 0..<2 { try cluster.startWorker("w\(number)") }
            for round in [3, 6] {
                try cluster.waitForSteps(round)
                try cluster.restartCoordinator()
            }
            try cluster.finish()
            #expect(try proved(bench, "c") == proved(bench, "train"))
        }
    }

    @Test("a run that train has begun is finished by a cluster, and the other way round")
    func resumedElsewhere() throws {
        try Workbench.with(rows: 44) { bench in
            let options = Self.options("topk", every: 2)
            try bench.train("train", options)
            try bench.train("a", options)
            // The newest checkpoint that is not the last: the run is not complete any more.
            let checkpoints = bench.path("a") + "/checkpoints"
            let names = try FileManager.default.contentsOfDirectory(atPath: checkpoints).sorted()
            try FileManager.default.removeItem(atPath: checkpoints + "/" + names[names.count - 1])
            let cluster = try ClusterHarness(bench.work(), "a", options + ["--resume"])
            try cluster.startWorker("w")
            try cluster.finish()
            #expect(try proved(bench, "a") == proved(bench, "train"))
        }
    }

    @Test("options that do not go together are refused with both names")
    func refused() throws {
        try Workbench.with { bench in
            for (more, text) in [
                (["--logical-workers", "2"], "--logical-workers needs --local-steps"),
                (["--local-steps", "2"], "--local-steps needs --logical-workers"),
                (
                    ["--local-steps", "2", "--logical-workers", "2", "--slots", "2"],
                    "--slots and --local-steps exclude each other"
                ),
            ] {
                let ending = try SkeinProcess.run(bench.trainWords("x", more))
                #expect(ending.status == 64)
                #expect(ending.error.contains(text), "\(ending.error)")
            }
        }
    }
}
