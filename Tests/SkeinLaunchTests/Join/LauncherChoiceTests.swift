import Foundation
import SkeinBasics
import Testing

@testable import SkeinLaunch

/// Which launcher has started a task, where the environment has the variables of several.
@Suite struct LauncherChoiceTests {
    private static let export = ["RANK": "0", "WORLD_SIZE": "2"]
    private static let torchrun = [
        "RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "r",
    ]
    /// The second of two tasks, as each launcher says it.
    private static let second: [TaskLauncher: [String: String]] = [
        .slurm: ["SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"],
        .mpi: ["OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"],
        .kubernetes: ["JOB_COMPLETION_INDEX": "1"],
    ]

    private func environment(
        _ parts: [String: String]..., ancestors: [String] = [], launcher: TaskLauncher? = nil
    ) throws -> TaskEnvironment {
        try TaskEnvironment(
            parts.reduce(into: [:]) { $0.merge($1) { $1 } }, launcher: launcher,
            ancestors: ancestors)
    }

    @Test(
        "RANK=0 exported by a batch script does not make a second coordinator: the launcher's rank wins, and it is said",
        arguments: [TaskLauncher.slurm, .mpi])
    func exported(launcher: TaskLauncher) throws {
        let own = try #require(Self.second[launcher])
        let found = try environment(own, Self.export)
        #expect(found.contradiction == nil)
        #expect(found.taken?.launcher == launcher && found.taken?.rank == 1)
        let statement = try #require(found.taken?.statement)
        #expect(
            found.warnings == [
                "RANK = 0, WORLD_SIZE = 2 is not this task's: \(launcher.title) started it "
                    + "(\(statement)); it was exported before, and is ignored"
            ])
        #expect(found.choice?.contains("which started this task") == true)
    }

    @Test(
        "where RANK and the launcher count other tasks, neither can be trusted: both are named",
        arguments: [TaskLauncher.slurm, .mpi, .kubernetes], ["0", "1"])
    func unknown(launcher: TaskLauncher, rank: String) throws {
        let own = try #require(Self.second[launcher])
        let found = try environment(own, ["RANK": rank, "WORLD_SIZE": "16"])
        // A pod does not know how many there are.
        if launcher == .kubernetes, rank == "1" {
            #expect(found.contradiction == nil && found.warnings.isEmpty)
            return
        }
        let explanation = try #require(found.contradiction).explanation
        let statement = try #require(found.taken?.statement)
        #expect(
            explanation.what
                == "RANK = \(rank), WORLD_SIZE = 16 (torchrun) contradicts \(statement) "
                + "(\(launcher.title)), and nothing says which of them is this task's")
        #expect(
            explanation.remedy
                == "unset RANK and WORLD_SIZE if a script exports it for all tasks; else give "
                + "--launcher torchrun, or --launcher \(launcher.rawValue), or --task-rank and "
                + "--task-count")
        #expect(explanation.status == .usage)
        // Who names a launcher has decided.
        let chosen = try environment(
            own, ["RANK": rank, "WORLD_SIZE": "16"], launcher: .torchrun)
        #expect(chosen.contradiction == nil && chosen.taken?.rank == Int(rank))
    }

    @Test("a script that hands Slurm's rank on agrees with it, and its address is used")
    func handedOn() throws {
        let slurm = try #require(Self.second[.slurm])
        let found = try environment(
            slurm,
            ["RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "n1", "MASTER_PORT": "29500"])
        #expect(found.taken?.launcher == .slurm && found.taken?.rank == 1)
        #expect(found.taken?.address?.text == "n1:29500")
        #expect(found.warnings.isEmpty && found.contradiction == nil)
        // All tasks must dial the same, also those whose RANK is wrong.
        let wrong = try environment(slurm, Self.export, ["MASTER_ADDR": "n1"])
        #expect(wrong.taken?.address?.host == "n1")
    }

    @Test("torchrun inside of a step or of mpirun has started the task, whatever their ranks are")
    func inner() throws {
        for (launcher, outer) in Self.second {
            let found = try environment(outer, Self.torchrun)
            #expect(found.taken?.launcher == .torchrun && found.taken?.rank == 3, "\(launcher)")
            #expect(found.warnings.isEmpty && found.contradiction == nil)
        }
        // One that a batch script without srun has started by hand.
        let byHand = try environment(
            ["SLURM_PROCID": "0", "SLURM_NTASKS": "4"], ["RANK": "2", "WORLD_SIZE": "4"])
        #expect(byHand.taken?.launcher == .torchrun && byHand.taken?.rank == 2)
        #expect(byHand.contradiction == nil && byHand.warnings.isEmpty)
    }

    /// As in a job that was submitted from inside of another launcher's task: sbatch hands the
    /// whole environment on.
    @Test("what a former launcher left is ignored where the ancestors show who started the task")
    func stale() throws {
        let slurm = try #require(Self.second[.slurm])
        let chain = ["bash", "slurmstepd", "slurmd"]
        for former in [
            ["OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"], Self.torchrun,
            ["PMI_RANK": "0", "PMI_SIZE": "2"],
        ] {
            let found = try environment(slurm, former, ancestors: chain)
            #expect(found.taken?.launcher == .slurm && found.taken?.rank == 1, "\(former)")
            #expect(found.warnings.count == 1 && found.contradiction == nil)
            // The same in a batch script, which is a task of its own.
            let batch = try environment(
                ["SLURM_PROCID": "0", "SLURM_NTASKS": "4"], former, ancestors: chain)
            #expect(batch.taken?.launcher == .slurm && batch.taken?.count == 1)
        }
        let mpi = try environment(
            try #require(Self.second[.mpi]), slurm, Self.torchrun,
            ancestors: ["orted", "slurmstepd"])
        #expect(mpi.taken?.launcher == .mpi && mpi.warnings.count == 1)
    }

    @Test("a program in Python between a task and Slurm may be torchrun's agent")
    func agent() throws {
        let found = try environment(
            try #require(Self.second[.slurm]), Self.torchrun,
            ancestors: ["python3.12", "slurmstepd"])
        #expect(found.taken?.launcher == .torchrun && found.warnings.isEmpty)
        #expect(LauncherChoice.launcher(of: ["bash", "torchrun", "slurmstepd"]) == .torchrun)
        #expect(LauncherChoice.launcher(of: ["numactl", "hydra_pmi_proxy"]) == .mpi)
        #expect(LauncherChoice.launcher(of: ["bash", "sshd"]) == nil)
    }

    @Test("two ranks of MPI that differ are refused: no launcher says both")
    func twoOfMPI() throws {
        let found = try environment([
            "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMI_RANK": "1",
            "PMI_SIZE": "2",
        ])
        let explanation = try #require(found.contradiction).explanation
        #expect(explanation.what.hasPrefix("PMI_RANK = 1, PMI_SIZE = 2 (MPI) contradicts OMPI_"))
        #expect(!explanation.remedy.contains("--launcher"))
        // Open MPI sets PMIx's, too.
        let equal = try environment([
            "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "1",
        ])
        #expect(equal.found.count == 1 && equal.contradiction == nil)
    }

    @Test("names of ancestors are read as proc(5) writes them, brackets and all")
    func ancestors() throws {
        let parsed = Ancestors.parse(Data("77 (a (b) c) S 76 77 77 0 -1".utf8))
        #expect(parsed?.name == "a (b) c" && parsed?.parent == 76)
        for text in ["", "77 (a", "77 a) S 1", "77 (a) S", "77 (a) S x"] {
            #expect(Ancestors.parse(Data(text.utf8)) == nil, "\(text)")
        }
        #if os(Linux)
            #expect(!Ancestors.names.isEmpty)
        #endif
    }
}
