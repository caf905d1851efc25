import SkeinBasics
import SkeinLaunch
import SkeinTraining

/// What a task of a job does.
enum JoinRole: String, Sendable, CaseIterable { case auto, coordinator, worker }

/// The options of `join` besides those of `coordinator`.
enum JoinFlags {
    static let launcher = Option.optional(
        "launcher", ValueFormat<TaskLauncher>.choice, absent: "found by the environment",
        "which launcher's variables say what task this is")
    static let role = Option<JoinRole>(
        "role", .choice, default: "auto",
        "auto: rank 0 coordinates, the others work; coordinator or worker, whatever the rank, for "
            + "instance in an array of jobs")
    static let taskRank = Option.optional(
        "task-rank", .integer(0...(1 << 20)), absent: "the launcher's",
        "this task's number, from 0")
    static let taskCount = Option.optional(
        "task-count", .integer(1...(1 << 20)), absent: "the launcher's", "how many tasks there are")
    static let rendezvous = Option.optional(
        "rendezvous", .path("DIR"), absent: "join in --output",
        "folder that all tasks share, where the coordinator leaves its address and a token")
    static let coordinator = Option.optional(
        "coordinator", .endpoint, absent: "SKEIN_COORDINATOR, else by --rendezvous",
        "where the coordinator will be reached; needed without a shared folder")
    static let listen = Option.optional(
        "listen", .endpoint, absent: "the port of --coordinator, else a free one, on all addresses",
        "where the coordinator listens")
    static let tokenFile = Option.optional(
        "token-file", .path("FILE"), absent: "made in --rendezvous",
        "file with the shared secret, readable only by its owner")
    static let name = ClusterFlags.workerName.described(
        absent: "taskN, N its rank", "a worker's name in ledger and status")
    static let localWorkers = Option.optional(
        "local-workers", .integer(0...1024),
        absent: "the task's cores but one for every 16 other tasks",
        "compute threads in the coordinator's own process")
    static let printEnvironment = Option.flag(
        "print-environment", "print what was found out about this task, and exit")
    static let json = Option.flag("json", "print it as JSON")

    static let model = optional(
        SharedFlags.model.description,
        SharedFlags.model.description.help
            + "; a worker without this file fetches it from the coordinator")
    static let data = optional(
        TrainingFlags.data.description, TrainingFlags.data.description.help + "; read by rank 0")
    static let output = optional(
        TrainingFlags.output.description,
        "run directory; created if missing; a run that is there is resumed")

    static let resume = TrainingFlags.resume.described(
        "always so: accepted for command lines of coordinator")

    /// Needed by the coordinator alone.
    private static func optional(
        _ option: OptionDescription, _ help: String
    ) -> Option<String?> {
        Option.optional(option.name, .path(option.placeholder), help)
    }

    static let threads = SharedFlags.threads.described(
        absent: "the launcher's cores for this task, else its share of the host's",
        "threads that compute; they do not change the result")

    static let groups =
        [
            OptionGroup(
                title: "what",
                options: [
                    model.description, data.description, output.description, resume.description,
                ]),
            OptionGroup(
                title: "task",
                options: [
                    launcher.description, role.description, taskRank.description,
                    taskCount.description, rendezvous.description, coordinator.description,
                    listen.description, tokenFile.description, name.description,
                    printEnvironment.description, json.description,
                ]),
        ]
        + ClusterFlags.groups(
            threads: threads.description,
            cluster: [localWorkers.description, ClusterFlags.admitOtherEngines.description]
        ).filter { $0.title != "what" }
}
