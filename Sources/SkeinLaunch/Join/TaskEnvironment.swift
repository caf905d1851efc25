import SkeinBasics

/// Finds out from the environment which task of which launcher this process is. Pure.
///
/// Launchers nest: `mpirun` and `torchrun` run inside a job of Slurm or a pod, and then both sets
/// of variables are there. `LauncherChoice` says which of them started this process.
package struct TaskEnvironment: Sendable {
    /// What each launcher says, from the inside out; those that say nothing are left out.
    package private(set) var found: [TaskPlace] = []
    /// The launcher that started this process; nil: there is none.
    package private(set) var taken: TaskPlace?
    /// Which launcher was taken where several would do; nil if there is nothing to say.
    package private(set) var choice: String?
    /// What is wrong, and does not keep the task from its work.
    package private(set) var warnings: [String] = []
    /// Why the rank cannot be relied on: two variables contradict each other, and nothing says
    /// which of them is this task's.
    package private(set) var contradiction: TaskError?

    /// - Parameters:
    ///   - variables: the process's environment.
    ///   - launcher: the only launcher to ask; nil: all.
    ///   - ancestors: the names of the processes that this one descends from, its parent first, as
    ///     far as they are known.
    /// - Throws: `TaskError` for a number that cannot be read, or a rank beyond its count.
    package init(
        _ variables: [String: String], launcher: TaskLauncher? = nil, ancestors: [String] = []
    ) throws(TaskError) {
        let reader = Variables(variables)
        for candidate in TaskLauncher.allCases where launcher == nil || launcher == candidate {
            let places: [TaskPlace]
            switch candidate {
            case .torchrun: places = try Self.torchrun(reader).map { [$0] } ?? []
            case .mpi: places = try Self.mpi(reader)
            case .slurm: places = try slurm(reader).map { [$0] } ?? []
            case .kubernetes: places = try Self.kubernetes(reader).map { [$0] } ?? []
            }
            for place in places {
                if let count = place.count, place.rank >= count {
                    throw .rankBeyondCount(
                        rank: place.rank, count: count, source: place.source ?? candidate.title)
                }
                found.append(place)
            }
        }
        if let launcher, found.isEmpty {
            throw .launcherNotFound(launcher, variables: Self.needed(by: launcher))
        }
        let choice = LauncherChoice(found, ancestors: ancestors)
        taken = choice.taken
        self.choice = choice.note
        warnings += choice.warnings
        contradiction = choice.contradiction
    }

    private static func needed(by launcher: TaskLauncher) -> [String] {
        switch launcher {
        case .torchrun: ["RANK", "WORLD_SIZE"]
        case .mpi: ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"]
        case .slurm: ["SLURM_PROCID"]
        case .kubernetes: ["JOB_COMPLETION_INDEX"]
        }
    }
}

// What each launcher says.
extension TaskEnvironment {
    /// torchrun's contract, which Kubeflow, Ray and many job scripts keep, too.
    private static func torchrun(_ variables: Variables) throws(TaskError) -> TaskPlace? {
        // RANK alone is a common word.
        guard variables["WORLD_SIZE"] != nil, let rank = try variables.number("RANK") else {
            return nil
        }
        var place = TaskPlace(
            launcher: .torchrun, source: "RANK", rank: rank,
            count: try variables.count("WORLD_SIZE"))
        place.countSource = "WORLD_SIZE"
        // Its agent sets it with each rank. Without it a user or a script may have exported these variables.
        place.isOfItsLauncher = variables["TORCHELASTIC_RUN_ID"] != nil
        place.localCount = try variables.count("LOCAL_WORLD_SIZE")
        // The default for a job without a name, which all have in common.
        place.job = variables.name("TORCHELASTIC_RUN_ID").flatMap { $0 == "none" ? nil : $0 }
        place.restarts = try variables.number("TORCHELASTIC_RESTART_COUNT") ?? 0
        if let host = variables["MASTER_ADDR"] {
            let port = try variables.number("MASTER_PORT") ?? Endpoint.defaultPort
            // torchrun's agent listens on the port itself and says so; the next one is ours.
            let isTaken = variables["TORCHELASTIC_USE_AGENT_STORE"] == "True"
            let text = (host.contains(":") ? "[\(host)]" : host) + ":\(port + (isTaken ? 1 : 0))"
            guard port > 0, let address = Endpoint(text) else {
                throw .badVariable(
                    name: "MASTER_ADDR and MASTER_PORT", value: Variables.shown(text),
                    accepted: "a host and a port")
            }
            place.address = address
        }
        return place
    }

    /// Open MPI's own variables, those of PMIx, then those of Hydra (MPICH, Intel MPI).
    ///
    /// - Returns: one place for each kind that says another rank.
    private static func mpi(_ variables: Variables) throws(TaskError) -> [TaskPlace] {
        let kinds = [
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
            ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE"),
            ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
        ]
        var places: [TaskPlace] = []
        for (rankName, countName, localName) in kinds {
            guard let rank = try variables.number(rankName),
                try !isOfSlurm(rankName, rank, countName, variables),
                // Open MPI sets PMIx's variables, too.
                !places.contains(where: { $0.rank == rank })
            else { continue }
            var place = TaskPlace(
                launcher: .mpi, source: rankName, rank: rank,
                count: try variables.count(countName))
            place.localCount = try variables.count(localName)
            // PMIx tells the name of the job, and so does Open MPI, whose jobs have the same one.
            place.job = variables.name("PMIX_NAMESPACE")
            place.countSource = countName
            places.append(place)
        }
        return places
    }

