import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinLaunch
import SkeinTraining

/// What a task does, decided from its options and its environment. Pure.
struct JoinPlan: Sendable, Equatable {
    /// What a machine lets a process use.
    struct Cores: Sendable, Equatable {
        /// Those on which this process may run.
        var usable: Int
        /// Those of the host.
        var online: Int
        /// Those that a container's quota pays for; nil: all.
        var quota: Int?
    }

    static let addressVariable = "SKEIN_COORDINATOR"
    /// Tasks for which a core of the coordinator's host has enough to do.
    static let tasksPerCore = 16

    var isCoordinator: Bool
    /// nil: the role was given, and nothing else says what task this is.
    var place: TaskPlace?
    /// Which launcher was taken where several would do.
    var choice: String?
    var warnings: [String]
    /// Where the coordinator is, if that is known beforehand.
    var address: Endpoint?
    /// Who said so.
    var addressSource: String?
    /// nil: there is none, since nothing is to be found there.
    var rendezvous: Rendezvous?
    /// The token's file; nil: none is needed.
    var tokenFile: String?
    /// Whether the coordinator makes it.
    var makesToken: Bool
    /// Where the coordinator listens.
    var listen: Endpoint
    var threads: Int
    /// How many of the threads compute in the coordinator's own process.
    var localWorkers: Int
    /// Whether every worker has the name that follows from its rank.
    var hasRankNames: Bool
    /// A worker's name; nil: made of host, process and a random number.
    var name: String?

    /// - Parameters:
    ///   - arguments: of `join`.
    ///   - environment: of the process.
    ///   - cores: of this host.
    ///   - ancestors: the names of the processes that this one descends from, its parent first.
    /// - Throws: `TaskError`, `UsageError`.
    init(
        _ arguments: ParsedArguments, environment: [String: String], cores: Cores,
        ancestors: [String] = []
    ) throws {
        let role = arguments[JoinFlags.role]
        let found = try Self.place(arguments, environment, ancestors)
        (place, choice, warnings) = (found.place, found.choice, found.warnings)
        switch role {
        case .coordinator: isCoordinator = true
        case .worker: isCoordinator = false
        case .auto:
            guard let place else { throw TaskError.noLauncher }
            isCoordinator = place.rank == 0
        }

        let own = arguments[JoinFlags.tokenFile]
        let folder =
            arguments[JoinFlags.rendezvous]
            ?? arguments[JoinFlags.output].map {
                FilePath.join($0, RunDirectory.rendezvousName)
            }
        let given = try Self.givenAddress(arguments, environment)
        // An address that only the launcher knows is needed only without a folder: another program
        // may listen on that port.
        let needsFolder =
            arguments[JoinFlags.rendezvous] != nil
            || (own == nil && !(given?.endpoint.isLoopback ?? false))
            || (given == nil && Self.launchersAddress(place, arguments) == nil)
        rendezvous = needsFolder ? folder.map { Rendezvous(directory: $0) } : nil
        let known = given ?? (rendezvous == nil ? Self.launchersAddress(place, arguments) : nil)
        (address, addressSource) = (known?.endpoint, known?.source)
        if needsFolder, folder == nil {
            if let address { throw TaskError.noToken(address: address.text) }
            throw TaskError.noPlace(detail: "nothing says where the tasks find each other")
        }
        tokenFile = own ?? rendezvous?.tokenFile
        makesToken = own == nil && rendezvous != nil
        listen =
            arguments[JoinFlags.listen]
            ?? address.map {
                $0.isLoopback ? $0 : Endpoint(host: "0.0.0.0", port: $0.port)
            } ?? Endpoint(host: "0.0.0.0", port: 0)

        let wanted = arguments[JoinFlags.threads] ?? Self.threads(place, cores)
        threads = min(wanted, CoordinatorOptions.localWorkerRange.upperBound)
        if threads < wanted {
            warnings.append("of \(wanted) cores \(threads) are used, the most that a process takes")
        }
        let others = max(0, (place?.count ?? 1) - 1)
        localWorkers =
            arguments[JoinFlags.localWorkers]
            ?? max(
                others < Self.tasksPerCore ? 1 : 0, threads - others / Self.tasksPerCore)
        // A role that was given goes to tasks that may all have the same rank.
        hasRankNames = role == .auto && arguments[JoinFlags.name] == nil
        name = arguments[JoinFlags.name] ?? (role == .auto ? place.map { "task\($0.rank)" } : nil)
    }

    private static func place(
        _ arguments: ParsedArguments, _ variables: [String: String], _ ancestors: [String]
    ) throws -> (place: TaskPlace?, choice: String?, warnings: [String]) {
        let (rank, count) = (arguments[JoinFlags.taskRank], arguments[JoinFlags.taskCount])
        if let rank {
            if let count, rank >= count {
                throw TaskError.rankBeyondCount(rank: rank, count: count, source: "--task-rank")
            }
            return (TaskPlace(launcher: nil, rank: rank, count: count), nil, [])
        }
        if count != nil {
            throw UsageError.needs(
                option: JoinFlags.taskCount.description.name,
                other: JoinFlags.taskRank.description.name, command: "join")
        }
        let environment = try TaskEnvironment(
            variables, launcher: arguments[JoinFlags.launcher], ancestors: ancestors)
        // A role that is given does not depend on the rank.
        if arguments[JoinFlags.role] == .auto, let contradiction = environment.contradiction {
            throw contradiction
        }
        return (environment.taken, environment.choice, environment.warnings)
    }

