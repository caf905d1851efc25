import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// What `skein join` says of an environment that it cannot work with.
@Suite("join: usage", .ownThreads)
struct JoinUsageTests {
    @Test("words that no task can work with are refused")
    func usage() throws {
        try Workbench.with { bench in
            Complaint(64, "nothing in the environment says which task this is").check(
                try JoinTask.start(bench, "none", []).wait())
            Complaint(64, "SLURM_PROCID is \"two\"").check(
                try JoinTask.start(bench, "none", environment: ["SLURM_PROCID": "two"], []).wait())
            Complaint(64, "torchrun has not started this task").check(
                try JoinTask.start(bench, "none", ["--launcher", "torchrun"]).wait())
            let taken = try JoinTask.start(
                bench, "none",
                environment: [
                    "SLURM_PROCID": "3", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2",
                ], ["--print-environment"]
            ).wait()
            #expect(taken.status == 0, "\(taken.error)")
            #expect(taken.output.contains("task:     task 1 of 2\n"))
            #expect(taken.output.contains("also has Slurm (SLURM_PROCID = 3)"))
            Complaint(64, "contradicts SLURM_PROCID = 1, SLURM_NTASKS = 2").check(
                try JoinTask.start(
                    bench, "none",
                    environment: [
                        "RANK": "0", "WORLD_SIZE": "8", "SLURM_PROCID": "1", "SLURM_STEP_ID": "0",
                        "SLURM_NTASKS": "2",
                    ], []
                ).wait())
            #expect(!FileManager.default.fileExists(atPath: bench.path("none")))
        }
    }
}
