import SkeinBasics
import Testing

@testable import SkeinLaunch

/// What launchers really set is in the comments: read off Slurm 22.05, Open MPI 4.1, torchrun's
/// documents and Kubernetes' API.
@Suite struct TaskEnvironmentTests {
    private func place(_ variables: [String: String]) throws -> TaskPlace {
        try #require(try TaskEnvironment(variables).taken)
    }

    @Test("nothing in the environment is no launcher")
    func noLauncher() throws {
        let environment = try TaskEnvironment(["PATH": "/bin", "RANK": "3", "SLURM_PROCID": ""])
        #expect(environment.taken == nil && environment.choice == nil)
    }

    @Test("a task of srun")
    func slurm() throws {
        let place = try place([
            "SLURM_PROCID": "3", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "5",
            "SLURM_NTASKS": "8", "SLURM_JOB_ID": "71", "SLURM_RESTART_COUNT": "2",
            "SLURM_STEP_TASKS_PER_NODE": "2(x2),1", "SLURM_NODEID": "1",
            "SLURM_CPUS_ON_NODE": "12", "SLURM_JOB_NODELIST": "n[1-3]",
            "SLURM_STEP_NODELIST": "n[2-3],n1",
        ])
        #expect(place.launcher == .slurm && place.source == "SLURM_PROCID")
        #expect(place.rank == 3 && place.count == 5 && place.localCount == 2)
        #expect(place.cores == 6 && place.job == "71.0" && place.restarts == 2)
        #expect(place.hosts == ["n2", "n3", "n1"])
        #expect(place.title == "task 3 of 5")
    }

    @Test("the cores of a task are Slurm's own number, if it says one")
    func slurmCores() throws {
        let place = try place([
            "SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_CPUS_PER_TASK": "3",
            "SLURM_CPUS_ON_NODE": "12",
        ])
        #expect(place.cores == 3)
    }

