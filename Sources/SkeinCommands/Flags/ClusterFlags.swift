import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinJSON
import SkeinTraining

/// Options of the commands that start a cluster or ask for its status.
enum ClusterFlags {
    static let listen = Option<Endpoint>(
        "listen", .endpoint, default: "127.0.0.1:7534",
        "address that workers connect to; 0.0.0.0: every address of this machine; port 0: a free port"
    )
    static let tokenFile = Option.optional(
        "token-file", .path("FILE"), absent: "none, which only loopback allows",
        "file with the shared secret, readable only by its owner")
    static let coordinator = Option<Endpoint>.required(
        "coordinator", .endpoint, "address of the coordinator; the default port is 7534")
    static let localWorkers = Option(
        "local-workers", .integer(CoordinatorOptions.localWorkerRange), default: "0",
        "compute threads in the coordinator's own process")
    static let admitOtherEngines = Option.flag(
        "admit-other-engines",
        "admit workers with a different engine (version, kernels); WARNING: the result then "
            + "depends on which worker computed what, and no run can be repeated")

    static let workerName = Option.optional(
        "name", .workerName, absent: "HOST-PID-RANDOM",
        "name in ledger and status; a new worker replaces an old one of the same name")
    static let workerModel = Option.optional(
        "model", .path(), absent: "fetched from the coordinator",
        "base model: a GGUF file, a Hugging Face folder, or ORG/NAME[@revision][:file.gguf] of the "
            + "Hub")
    static let workerPatience = Option<Duration>(
        "patience", .patience, default: "60s",
        "how long to try to reach the coordinator")

    static let why = Option.flag("why", "print one sentence: what the run is waiting for, and why")

    static let local = Option.optional(
        "local", .integer(1...256), "start N workers on this machine")
    static let hosts = Option.optional(
        "hosts", .path("FILE"),
        "start a worker on each host of this file, over ssh: one line each, "
            + "user@host [threads=N] [model=PATH] [skein=PATH] [name=S]; all are checked first")
    static let copyBinary = Option.optional(
        "copy-binary", .path("TAR"), absent: "each host uses its own skein",
        "copy this release, made by Scripts/package, to hosts that do not have it, and use it there"
    )
    static let checkHosts = Option.flag(
        "check-hosts", "check the hosts of --hosts, print what they have, and exit")
    static let launchListen = Option.optional(
        "listen", .endpoint, absent: "a free port of 127.0.0.1",
        "address that workers connect to; with --hosts, one that the hosts can reach")
    static let launchToken = Option.optional(
        "token-file", .path("FILE"), absent: "token in --output",
        "file with the shared secret; created if missing")
    static let launchThreads = SharedFlags.threads.described(
        absent: "--local: the cores divided by N; --hosts: all cores of the host",
        "threads of each worker; they do not change the result")

    static let coordinatorThreads = SharedFlags.threads.described(
        "used by train; a coordinator computes on --local-workers threads")

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
    /// A name that is safe in a ledger, a log and a table.
    static var workerName: ValueFormat {
        ValueFormat(
            placeholder: "S", accepted: WorkerName.accepted,
            read: { WorkerName.isValid($0) ? $0 : nil }, json: { .text($0) })
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
            json: { .text(DurationText.text(of: $0)) })
    }
}

/// The timeouts that cannot be set; `--patience` must be longer than all of them.
enum PeerTimeouts {
    private static let settings = CoordinatorSettings()
    /// How often each side sends a heartbeat.
    static let heartbeat = settings.heartbeat
    /// A peer that is silent for this long is suspect: it gets no new work.
    static let suspect = settings.suspectAfter
    /// A peer that is silent for this long counts as lost.
    static let lost = settings.lostAfter

    /// `peers: heartbeat every 0.5 s, ...`, in ascending order.
    static func sentence(patience: Duration) -> String {
        "peers: heartbeat every \(text(heartbeat)), suspect after \(text(suspect)) of silence, "
            + "lost after \(text(lost)); patience \(text(patience))"
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return (seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)") + " s"
    }
}

extension ValueFormat where Value == Endpoint {
    /// A coordinator's.
    package static var endpoint: ValueFormat { endpoint("10.0.0.5", Endpoint.defaultPort) }

    /// - Parameters:
    ///   - host: of the example.
    ///   - port: where there is none.
    /// - Returns: how `HOST:PORT` is read.
    static func endpoint(_ host: String, _ port: Int) -> ValueFormat {
        ValueFormat(
            placeholder: "HOST:PORT", accepted: "HOST:PORT, such as \(host):\(port)",
            read: { Endpoint($0, defaultPort: port) }, json: { .text($0.text) })
    }
}
