import SkeinBasics

/// Why a task cannot take its place in a job.
package enum TaskError: Error, Equatable {
    /// Nothing says which task this is.
    case noLauncher
    /// `--launcher` names one that has set none of its variables.
    case launcherNotFound(TaskLauncher, variables: [String])
    /// A variable of a launcher that cannot be read.
    case badVariable(name: String, value: String, accepted: String)
    case rankBeyondCount(rank: Int, count: Int, source: String)
    /// Two launchers' variables give this task different places, and either may have started it.
    case contradiction(TaskPlace, TaskPlace)
    /// Two tasks say that they are rank 0.
    case twoCoordinators(own: TaskCard, other: TaskCard?, directory: String)
    /// Whether another task coordinates cannot be told from the notice in the folder.
    case unclearNotice(file: String, detail: String)
    /// The coordinator's address was not found within `seconds`: `last` is what the folder said at
    /// the end, `seen` are the other tasks that left a card there.
    case noAddress(file: String, seconds: Double, host: String, last: String, seen: [Int])
    /// A worker needs a place to find the coordinator.
    case noPlace(detail: String)
    /// An address without a folder to find a token in, and no token.
    case noToken(address: String)
    /// The run failed at its coordinator.
    case runFailed(detail: String, file: String)
}

extension TaskError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy, status) = sentences
        return Explanation(what: what, place: place, remedy: remedy, status: status)
    }

    private static func remedy(_ first: TaskPlace, _ second: TaskPlace) -> String {
        let names = [first.source, first.countSource].compactMap { $0 }.joined(separator: " and ")
        let ways = [first, second].compactMap { $0.launcher?.rawValue }.map { "--launcher \($0)" }
        // None of one launcher's two numbers can be chosen.
        let choice = first.launcher == second.launcher ? [] : ways
        return "unset \(names) if a script exports it for all tasks; else give "
            + (choice + ["--task-rank and --task-count"]).joined(separator: ", or ")
    }

    private var sentences: (what: String, place: String, remedy: String, status: ExitStatus) {
        switch self {
        case .noLauncher:
            (
                "nothing in the environment says which task this is", "skein join",
                "start it with srun, mpirun, torchrun or as an indexed Job; or give --task-rank and "
                    + "--task-count, or --role coordinator on one host and --role worker on the others",
                .usage
            )
        case .launcherNotFound(let launcher, let variables):
            (
                "\(launcher.title) has not started this task: the environment has no "
                    + variables.joined(separator: " and no "),
                "--launcher \(launcher.rawValue)",
                "leave out --launcher, or start it by that launcher",
                .usage
            )
        case .badVariable(let name, let value, let accepted):
            (
                "\(name) is \"\(value)\", not \(accepted)", "the environment",
                "set it as the launcher does, or unset it and give --task-rank and --task-count",
                .usage
            )
        case .rankBeyondCount(let rank, let count, let source):
            (
                "rank \(rank) is not one of \(count) tasks, which are counted from 0", source,
                "give each task a rank from 0 to \(count - 1)", .usage
            )
        case .contradiction(let first, let second):
            (
                "\(first.statement) (\(first.launcher?.title ?? "")) contradicts "
                    + "\(second.statement) (\(second.launcher?.title ?? "")), and nothing says "
                    + "which of them is this task's", "the environment",
                Self.remedy(first, second), .usage
            )
        case .twoCoordinators(let own, let other, let directory):
            (
                "two tasks say that they are rank 0: this one (\(own.title)) and "
                    + (other?.title ?? "another one that still runs"),
                directory,
                "give each task a rank of its own; if the tasks are jobs of their own, such as those of "
                    + "an array, give all but one --role worker",
                // Another start's, or that of a host that has died, may be gone the next time.
                other.map(own.isRival) ?? false ? .badData : .inputOutput
            )
        case .unclearNotice(let file, let detail):
            (
                "whether another task has become the coordinator cannot be told: what is written here "
                    + "cannot be used: \(detail)", file,
                "see whether another task coordinates, perhaps one with a newer skein; if none does, "
                    + "remove the file, and start this one again", .inputOutput
            )
        case .noAddress(let file, let seconds, let host, let last, let seen):
            (
                "no coordinator was found within \(Figures.seconds(seconds)): \(last); "
                    + (seen.isEmpty
                        ? "no other task was seen in that folder"
                        : "in that folder were seen: task "
                            + seen.prefix(8).map { "\($0)" }.joined(separator: ", ")
                            + (seen.count > 8 ? " and \(seen.count - 8) more" : "")),
                file,
                "check that rank 0 runs (its log says why if it has ended), and that the folder is on a "
                    + "file system that its host shares with this one (\(host)); else give "
                    + "--coordinator HOST:PORT and --token-file to all tasks", .peerGone
            )
        case .noPlace(let detail):
            (
                detail, "skein join",
                "give --output or --rendezvous, a folder that all tasks share, or --coordinator HOST:PORT",
                .usage
            )
        case .noToken(let address):
            (
                "the coordinator's address \(address) is given, but no token", "skein join",
                "give --token-file FILE, the same secret for all tasks, or --rendezvous DIR, a folder "
                    + "that all tasks share", .usage
            )
        case .runFailed(let detail, let file):
            ("the run has failed: \(detail)", file, "see the coordinator's log", .peerGone)
        }
    }
}
