import SkeinBasics
import SkeinCoordination
import SkeinNodes
import SkeinTraining

/// Options of coordinators, workers and those who start them.
enum ClusterFlags {
    static let listen = Option<Endpoint>(
        "listen", .endpoint, default: "127.0.0.1:7534",
        "where workers dial in; 0.0.0.0 is every address of this machine, port 0 a free one")
    static let tokenFile = Option.optional(
        "token-file", .path("FILE"), absent: "none, on loopback alone",
        "the secret that all share, readable by its owner alone")
    static let coordinator = Option<Endpoint>.required(
        "coordinator", .endpoint, "where the coordinator listens; without a port it is 7534")
    static let localWorkers = Option(
        "local-workers", .integer(0...1024), default: "0",
        "threads of the coordinator's own process that compute, too")
    static let admitOtherEngines = Option.flag(
        "admit-other-engines",
        "WARNING, gives up the one hash: take workers whose engine (version, kernels) "
            + "differs; who computed what then enters the result, and no run can be repeated")

    static let workerName = Option.optional(
        "name", .workerName, absent: "HOST-PID-RANDOM",
        "of this worker in ledger and status; a new worker takes the place of an old one of the "
            + "same name")
    static let workerModel = Option.optional(
        "model", .path(), absent: "fetched from the coordinator",
        "base model: a GGUF file or a Hugging Face folder")
    static let workerPatience = Option<Duration>(
        "patience", .patience, default: "60s",
        "how long to try to reach a coordinator that is gone")

    static let why = Option.flag("why", "print one sentence: what is being waited for, and why")

    static let local = Option.optional(
        "local", .integer(1...256), "start so many workers on this machine")
    static let hosts = Option.optional(
        "hosts", .path("FILE"),
        "start a worker on each host of this file, over ssh: one line each, "
            + "user@host [threads=N] [model=PATH] [skein=PATH] [name=S]")
    static let launchListen = Option.optional(
        "listen", .endpoint, absent: "a free port of 127.0.0.1",
        "where workers dial in; with --hosts an address that the hosts can reach")
    static let launchToken = Option.optional(
        "token-file", .path("FILE"), absent: "token in --output",
        "the secret that all share; it is made when it is not there")
    static let launchThreads = Option.optional(
        "threads", .integer(1...1024),
        absent: "--local: the cores, shared out; --hosts: all of a host's",
        "threads of each worker; the result does not depend on it")

    static let coordinatorThreads = Option.optional(
        "threads", .integer(1...1024), absent: "all cores",
        "of a run in one process; a coordinator computes on --local-workers threads")

    /// The training options for a command that has its own `threads`, with `cluster` added.
    static func groups(
        threads: OptionDescription, cluster: [OptionDescription]
    ) -> [OptionGroup] {
        TrainingFlags.groups.map { group in
            var options = group.options.map { $0.name == threads.name ? threads : $0 }
            if group.title == "cluster" { options = cluster + options }
            return OptionGroup(title: group.title, options: options)
        }
    }
}

extension ValueFormat where Value == String {
    /// A name that can stand in a ledger, a log and a table.
    static var workerName: ValueFormat {
        ValueFormat(
            placeholder: "S", accepted: WorkerName.accepted,
            read: { WorkerName.isValid($0) ? $0 : nil }, json: { .string($0) })
    }
}

extension ValueFormat where Value == Duration {
    /// A patience: longer than the silence after which a peer counts as lost.
    static var patience: ValueFormat {
        ValueFormat(
            placeholder: "TIME", accepted: "a time above 2500ms, like 60s, 5m or 1h",
            read: { text in
                DurationText.duration(of: text).flatMap { $0 > PeerTimeouts.lost ? $0 : nil }
            },
            json: { .string(DurationText.text(of: $0)) })
    }
}

/// The times that follow from no setting; `--patience` must be longer than all of them.
enum PeerTimeouts {
    private static let settings = CoordinatorSettings()
    /// How often each side is heard.
    static let heartbeat = settings.heartbeat
    /// After so much silence a peer is suspected: it gets no new work.
    static let suspect = settings.suspectAfter
    /// After so much silence a peer counts as lost.
    static let lost = settings.lostAfter

    /// `every 0.5 s, ...`, the times in their order.
    static func sentence(patience: Duration) -> String {
        "peers: heard every \(text(heartbeat)), suspected after \(text(suspect)) of silence, lost "
            + "after \(text(lost)); patience \(text(patience))"
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return (seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)") + " s"
    }
}

extension ValueFormat where Value == Endpoint {
    static var endpoint: ValueFormat {
        ValueFormat(
            placeholder: "HOST:PORT", accepted: "HOST:PORT, such as 10.0.0.5:7534",
            read: { Endpoint($0) }, json: { .string($0.text) })
    }
}