    /// Whether srun set these variables for an MPI library (`MpiDefault=pmi2` or `pmix`): then
    /// Slurm says more.
    private static func isOfSlurm(
        _ rankName: String, _ rank: Int, _ countName: String, _ variables: Variables
    ) throws(TaskError) -> Bool {
        guard !rankName.hasPrefix("OMPI"), isStep(variables),
            try variables.number("SLURM_PROCID") == rank
        else { return false }
        if let namespace = variables["PMIX_NAMESPACE"] { return namespace.hasPrefix("slurm.pmix") }
        return try variables.count(countName) == variables.count("SLURM_STEP_NUM_TASKS")
    }

    /// Whether srun started this: a batch script that calls none is task 0 of a job that may have
    /// more tasks.
    private static func isStep(_ variables: Variables) -> Bool {
        // SLURM_BATCH_SCRIPT of Slurm's headers.
        variables["SLURM_STEP_ID"] != nil && variables["SLURM_STEP_ID"] != "4294967291"
    }

    private mutating func slurm(_ variables: Variables) throws(TaskError) -> TaskPlace? {
        guard let rank = try variables.number("SLURM_PROCID") else { return nil }
        let isStep = Self.isStep(variables)
        var place = TaskPlace(
            launcher: .slurm, source: "SLURM_PROCID", rank: rank,
            count: rank + 1)
        if isStep {
            let name = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"].first { variables[$0] != nil }
            place.count = try variables.count(name ?? "")
            place.countSource = name
        }
        // A batch script's own number says nothing about the tasks that it may start.
        place.isOfItsLauncher = isStep
        // Each srun of an allocation is a start of its own.
        place.job = variables.name("SLURM_JOB_ID").map { job in
            isStep ? job + "." + (variables.name("SLURM_STEP_ID") ?? "") : job
        }
        place.restarts = try variables.number("SLURM_RESTART_COUNT") ?? 0
        if let text = variables["SLURM_STEP_TASKS_PER_NODE"] {
            place.localCount = try Self.tasksPerNode(text, variables)
        }
        place.cores = try variables.count("SLURM_CPUS_PER_TASK")
        if place.cores == nil, let onNode = try variables.count("SLURM_CPUS_ON_NODE") {
            place.cores = max(1, onNode / (place.localCount ?? 1))
        }
        let name = ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"].first { variables[$0] != nil }
        if let name, let list = variables[name] {
            do {
                place.hosts = try HostList(list).hosts
            } catch {
                warnings.append(error.sentence(of: name))
            }
        }
        return place
    }

    /// The tasks on this node, of `2(x3),1`: Slurm's short form of 2,2,2,1.
    private static func tasksPerNode(
        _ text: String, _ variables: Variables
    ) throws(TaskError) -> Int {
        func bad() -> TaskError {
            .badVariable(
                name: "SLURM_STEP_TASKS_PER_NODE", value: Variables.shown(text),
                accepted: "counts as in 2(x3),1")
        }
        var node = try variables.number("SLURM_NODEID") ?? 0
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "(", maxSplits: 1)
            guard let first = parts.first, let tasks = Int(first),
                (1...Variables.most).contains(tasks)
            else { throw bad() }
            var nodes = 1
            if parts.count == 2 {
                guard parts[1].hasPrefix("x"), parts[1].hasSuffix(")"),
                    let times = Int(parts[1].dropFirst().dropLast()),
                    (1...Variables.most).contains(times)
                else { throw bad() }
                nodes = times
            }
            if node < nodes { return tasks }
            node -= nodes
        }
        throw bad()
    }

    /// A pod of an indexed Job. Kubernetes does not tell how many there are.
    private static func kubernetes(_ variables: Variables) throws(TaskError) -> TaskPlace? {
        guard let rank = try variables.number("JOB_COMPLETION_INDEX") else { return nil }
        return TaskPlace(
            launcher: .kubernetes, source: "JOB_COMPLETION_INDEX", rank: rank, count: nil)
    }
}

/// An environment whose values are bounded.
private struct Variables {
    /// More tasks than any machine has.
    static let most = 1 << 20
    private let variables: [String: String]

    init(_ variables: [String: String]) { self.variables = variables }

    /// A variable that is set and not empty.
    subscript(name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What an error shows of a value.
    static func shown(_ text: String) -> String {
        let plain = text.unicodeScalars.prefix(81).map {
            $0.value < 0x20 || $0.value == 0x7F ? "?" : $0
        }
        return String(String.UnicodeScalarView(plain.prefix(80))) + (plain.count > 80 ? "..." : "")
    }

    func number(_ name: String) throws(TaskError) -> Int? {
        try number(name, in: 0...Self.most)
    }

    func count(_ name: String) throws(TaskError) -> Int? {
        try number(name, in: 1...Self.most)
    }

    private func number(_ name: String, in range: ClosedRange<Int>) throws(TaskError) -> Int? {
        guard let text = self[name] else { return nil }
        // Int reads "+3", too, which no launcher writes.
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            throw .badVariable(
                name: name, value: Self.shown(text),
                accepted: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A job's name, if it can stand in a line.
    func name(_ name: String) -> String? {
        guard let text = self[name], text.utf8.count <= 256,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return text
    }
}
