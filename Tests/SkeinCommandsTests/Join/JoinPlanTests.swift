import SkeinBasics
import SkeinJSON
import SkeinLaunch
import Testing

@testable import SkeinCommands

/// What a task decides from its words and its environment.
@Suite struct JoinPlanTests {
    private static let run = ["--model", "m.gguf", "--data", "d.jsonl", "--output", "out"]
    private static let srun = [
        "SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "3", "SLURM_JOB_ID": "7",
    ]

    private func plan(
        _ words: [String], _ environment: [String: String] = [:],
        cores: JoinPlan.Cores = JoinPlan.Cores(usable: 8, online: 8)
    ) throws -> JoinPlan {
        try JoinPlan(
            ArgumentParser.parse(words, by: JoinCommand.table), environment: environment,
            cores: cores)
    }

    @Test("rank 0 coordinates, the others work; they meet in the output directory")
    func roles() throws {
        let worker = try plan(Self.run, Self.srun)
        #expect(!worker.isCoordinator && worker.name == "task1")
        #expect(worker.rendezvous?.directory == "out/join")
        #expect(worker.tokenFile == "out/join/token" && worker.makesToken)
        #expect(worker.address == nil && worker.threads == 8)
        let first = try plan(Self.run, Self.srun.merging(["SLURM_PROCID": "0"]) { $1 })
        #expect(first.isCoordinator && first.localWorkers == 8)
        #expect(first.listen == Endpoint(host: "0.0.0.0", port: 0))
    }

    @Test("a role that is given goes before the rank, and its tasks have no fixed names")
    func givenRole() throws {
        let worker = try plan(
            Self.run + ["--role", "worker"], Self.srun.merging(["SLURM_PROCID": "0"]) { $1 })
        #expect(!worker.isCoordinator && worker.name == nil)
        #expect(try !plan(["--role", "worker", "--output", "out"]).isCoordinator)
        // Only where names follow from ranks is it known who is missing.
        #expect(try plan(Self.run, Self.srun).hasRankNames && !worker.hasRankNames)
        #expect(try !plan(Self.run + ["--name", "w"], Self.srun).hasRankNames)
        #expect(try plan(Self.run + ["--role", "coordinator"]).isCoordinator)
        #expect(throws: TaskError.noLauncher) { try plan(Self.run) }
        let named = try plan(Self.run + ["--role", "worker", "--name", "goose"])
        #expect(named.name == "goose")
    }

