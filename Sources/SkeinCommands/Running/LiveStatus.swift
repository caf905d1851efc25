import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinWatch

/// What `--status` and `--status-token-file` ask for.
struct LiveStatus: Sendable, Equatable {
    var address: Endpoint
    var tokenFile: String?

    /// - Throws: `UsageError` when others can reach the address and there is no token.
    init?(_ arguments: ParsedArguments) throws {
        let tokenFile = arguments[TrainingFlags.statusTokenFile]
        let (name, token) = (
            TrainingFlags.status.description.name, TrainingFlags.statusTokenFile.description.name
        )
        guard let address = arguments[TrainingFlags.status] else {
            if tokenFile == nil { return nil }
            throw UsageError.needs(option: token, other: name, command: arguments.table.command)
        }
        if tokenFile == nil, !address.isLoopback {
            throw UsageError.needs(
                option: "\(name)=\(address.text)", other: token,
                command: arguments.table.command)
        }
        self.address = address
        self.tokenFile = tokenFile
    }

    /// Begins to show a run, before anything of it is read: an address that cannot be used is an
    /// error at once.
    ///
    /// - Parameters:
    ///   - board: the run.
    ///   - clusterToken: the secret of the workers, which must be another.
    /// - Returns: What shows it, until it is stopped.
    /// - Throws: `NodeError`, `WatchError`, `SocketError`.
    func open(_ board: RunBoard, clusterToken: [UInt8]? = nil) throws -> StatusServer {
        let token = try tokenFile.map { path in
            try StatusOptions.token(
                TokenFile(reading: path).bytes, path: path, clusterToken: clusterToken)
        }
        return try StatusServer(
            board: board, options: StatusOptions(listen: address.text, token: token))
    }

    /// Tells where to look.
    func tell(_ server: StatusServer, _ log: Log) {
        let more = tokenFile.map { "#token=SECRET, with the secret in \($0)" } ?? ""
        log.info(
            "status: \(server.url)\(more)",
            [("event", .text("status")), ("url", .text(server.url))])
    }
}
