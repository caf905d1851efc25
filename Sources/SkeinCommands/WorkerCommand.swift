import Skein
import SkeinBasics
import SkeinCluster
import SkeinTraining

/// `skein worker`: computes gradients for a coordinator.
struct WorkerCommand: Command {
    struct Options: Sendable, Equatable {
        var coordinator: Endpoint
        /// nil: no token, allowed only on loopback.
        var tokenFile: String?
        /// nil: fetched from the coordinator, by hash.
        var model: String?
        var threads: Int?
        /// nil: HOST-PID-RANDOM.
        var name: String?
        var patience: Duration
        var weights: ResidenceChoice
        var features: FeatureSettings?
    }

    static let table = ArgumentTable(
        command: "worker",
        summary: "computes gradients for a coordinator",
        groups: [
            OptionGroup(
                title: "where",
                options: [
                    ClusterFlags.coordinator.description, ClusterFlags.tokenFile.description,
                    ClusterFlags.workerName.description, ClusterFlags.workerPatience.description,
                ]),
            OptionGroup(
                title: "machine",
                options: [ClusterFlags.workerModel.description] + SharedFlags.machine.options
                    + SharedFlags.features),
        ],
        example: "skein worker --coordinator 10.0.0.5:7534 --token-file token --threads 4")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            coordinator: try arguments.coordinator(),
            tokenFile: arguments[ClusterFlags.tokenFile],
            model: arguments[ClusterFlags.workerModel], threads: arguments[SharedFlags.threads],
            name: arguments[ClusterFlags.workerName],
            patience: arguments[ClusterFlags.workerPatience],
            weights: arguments[SharedFlags.weights],
            features: try arguments.featureSettings(command: Self.table.command))
    }

    func run(_ io: CommandIO) throws {
        let status = WorkerStatus()
        try io.reporting(status) { try run(io, status, shouldDrain: $0) }
    }

    private func run(
        _ io: CommandIO, _ status: WorkerStatus, shouldDrain: @escaping @Sendable () -> Bool
    ) throws {
        let token = try options.tokenFile.map { try TokenFile(reading: $0).bytes }
        let (log, interrupt) = (io.log, io.interrupt)
        interrupt.listen {
            log.warning("leaving after the current work; interrupt again to stop at once")
        }
        let outcome = try Worker(
            WorkerOptions(
                coordinator: options.coordinator.text, token: token, modelPath: options.model,
                threads: options.threads, name: options.name, patience: options.patience,
                weights: options.weights, features: options.features),
            log: log
        ).work(on: status, until: shouldDrain)
        switch outcome {
        case .complete: log.info("the run is complete")
        case .drained: log.info("left the run")
        }
    }
}

extension ParsedArguments {
    /// Where a worker keeps features; nil: nowhere.
    ///
    /// - Parameter command: for the error.
    /// - Returns: the settings.
    /// - Throws: `UsageError.needs` for their place or limit without `--reuse-features on`.
    fileprivate func featureSettings(command: String) throws -> FeatureSettings? {
        let options = MachineOptions.table
        guard self[options.reuseFeatures] == true else {
            for option in [options.featureDir.description, options.featureDisk.description]
            where isGiven(option) {
                throw UsageError.needs(
                    option: option.name, other: "\(options.reuseFeatures.description.name) on",
                    command: command)
            }
            return nil
        }
        return FeatureSettings(
            directory: self[options.featureDir], mebibytes: self[options.featureDisk])
    }

    /// The coordinator to dial.
    ///
    /// - Throws: `UsageError` for port 0, a wildcard, or another machine's address without a token.
    func coordinator() throws -> Endpoint {
        try dialled(self[ClusterFlags.coordinator])
    }

    /// The same of an address that stands elsewhere.
    ///
    /// - Throws: `UsageError`, likewise.
    func dialled(_ endpoint: Endpoint) throws -> Endpoint {
        guard endpoint.port > 0, !endpoint.isWildcard else {
            throw UsageError.badValue(
                option: "coordinator", value: endpoint.text,
                accepted: "the address that the coordinator printed", suggestion: nil)
        }
        if self[ClusterFlags.tokenFile] == nil, !endpoint.isLoopback {
            throw UsageError.tokenNeeded(
                option: "coordinator", address: endpoint.text, command: table.command)
        }
        return endpoint
    }
}