    private static func givenAddress(
        _ arguments: ParsedArguments, _ environment: [String: String]
    ) throws -> (endpoint: Endpoint, source: String)? {
        if let endpoint = arguments[JoinFlags.coordinator] {
            return (try diallable(endpoint, "--coordinator"), "--coordinator")
        }
        guard let text = environment[addressVariable], !text.isEmpty else { return nil }
        guard let endpoint = Endpoint(text) else {
            throw UsageError.badEnvironment(
                variable: addressVariable, value: PlainText.of(text, atMost: 80),
                accepted: ["HOST:PORT"])
        }
        return (try diallable(endpoint, addressVariable), addressVariable)
    }

    private static func diallable(_ endpoint: Endpoint, _ source: String) throws -> Endpoint {
        guard endpoint.port > 0, !endpoint.isWildcard else {
            guard source != addressVariable else {
                throw UsageError.badEnvironment(
                    variable: addressVariable, value: endpoint.text,
                    accepted: ["an address that others can dial"])
            }
            throw UsageError.badValue(
                option: "coordinator", value: endpoint.text,
                accepted: "an address that others can dial", suggestion: nil)
        }
        return endpoint
    }

    /// The address that follows from what the launcher says.
    private static func launchersAddress(
        _ place: TaskPlace?, _ arguments: ParsedArguments
    ) -> (endpoint: Endpoint, source: String)? {
        guard let place else { return nil }
        if let address = place.address { return (address, "MASTER_ADDR and MASTER_PORT") }
        guard let host = place.hosts.first, let listen = arguments[JoinFlags.listen],
            listen.port > 0
        else { return nil }
        return (Endpoint(host: host, port: listen.port), "the job's first host and --listen")
    }

    /// All of this task's cores: what the launcher gave it, or bound it to, or else its share.
    private static func threads(_ place: TaskPlace?, _ cores: Cores) -> Int {
        if let given = place?.cores { return given }
        let tasks = max(1, place?.localCount ?? 1)
        // A launcher binds each task to cores of its own. A quota is one for all tasks of a container.
        let bound = cores.usable < cores.online ? cores.usable : cores.usable / tasks
        return max(1, min(bound, (cores.quota ?? .max) / tasks))
    }
}

// For people and scripts.
extension JoinPlan {
    /// What was found out, a line each.
    var lines: [(name: String, text: String)] {
        var lines: [(String, String)] = []
        if let place {
            lines.append(
                (
                    "launcher",
                    (place.launcher?.title ?? "none") + (place.source.map { " (\($0))" } ?? "")
                ))
            lines.append(("task", place.title))
            if let job = place.job { lines.append(("job", job)) }
            if place.restarts > 0 { lines.append(("restarts", "\(place.restarts)")) }
            if !place.hosts.isEmpty {
                let shown = place.hosts.prefix(8).joined(separator: " ")
                lines.append(
                    (
                        "hosts",
                        "\(place.hosts.count): \(shown)" + (place.hosts.count > 8 ? " ..." : "")
                    ))
            }
        } else {
            lines.append(("launcher", "none"))
        }
        lines.append(("role", isCoordinator ? "coordinator" : "worker"))
        lines.append(
            (
                "address",
                address.map { "\($0.text) (\(addressSource ?? ""))" }
                    ?? "in \(rendezvous?.noticeFile ?? "")"
            ))
        if isCoordinator { lines.append(("listen", listen.text)) }
        lines.append(("token", (tokenFile ?? "none") + (makesToken ? " (made by rank 0)" : "")))
        lines.append(
            (
                "threads",
                isCoordinator ? "\(localWorkers) of \(threads)" : "\(threads)"
            ))
        if !isCoordinator, let name { lines.append(("name", name)) }
        if let choice { lines.append(("note", choice)) }
        for warning in warnings { lines.append(("warning", warning)) }
        return lines
    }

    var json: [(String, JSONValue)] {
        func text(_ value: String?) -> JSONValue { value.map { .text($0) } ?? .null }
        func number(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
        return [
            ("launcher", text(place?.launcher?.rawValue)), ("rank", number(place?.rank)),
            ("task_count", number(place?.count)), ("local_task_count", number(place?.localCount)),
            ("job", text(place?.job)), ("restarts", number(place?.restarts)),
            ("hosts", .list((place?.hosts ?? []).map { .text($0) })),
            ("role", .text(isCoordinator ? "coordinator" : "worker")),
            ("address", text(address?.text)), ("rendezvous", text(rendezvous?.directory)),
            ("token_file", text(tokenFile)), ("threads", .integer(threads)),
            ("local_workers", number(isCoordinator ? localWorkers : nil)),
            ("name", text(isCoordinator ? nil : name)), ("note", text(choice)),
            ("warnings", .list(warnings.map { .text($0) })),
        ]
    }
}
