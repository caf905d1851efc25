import Foundation
import SkeinBasics
import SkeinCluster
import SkeinLaunch
import SkeinNetwork
import SkeinTraining

/// Rank 0: a coordinator that the other tasks find by what it leaves in the folder that they share.
struct JoinedCoordinator {
    let plan: JoinPlan
    let arguments: ParsedArguments

    /// How often it looks whether the coordinator's place is free.
    private static let pause = 0.25

    func run(_ io: CommandIO) throws {
        var training = try TrainCommand(arguments).options
        // First, since nothing may be written into a directory that belongs to something else.
        try RunDirectory.check(training.output, resuming: true)
        let card = TaskCard(plan.place)
        let patience = training.configuration.patience
        let place = try takePlace(training, card, io.log)
        defer { withExtendedLifetime(place) {} }
        let notices = NoticeWriter(plan.rendezvous, card, log: io.log)
        try notices.prepare(renewedEvery: patience / 2)
        let roll = RollCall(plan: plan, patience: patience, log: io.log)
        defer { roll.end() }
        do {
            // May download it.
            training = try TrainCommand(RepositoryNames.resolved(arguments, io)).options
            training.resume = true
            let command = CoordinatorCommand(
                CoordinatorCommand.Options(
                    listen: plan.listen, tokenFile: try token(), localWorkers: plan.localWorkers,
                    admitsOtherEngines: arguments[ClusterFlags.admitOtherEngines],
                    training: training))
            let board = RunBoard()
            try command.run(
                io,
                CoordinatorCommand.Companion(board: board) { address in
                    try notices.listening(
                        at: addresses(address), localAddress: localAddress(address))
                    roll.begin(board)
                    return [introduction(address)] + command.waits
                })
        } catch {
            tell(notices, ending: error)
            throw error
        }
        notices.ended(.complete)
    }

    /// A task that was started again may find its former self still ending, perhaps on another
    /// host.
    ///
    /// - Returns: the place, for as long as it is kept; nil without a folder.
    /// - Throws: `TaskError.twoCoordinators` for another task of the same start of the job, or
    ///   after the patience.
    private func takePlace(
        _ training: TrainCommand.Options, _ card: TaskCard, _ log: Log
    ) throws -> (any Sendable & AnyObject)? {
        guard let rendezvous = plan.rendezvous else { return nil }
        let patience = training.configuration.patience
        let deadline = ContinuousClock.now + patience
        return try InterruptFlag.listening { interrupt in
            var isTold = false
            while true {
                if interrupt.isSet { throw CommandError.nothingWritten(output: training.output) }
                if let place = try rendezvous.takePlace() {
                    if interrupt.isSet {
                        throw CommandError.nothingWritten(output: training.output)
                    }
                    return place
                }
                var holder: TaskCard?
                if case .notice(let notice) = try rendezvous.read() { holder = notice.task }
                if holder.map(card.isRival) ?? false || ContinuousClock.now >= deadline {
                    throw TaskError.twoCoordinators(
                        own: card, other: holder, directory: rendezvous.directory)
                }
                if !isTold {
                    let name = holder.map(\.title) ?? "another task"
                    log.info(
                        "\(name) still coordinates; waiting for its end for at most "
                            + DurationText.text(of: patience))
                    isTold = true
                }
                Thread.sleep(forTimeInterval: Self.pause)
            }
        }
    }

    /// The path of the token's file, which is made if it is missing.
    private func token() throws -> String? {
        guard let path = plan.tokenFile, plan.makesToken else { return plan.tokenFile }
        do {
            try TokenFile.make(at: path)
        } catch NodeError.tokenFile(_, .exists) {
            // Made when the job was started before, and known to its workers.
        }
        return path
    }

    private func introduction(_ address: String) -> String {
        let who = plan.place?.title ?? "this task"
        let place =
            plan.rendezvous.map { "by \($0.noticeFile)" } ?? "at \(plan.address?.text ?? address)"
        return "\(who) coordinates, and computes with "
            + Figures.count(plan.localWorkers, "thread") + "; the others find it \(place)"
    }

    /// For tasks on the same host.
    private func localAddress(_ bound: String) -> String? {
        guard let endpoint = Endpoint(bound) else { return nil }
        return endpoint.isWildcard
            ? Endpoint(host: "127.0.0.1", port: endpoint.port).text : bound
    }

    /// What others may dial, the likeliest first.
    private func addresses(_ bound: String) -> [String] {
        guard let endpoint = Endpoint(bound), endpoint.isWildcard else { return [bound] }
        let serves6 = endpoint.host.contains(":")
        let numeric = InterfaceAddresses.dialable.filter { serves6 || !$0.contains(":") }
        let names = [plan.address?.host, ProcessInfo.processInfo.hostName, plan.place?.hosts.first]
        var hosts = plan.address.map { [$0.host] } ?? []
        for host in numeric + names.compactMap({ $0 }) where !hosts.contains(host) {
            hosts.append(host)
        }
        return hosts.map { Endpoint(host: $0, port: endpoint.port).text }
            .filter { Endpoint($0) != nil }
    }

    /// Tells workers whether to wait for its return.
    private func tell(_ notices: NoticeWriter, ending error: any Error) {
        // The run was done when its result could not be printed.
        if case CommandError.outputClosed = error { return notices.ended(.complete) }
        // The other one tells them where it is.
        if case TrainingError.takenOver = error { return notices.end() }
        let explanation = ErrorReport.explanation(of: error)
        switch explanation.status {
        // Another start would end the same way.
        case .usage, .badData: notices.ended(.failed, explanation.what)
        default: notices.ended(.stopped, explanation.what)
        }
    }
}
