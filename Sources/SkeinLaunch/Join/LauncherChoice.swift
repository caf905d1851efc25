/// Which of several launchers started this process. Pure.
///
/// Every launcher passes the environment on, so variables of outer launchers, and what a batch
/// script exports, reach every task. A wrong choice makes two tasks coordinate. What tells:
///
/// 1. Its ancestors: the nearest one that is a launcher's process has started this task.
/// 2. Else, of the launchers that have set what only they set, the innermost by custom: torchrun
///    (`TORCHELASTIC_RUN_ID`), MPI, a step of Slurm, a pod.
/// 3. Else `RANK` and `WORLD_SIZE` without torchrun's own sign, then Slurm's batch script.
///
/// `RANK` and `WORLD_SIZE` without that sign may have been exported before the launcher started its
/// tasks, or set by something inside of them. If the counts are equal, both speak of the same
/// tasks, and the launcher's rank is right. If not, it cannot be known.
struct LauncherChoice {
    private(set) var taken: TaskPlace?
    /// Which one was taken, if several would do.
    private(set) var note: String?
    private(set) var warnings: [String] = []
    private(set) var contradiction: TaskError?

    /// - Parameters:
    ///   - found: what each launcher says, from the inside out.
    ///   - ancestors: names of processes, the parent first.
    init(_ found: [TaskPlace], ancestors: [String]) {
        let starter = Self.launcher(of: ancestors).flatMap { nearest in
            found.contains { $0.launcher == nearest } ? nearest : nil
        }
        let candidates = found.filter {
            starter == nil || $0.launcher == starter || $0.mayBeAnybodys
        }
        guard var taken = candidates.first(where: \.isOfItsLauncher) ?? candidates.first else {
            return
        }
        let others = found.filter { $0 != taken }
        for other in others { compare(other, with: taken, isProved: taken.launcher == starter) }
        // What a batch script exports is meant for the tasks of its job: all must dial the same.
        taken.address = taken.address ?? others.first(where: \.mayBeAnybodys)?.address
        self.taken = taken
        note = Self.note(taken, others)
    }

    /// - Parameters:
    ///   - other: what another launcher says, or `RANK` without one.
    ///   - taken: what was taken.
    ///   - isProved: whether the ancestors say so.
    private mutating func compare(_ other: TaskPlace, with taken: TaskPlace, isProved: Bool) {
        let isSameCount = taken.count == nil || other.count == nil || taken.count == other.count
        if taken.rank == other.rank, isSameCount { return }
        if other.launcher == taken.launcher {
            contradiction = contradiction ?? .contradiction(other, taken)
        } else if other.mayBeAnybodys {
            if let count = taken.count, count == other.count {
                warn(other, taken)
            } else {
                contradiction = contradiction ?? .contradiction(other, taken)
            }
        } else if isProved, Self.isInner(other, than: taken) {
            warn(other, taken)
        }
        // Else it is an outer launcher's, whose tasks are others.
    }

    private mutating func warn(_ other: TaskPlace, _ taken: TaskPlace) {
        warnings.append(
            "\(other.statement) is not this task's: \(taken.launcher?.title ?? "") started it "
                + "(\(taken.statement)); it was exported before, and is ignored")
    }

    private static func isInner(_ other: TaskPlace, than taken: TaskPlace) -> Bool {
        let order = TaskLauncher.allCases
        guard let first = other.launcher.flatMap(order.firstIndex(of:)),
            let second = taken.launcher.flatMap(order.firstIndex(of:))
        else { return false }
        return first < second
    }

    private static func note(_ taken: TaskPlace, _ others: [TaskPlace]) -> String? {
        guard !others.isEmpty else { return nil }
        let names = others.map { "\($0.launcher?.title ?? "") (\($0.source ?? "") = \($0.rank))" }
        let isInner = others.allSatisfy { Self.isInner(taken, than: $0) }
        return "taken: \(taken.launcher?.title ?? "") (\(taken.source ?? "") = \(taken.rank)), "
            + (isInner ? "the inner launcher" : "which started this task")
            + "; the environment also has \(names.joined(separator: " and "))"
    }

    /// The launcher whose process is the nearest ancestor; nil if there is none, or something that
    /// may be one: torchrun's agent, Ray and others are programs in Python.
    static func launcher(of ancestors: [String]) -> TaskLauncher? {
        for name in ancestors {
            if processes.contains(name) { return .mpi }
            if name == "slurmstepd" { return .slurm }
            if name == "torchrun" { return .torchrun }
            if name.hasPrefix("python") || name.hasPrefix("pt_") { return nil }
        }
        return nil
    }

    /// Those that start MPI's tasks: Open MPI 4 and 5, and Hydra. The system cuts a name after 15
    /// bytes.
    private static let processes: Set<String> = [
        "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "prte", "mpiexec.hydra",
        "hydra_pmi_proxy", "hydra_bstrap_pr",
    ]
}
