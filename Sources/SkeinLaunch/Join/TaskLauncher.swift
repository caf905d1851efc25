import SkeinBasics

/// What started this process as one of several tasks, each with a rank.
package enum TaskLauncher: String, Sendable, CaseIterable {
    case torchrun, mpi, slurm, kubernetes

    /// Its name for people.
    package var title: String {
        switch self {
        case .torchrun: "torchrun"
        case .mpi: "MPI"
        case .slurm: "Slurm"
        case .kubernetes: "Kubernetes"
        }
    }
}

/// Where a task stands among the tasks of its job.
package struct TaskPlace: Sendable, Equatable {
    /// nil: none; the command line gave the rank.
    package var launcher: TaskLauncher?
    /// The variable that named the rank; nil: the command line did.
    package var source: String?
    /// The variable that named the count; nil: none, or the command line did.
    package var countSource: String?
    /// Whether the launcher itself set these variables for this task, as far as they tell: not so
    /// for a `RANK` that a user or a script may have exported, and for a batch script's own number.
    package var isOfItsLauncher = true
    /// 0 coordinates.
    package var rank: Int
    /// How many tasks there are; nil: the launcher does not say.
    package var count: Int?
    /// How many of them are on this host; nil: the launcher does not say.
    package var localCount: Int?
    /// The cores that the launcher gave to this task; nil: it does not say.
    package var cores: Int?
    /// The job's name at its launcher.
    package var job: String?
    /// How often the job, or this task's group, was started again.
    package var restarts = 0
    /// Where rank 0 can be reached, if the launcher says so.
    package var address: Endpoint?
    /// The hosts of the job in the launcher's order, the first one rank 0's.
    package var hosts: [String] = []

    package init(launcher: TaskLauncher?, source: String? = nil, rank: Int, count: Int?) {
        self.launcher = launcher
        self.source = source
        self.rank = rank
        self.count = count
    }

    /// Whether these are torchrun's variables without its sign: Kubeflow, Ray and many scripts set
    /// them, too.
    var mayBeAnybodys: Bool { launcher == .torchrun && !isOfItsLauncher }

    /// "SLURM_PROCID = 1, SLURM_NTASKS = 3".
    package var statement: String {
        let counted = countSource.flatMap { name in count.map { ", \(name) = \($0)" } } ?? ""
        return "\(source ?? "the rank") = \(rank)\(counted)"
    }

    /// "task 1 of 3".
    package var title: String { "task \(rank)" + (count.map { " of \($0)" } ?? "") }
}
