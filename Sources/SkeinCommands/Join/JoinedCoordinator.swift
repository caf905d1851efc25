import Foundation
import SkeinBasics
import SkeinLaunch
import SkeinNodes
import SkeinSockets
import SkeinTraining

/// Rank 0: a coordinator that the other tasks find by what it leaves in the folder that they share.
struct JoinedCoordinator {
    let plan: JoinPlan
    let arguments: ParsedArguments

    /// How often it looks whether the coordinator's place is free.
    private static let pause = 0.25

    func run(_ io: CommandIO) throws {
        let arguments = try ModelNames.resolved(arguments, io)
        var training = try TrainCommand(arguments).options
        training.resume = true
        // First, since nothing may be written into a directory that belongs to something else.
        try RunDirectory.check(training.output, resuming: true)
        let card = TaskCard(plan.place)
        let place = try takePlace(training, card, io.log)
        defer { withExtendedLifetime(place) {} }
        try publish(.starting, card)
        let command = CoordinatorCommand(
            CoordinatorCommand.Options(
                listen: plan.listen, tokenFile: try token(), localWorkers: plan.localWorkers,
                admitsOtherEngines: arguments[ClusterFlags.admitOtherEngines],
                training: training))
        let roll = RollCall(plan: plan, patience: training.configuration.patience, log: io.log)
        defer { roll.end() }
        do {
            let board = RunBoard()
            try command.run(
                io,
                CoordinatorCommand.Companion(board: board) { address in
                    try publish(.listening, card, address: address)
                    roll.begin(board)
                    return [introduction(address)] + command.waits
                })
        } catch {
            tell(io.log) { try publish(ending: error, card) }
            throw error
        }
        tell(io.log) { try publish(.complete, card) }
    }

    /// Says how the run ended. A disk that is full must not change that; workers find out by
    /// themselves.
    private func tell(_ log: Log, _ publish: () throws -> Void) {
        do {
            try publish()
        } catch {
            let what = ErrorReport.explanation(of: error).what
            log.warning("cannot tell the other tasks that the run has ended: \(what)")
        }
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
                if let place = try rendezvous.takePlace() { return place }
                var holder: TaskCard?
                if case .notice(let notice) = try rendezvous.read() { holder = notice.task }
                if holder.map(card.isRival) ?? false || ContinuousClock.now >= deadline {
                    throw TaskError.twoCoordinators(
                        own: card, other: holder, directory: rendezvous.directory)
                }
                if interrupt.isSet { throw CommandError.nothingWritten(output: training.output) }
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

    private func publish(
        _ state: Rendezvous.Notice.State, _ card: TaskCard, address: String? = nil,
        detail: String = ""
    ) throws {
        guard let rendezvous = plan.rendezvous else { return }
        let port = address.flatMap(Endpoint.init)?.port
        try rendezvous.publish(
            Rendezvous.Notice(
                state: state, addresses: address.map(addresses) ?? [],
                localAddress: port.map {
                    let isWide = plan.listen.isWildcard
                    return isWide ? Endpoint(host: "127.0.0.1", port: $0).text : address ?? ""
                }, detail: detail, task: card))
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
    private func publish(ending error: any Error, _ card: TaskCard) throws {
        let explanation = ErrorReport.explanation(of: error)
        switch explanation.status {
        // Another start would end the same way.
        case .usage, .badData: try publish(.failed, card, detail: explanation.what)
        default: try publish(.stopped, card, detail: explanation.what)
        }
    }
}
