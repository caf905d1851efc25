import Foundation
import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinLaunch
import SkeinTraining
import Synchronization

/// `skein launch`: one command starts a coordinator and its workers, one Ctrl-C stops them.
struct LaunchCommand: Command {
    enum Where: Sendable, Equatable {
        /// This many workers on this machine.
        case local(Int)
        /// A worker on each host of the file.
        case hosts(String)
    }

    struct Options: Sendable, Equatable {
        var place: Where
        var listen: Endpoint
        /// nil: `token` in the output directory.
        var tokenFile: String?
        /// The threads of each worker; nil: its share of this machine's cores, or all of its host.
        var threads: Int?
        var localWorkers: Int
        /// A release that is copied to hosts.
        var release: String?
        /// Whether hosts are only checked.
        var checksHosts: Bool
        var admitsOtherEngines: Bool
        var training: TrainCommand.Options
    }

    static let table = ArgumentTable(
        command: "launch",
        summary: "starts a coordinator and its workers, on this machine or over ssh",
        groups: [
            OptionGroup(
                title: "where",
                options: [
                    ClusterFlags.local.description, ClusterFlags.hosts.description,
                    ClusterFlags.copyBinary.description, ClusterFlags.checkHosts.description,
                    ClusterFlags.launchListen.description, ClusterFlags.launchToken.description,
                ])
        ]
            + ClusterFlags.groups(
                threads: ClusterFlags.launchThreads.description,
                cluster: [
                    ClusterFlags.localWorkers.description,
                    ClusterFlags.admitOtherEngines.description,
                ]),
        example: "skein launch --local 2 --model SmolLM2-135M-Instruct.Q4_1.gguf "
            + "--data pairs.jsonl --output run",
        first: [
            "local", "hosts", "listen", "threads", "model", "data", "output", "resume",
            "max-length", "rank", "learning-rate", "epochs", "iterations", "batch-size",
            "local-workers",
        ])

    let options: Options
    /// Options for the coordinator, as command line words.
    private let coordinatorWords: [String]
    /// Options for every worker, as command line words.
    private let workerWords: [String]

    init(_ arguments: ParsedArguments) throws {
        let command = Self.table.command
        let place: Where
        switch (arguments[ClusterFlags.local], arguments[ClusterFlags.hosts]) {
        case (let count?, nil): place = .local(count)
        case (nil, let path?): place = .hosts(path)
        case (nil, nil): throw UsageError.needsOne(of: ["local", "hosts"], command: command)
        default: throw UsageError.excludes(option: "local", other: "hosts", command: command)
        }
        let listen = arguments[ClusterFlags.launchListen]
        if case .hosts = place {
            guard let listen else {
                throw UsageError.needs(option: "hosts", other: "listen", command: command)
            }
            if listen.isWildcard {
                throw UsageError.notDiallable(address: listen.text, command: command)
            }
        }
        for option in [ClusterFlags.copyBinary.description, ClusterFlags.checkHosts.description]
        where arguments.isGiven(option) && arguments[ClusterFlags.hosts] == nil {
            throw UsageError.needs(option: option.name, other: "hosts", command: command)
        }
        let training = try TrainCommand(arguments).options
        guard training.configuration.patience > PeerTimeouts.lost else {
            throw UsageError.patienceTooShort(training.configuration.patience)
        }
        options = Options(
            place: place, listen: listen ?? Endpoint(host: "127.0.0.1", port: 0),
            tokenFile: arguments[ClusterFlags.launchToken],
            threads: arguments[ClusterFlags.launchThreads],
            localWorkers: arguments[ClusterFlags.localWorkers],
            release: arguments[ClusterFlags.copyBinary],
            checksHosts: arguments[ClusterFlags.checkHosts],
            admitsOtherEngines: arguments[ClusterFlags.admitOtherEngines], training: training)
        let apart = [
            ClusterFlags.launchThreads.description.name, TrainingFlags.resume.description.name,
            // What it means is among the other words.
            TrainingFlags.extend.description.name,
        ]
        coordinatorWords = arguments.words(
            TrainingFlags.groups.flatMap(\.options).filter { !apart.contains($0.name) } + [
                ClusterFlags.localWorkers.description, ClusterFlags.admitOtherEngines.description,
            ])
        workerWords = arguments.words(
            [
                ClusterOptions.table.patience.description, SharedFlags.weights.description,
                SharedFlags.logFormat.description,
            ] + SharedFlags.features)
    }