    @Test("ranks that contradict each other are refused, unless the role is given")
    func contradiction() throws {
        let two = Self.srun.merging(["RANK": "0", "WORLD_SIZE": "16"]) { $1 }
        #expect {
            try plan(Self.run, two)
        } throws: { error in
            guard case TaskError.contradiction = error else { return false }
            return true
        }
        #expect(try !plan(Self.run + ["--role", "worker"], two).isCoordinator)
        #expect(try !plan(Self.run + ["--launcher", "slurm"], two).isCoordinator)
        #expect(try !plan(Self.run + ["--task-rank", "1"], two).isCoordinator)
        // Exported for all of the same tasks: what Slurm says holds.
        let exported = try plan(Self.run, two.merging(["WORLD_SIZE": "3"]) { $1 })
        #expect(!exported.isCoordinator && exported.name == "task1")
        #expect(exported.lines.contains { $0.name == "warning" && $0.text.contains("RANK = 0") })
    }

    @Test("flags say what no launcher does")
    func flags() throws {
        let place = try plan(
            Self.run + ["--task-rank", "2", "--task-count", "3"], Self.srun
        ).place
        #expect(place == TaskPlace(launcher: nil, rank: 2, count: 3))
        #expect(throws: TaskError.rankBeyondCount(rank: 3, count: 3, source: "--task-rank")) {
            try plan(Self.run + ["--task-rank", "3", "--task-count", "3"])
        }
        #expect(
            throws: UsageError.needs(option: "task-count", other: "task-rank", command: "join")
        ) { try plan(Self.run + ["--task-count", "3"]) }
    }

    @Test("an address that is given is dialled; with a token of one's own no folder is needed")
    func address() throws {
        let environment = Self.srun.merging(["SKEIN_COORDINATOR": "head:7000"]) { $1 }
        let plan = try plan(Self.run + ["--token-file", "t"], environment)
        #expect(plan.address?.text == "head:7000" && plan.addressSource == "SKEIN_COORDINATOR")
        #expect(plan.rendezvous == nil && plan.tokenFile == "t" && !plan.makesToken)
        #expect(plan.listen.text == "0.0.0.0:7000")
        // The command line wins.
        let given = try self.plan(
            Self.run + ["--token-file", "t", "--coordinator", "10.0.0.9:1"], environment)
        #expect(given.address?.text == "10.0.0.9:1")
        // Without a token the folder has one.
        let folder = try self.plan(Self.run, environment)
        #expect(folder.address?.text == "head:7000" && folder.tokenFile == "out/join/token")
        #expect(throws: TaskError.noToken(address: "head:7000")) {
            try self.plan(["--role", "worker"], ["SKEIN_COORDINATOR": "head:7000"])
        }
        let local = try self.plan(
            Self.run + ["--coordinator", "127.0.0.1:7000"], Self.srun)
        #expect(local.tokenFile == nil && local.rendezvous == nil)
        #expect(local.listen.text == "127.0.0.1:7000")
    }

    @Test("addresses that cannot be dialled are refused")
    func badAddress() {
        for text in ["0.0.0.0:7000", "h:0"] {
            #expect(throws: UsageError.self) {
                try plan(Self.run + ["--coordinator", text], Self.srun)
            }
            #expect(throws: UsageError.self) {
                try plan(Self.run, Self.srun.merging(["SKEIN_COORDINATOR": text]) { $1 })
            }
        }
        #expect(throws: UsageError.self) {
            try plan(Self.run, Self.srun.merging(["SKEIN_COORDINATOR": "a b"]) { $1 })
        }
        #expect(throws: TaskError.self) { try plan(["--role", "worker"], Self.srun) }
        // Who is at fault is named, without what would move the cursor.
        let shown = ["0.0.0.0:7534": "0.0.0.0:7534", "\u{1B}[2J": "?[2J"]
        for (text, found) in shown {
            #expect {
                try plan(Self.run, Self.srun.merging(["SKEIN_COORDINATOR": text]) { $1 })
            } throws: { error in
                guard case UsageError.badEnvironment("SKEIN_COORDINATOR", found, _) = error else {
                    return false
                }
                return true
            }
        }
    }

    @Test("the launcher's own address is used where there is no folder")
    func launchersAddress() throws {
        let torchrun = [
            "RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.5", "MASTER_PORT": "29500",
        ]
        // Another program may listen on that port.
        #expect(try plan(Self.run, torchrun).address == nil)
        let plan = try plan(Self.run + ["--token-file", "t"], torchrun)
        #expect(plan.address?.text == "10.0.0.5:29500" && plan.rendezvous == nil)
        let slurm = Self.srun.merging(["SLURM_JOB_NODELIST": "n[4-6]"]) { $1 }
        let first = try self.plan(
            Self.run + ["--token-file", "t", "--listen", "0.0.0.0:7534"], slurm)
        #expect(first.address?.text == "n4:7534")
        // A list that cannot be read leaves the folder.
        let torn = try self.plan(
            Self.run + ["--token-file", "t", "--listen", "0.0.0.0:7534"],
            Self.srun.merging(["SLURM_JOB_NODELIST": "n[4"]) { $1 })
        #expect(torn.address == nil && torn.rendezvous != nil && torn.warnings.count == 1)
    }

    @Test("threads are the launcher's, the binding's, or a share of the host")
    func threads() throws {
        let mpi = [
            "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "40",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
        ]
        let shared = try plan(Self.run, mpi)
        // 39 others: two cores for the coordinator's own work.
        #expect(shared.threads == 2 && shared.localWorkers == 0)
        let bound = try plan(Self.run, mpi, cores: JoinPlan.Cores(usable: 4, online: 8))
        #expect(bound.threads == 4 && bound.localWorkers == 2)
        let cores = Self.srun.merging(["SLURM_CPUS_PER_TASK": "3"]) { $1 }
        #expect(try plan(Self.run, cores).threads == 3)
        let given = try plan(Self.run + ["--threads", "5", "--local-workers", "1"], mpi)
        #expect(given.threads == 5 && given.localWorkers == 1)
        let many = try plan(
            Self.run, Self.srun.merging(["SLURM_CPUS_PER_TASK": "5000"]) { $1 })
        #expect(many.threads == 1024 && many.warnings.count == 1)
        let crowd = try plan(
            Self.run, mpi, cores: JoinPlan.Cores(usable: 2, online: 2))
        #expect(crowd.threads == 1)
        // A quota that all four tasks share, and two that are less than a processor for each.
        for (quota, threads) in [(100, 2), (6, 1), (3, 1)] {
            let cores = JoinPlan.Cores(usable: 8, online: 8, quota: quota)
            #expect(try plan(Self.run, mpi, cores: cores).threads == threads)
        }
        let contained = JoinPlan.Cores(usable: 8, online: 64, quota: 3)
        #expect(try plan(Self.run, Self.srun, cores: contained).threads == 3)
    }

    @Test("what was found out is printed for people and for scripts")
    func printed() throws {
        let environment = Self.srun.merging(
            ["SLURM_JOB_NODELIST": "n[1-9]", "OMPI_COMM_WORLD_RANK": "2", "PMI_SIZE": "1"]) { $1 }
        let plan = try plan(Self.run, environment)
        #expect(
            plan.lines.map { "\($0.name): \($0.text)" } == [
                "launcher: MPI (OMPI_COMM_WORLD_RANK)", "task: task 2", "role: worker",
                "address: in out/join/address.json",
                "token: out/join/token (made by rank 0)", "threads: 8", "name: task2",
                "note: taken: MPI (OMPI_COMM_WORLD_RANK = 2), the inner launcher; the environment "
                    + "also has Slurm (SLURM_PROCID = 1)",
            ])
        let slurm = try self.plan(Self.run + ["--launcher", "slurm"], environment)
        #expect(slurm.lines.contains { $0 == ("hosts", "9: n1 n2 n3 n4 n5 n6 n7 n8 ...") })
        #expect(
            JSONValue.fields(slurm.json).written.hasPrefix(
                #"{"launcher":"slurm","rank":1,"task_count":3,"#))
    }

    @Test("what a coordinator needs is asked of every task, except of given workers")
    func missing() throws {
        let words = ["--model", "m", "--output", "o"]
        #expect(throws: UsageError.self) {
            try JoinCommand(ArgumentParser.parse(words, by: JoinCommand.table))
        }
        _ = try JoinCommand(
            ArgumentParser.parse(words + ["--role", "worker"], by: JoinCommand.table))
        _ = try JoinCommand(
            ArgumentParser.parse(["--print-environment"], by: JoinCommand.table))
    }
}