    @Test("a batch script without srun is a task of its own")
    func batch() throws {
        let alone = try place(["SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "71"])
        #expect(alone.rank == 0 && alone.count == 1)
        // The batch step's number, SLURM_BATCH_SCRIPT.
        let batch = try place([
            "SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_ID": "4294967291",
        ])
        #expect(batch.count == 1)
    }

    @Test("a list of nodes that cannot be read is a warning: the folder does not need it")
    func badNodes() throws {
        let environment = try TaskEnvironment([
            "SLURM_PROCID": "0", "SLURM_JOB_NODELIST": "n[1-",
        ])
        #expect(environment.taken?.hosts == [])
        #expect(
            environment.warnings == [
                "SLURM_JOB_NODELIST is not a list of hosts: a bracket is not closed"
            ])
    }

    @Test(
        "ranks of Open MPI, PMIx and Hydra",
        arguments: [
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
            ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE"),
            ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
        ])
    func mpi(rank: String, count: String, local: String) throws {
        let place = try place([
            rank: "1", count: "3", local: "2", "PMIX_NAMESPACE": "226754561",
        ])
        #expect(place.launcher == .mpi && place.source == rank)
        #expect(place.rank == 1 && place.count == 3 && place.localCount == 2)
        #expect(place.job == "226754561")
    }

    /// Read off srun --mpi=pmi2 of Slurm 22.05; pmix from its documents.
    @Test(
        "where srun sets MPI's variables, too, the task is Slurm's",
        arguments: [
            ["PMI_RANK": "1", "PMI_SIZE": "3", "PMI_JOBID": "7.0"],
            ["PMIX_RANK": "1", "PMIX_NAMESPACE": "slurm.pmix.7.0"],
        ])
    func srunForMPI(more: [String: String]) throws {
        let slurm = [
            "SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3",
            "SLURM_JOB_ID": "7",
        ]
        let environment = try TaskEnvironment(slurm.merging(more) { $1 })
        #expect(environment.taken?.launcher == .slurm && environment.choice == nil)
        // A proxy of Hydra on each node, with more ranks than nodes.
        let hydra = try TaskEnvironment(
            slurm.merging(["PMI_RANK": "1", "PMI_SIZE": "6"]) { $1 })
        #expect(hydra.taken?.launcher == .mpi && hydra.taken?.count == 6)
    }

    @Test("torchrun's contract")
    func torchrun() throws {
        let variables = [
            "RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "10.0.0.5",
            "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none",
            "TORCHELASTIC_RESTART_COUNT": "1",
        ]
        let place = try place(variables)
        #expect(place.launcher == .torchrun && place.rank == 1 && place.count == 2)
        // Without a name of its own the job has torchrun's default, as all have.
        #expect(place.localCount == 1 && place.restarts == 1 && place.job == nil)
        #expect(place.address?.text == "10.0.0.5:29500")
        // The agent listens on that port itself.
        let agent = variables.merging(["TORCHELASTIC_USE_AGENT_STORE": "True"]) { $1 }
        #expect(try self.place(agent).address?.text == "10.0.0.5:29501")
        let version6 = variables.merging(["MASTER_ADDR": "fd00::5"]) { $1 }
        #expect(try self.place(version6).address?.text == "[fd00::5]:29500")
    }

    @Test("a pod of an indexed Job, which does not know how many there are")
    func kubernetes() throws {
        let place = try place(["JOB_COMPLETION_INDEX": "4"])
        #expect(place.launcher == .kubernetes && place.rank == 4 && place.count == nil)
        #expect(place.title == "task 4")
    }

    @Test("of two launchers the inner one is taken, and it is said")
    func two() throws {
        let variables = [
            "SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "OMPI_COMM_WORLD_RANK": "2",
            "OMPI_COMM_WORLD_SIZE": "3", "JOB_COMPLETION_INDEX": "1",
        ]
        let environment = try TaskEnvironment(variables)
        #expect(environment.taken?.launcher == .mpi && environment.taken?.rank == 2)
        #expect(
            environment.choice
                == "taken: MPI (OMPI_COMM_WORLD_RANK = 2), the inner launcher; the environment also "
                + "has Slurm (SLURM_PROCID = 0) and Kubernetes (JOB_COMPLETION_INDEX = 1)")
        let slurm = try TaskEnvironment(variables, launcher: .slurm)
        #expect(slurm.taken?.launcher == .slurm && slurm.choice == nil)
        #expect(
            throws: TaskError.launcherNotFound(.torchrun, variables: ["RANK", "WORLD_SIZE"])
        ) { try TaskEnvironment(variables, launcher: .torchrun) }
    }

    @Test(
        "numbers that are none are refused by the variable's name",
        arguments: [
            ["SLURM_PROCID": "-1"], ["SLURM_PROCID": "+1"], ["SLURM_PROCID": "0x1"],
            ["SLURM_PROCID": "99999999999999999999"], ["SLURM_PROCID": "1048577"],
            ["SLURM_PROCID": "0", "SLURM_RESTART_COUNT": "one"],
            ["SLURM_PROCID": "0", "SLURM_STEP_TASKS_PER_NODE": "2(x"],
            ["SLURM_PROCID": "0", "SLURM_STEP_TASKS_PER_NODE": "2(x0)"],
            ["SLURM_PROCID": "0", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_NODEID": "1"],
            ["RANK": "0", "WORLD_SIZE": "0"], ["RANK": "", "WORLD_SIZE": "2", "PMI_RANK": "x"],
            ["RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a b"],
            ["RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "65536"],
            ["JOB_COMPLETION_INDEX": "1.5"],
        ])
    func badNumbers(variables: [String: String]) {
        do throws(TaskError) {
            let environment = try TaskEnvironment(variables)
            Issue.record("\(environment.found)")
        } catch {
            guard case .badVariable = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.explanation.status == .usage)
        }
    }

    @Test("a value with control characters is shown without them, and not in full")
    func shownValues() {
        do throws(TaskError) {
            _ = try TaskEnvironment([
                "SLURM_PROCID": "\u{1B}[2J\n" + String(repeating: "7", count: 5000)
            ])
            Issue.record("accepted")
        } catch {
            let text = error.explanation.what
            #expect(!text.contains("\u{1B}") && !text.contains("\n") && text.count < 200)
        }
    }

    @Test("a rank beyond its count is refused")
    func beyond() {
        #expect(throws: TaskError.rankBeyondCount(rank: 3, count: 3, source: "PMI_RANK")) {
            try TaskEnvironment(["PMI_RANK": "3", "PMI_SIZE": "3"])
        }
    }
}