    func checkOutput() throws {
        if options.checksHosts { return }
        try RunDirectory.check(options.training.output, resuming: options.training.resume)
    }

    func run(_ io: CommandIO) throws {
        let interrupts = InterruptCount()
        io.interrupt.listen(
            first: {},
            second: {
                // A third signal ends a launch that hangs; its children see their pipes close.
                if interrupts.add() > 1 { InterruptFlag.endAtOnce(.interrupted) }
            })
        if options.checksHosts { return try check(hosts(), io) }
        // First, since nothing may be written into a directory that belongs to something else.
        try RunDirectory.check(options.training.output, resuming: options.training.resume)
        var file: HostFile?
        var programs: [String: String] = [:]
        if case .hosts = options.place {
            // Once, since it may be a pipe.
            let hosts = try hosts()
            file = hosts.file
            // Before the token is made: a launch that cannot begin leaves nothing behind.
            programs = try checkBeforeStart(hosts, io)
        }
        let plan = try plan(
            program: ProgramFile.path, tokenFile: try token(),
            cores: SystemProcessors.usable, hosts: file,
            programs: programs)
        var launcher = Launcher(
            plan, computesLocally: options.localWorkers > 0,
            output: Launcher.Output(write: io.writeOutput, writeError: io.writeError),
            interruptCount: { (io.interrupt.isSet ? 1 : 0) + interrupts.count })
        try plan.check(try launcher.run(), directory: options.training.output)
    }

    /// The path of the token file, which is created if missing.
    private func token() throws -> String {
        let output = options.training.output
        let path =
            options.tokenFile ?? FilePath.join(output, "token")
        if !FileManager.default.fileExists(atPath: path) {
            if options.tokenFile == nil { try AtomicFile.makeDirectory(output) }
            try TokenFile.make(at: path)
        }
        _ = try TokenFile(reading: path).bytes
        return path
    }

    /// The hosts of `--hosts`.
    ///
    /// - Throws: `HostFileError`, `CommandError.inputTooLong`, `ForeignFileError`, `FileError`.
    private func hosts() throws -> (file: HostFile, path: String) {
        guard case .hosts(let path) = options.place else {
            throw UsageError.needs(
                option: "check-hosts", other: "hosts", command: Self.table.command)
        }
        let text = try BoundedInput.text(path: path, limit: SkeinLaunch.Limits.hostFileBytes)
        return (try HostFile(String(decoding: text, as: UTF8.self), path: path), path)
    }

    /// The command lines of the coordinator and of all workers.
    ///
    /// - Parameters:
    ///   - program: `skein` on this machine.
    ///   - tokenFile: the run's token.
    ///   - cores: of this machine.
    ///   - hosts: of `--hosts`, if they were read before.
    ///   - programs: `skein` on hosts that a release was copied to, by their names.
    /// - Returns: the plan.
    /// - Throws: `HostFileError`, `CommandError.inputTooLong`, `FileError`.
    func plan(
        program: String, tokenFile: String, cores: Int, hosts: HostFile? = nil,
        programs: [String: String] = [:]
    ) throws -> LaunchPlan {
        let workers: [LaunchPlan.Worker]
        switch options.place {
        case .local(let count):
            workers = LocalBackend(tokenFile: tokenFile).workers(
                count, program: program, model: options.training.model, threads: options.threads,
                cores: cores)
        case .hosts:
            let token = try BoundedInput.read(
                path: tokenFile, limit: SkeinLaunch.Limits.childInputBytes)
            workers = SSHBackend.workers(
                try hosts ?? self.hosts().file, token: token, threads: options.threads,
                programs: programs)
        }
        return LaunchPlan(
            program: program, listen: options.listen.text, tokenFile: tokenFile,
            coordinatorWords: coordinatorWords, resumes: options.training.resume,
            workers: workers, workerWords: workerWords,
            format: options.training.configuration.logFormat)
    }
}

extension ParsedArguments {
    /// Those of `options` that were given, as command line words.
    fileprivate func words(_ options: [OptionDescription]) -> [String] {
        options.flatMap { option -> [String] in
            guard let text = text(of: option) else { return [] }
            if option.isFlag {
                // A configuration file may say true or "on".
                guard case .bool(true)? = option.json(text) else { return [] }
                return ["--" + option.name]
            }
            return ["--\(option.name)=\(text)"]
        }
    }
}

/// Counts the signals after the first.
private final class InterruptCount: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
}
