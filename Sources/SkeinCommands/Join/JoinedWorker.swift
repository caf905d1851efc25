import Foundation
import Skein
import SkeinBasics
import SkeinCluster
import SkeinLaunch
import SkeinNetwork
import SkeinTraining

/// Every other rank: finds the coordinator, works for it, and finds it again when it has moved.
struct JoinedWorker {
    let plan: JoinPlan
    /// Without token and, where a folder says it, without an address.
    let options: WorkerOptions
    /// nil: the folder is elsewhere.
    let output: String?
    /// Whether it works for whatever coordinator is there, also one of another job.
    let isElastic: Bool

    /// How often it looks into the folder.
    private static let pause = 0.2
    /// The same after a while: many tasks may be waiting.
    private static let laterPause = 1.0
    /// A coordinator may read a large data set before it listens.
    private static let firstPatience = 10

    private enum Found {
        case addresses([String], Rendezvous.Notice?)
        /// The run is complete.
        case complete
        /// This task was asked to stop.
        case interrupted
    }

    func run(_ io: CommandIO) throws {
        let status = WorkerStatus()
        try io.reporting(status) { try run(io, status, shouldStop: $0) }
    }

    private func run(
        _ io: CommandIO, _ status: WorkerStatus, shouldStop: @escaping @Sendable () -> Bool
    ) throws {
        let log = io.log
        io.interrupt.listen {
            log.warning("leaving after the current work; interrupt again to stop at once")
        }
        let card = TaskCard(plan.place)
        leave(card, log)
        let began = ContinuousClock.now
        var search = Search(card: card, isOfJob: !isElastic)
        while true {
            if shouldStop() { return try left(log) }
            switch try find(&search, shouldStop, log) {
            case .complete: return log.info("the run is complete")
            case .interrupted: return try left(log)
            case .addresses(let addresses, let notice):
                do {
                    switch try work(at: addresses, card, log, status, shouldStop) {
                    case .complete: return log.info("the run is complete")
                    case .drained: return try left(log)
                    }
                } catch let error where !(error is CommandError) {
                    let rest =
                        status.hasJoined
                        ? .zero
                        : options.patience * Self.firstPatience - (ContinuousClock.now - began)
                    guard try mayLookAgain(after: error, notice, began, rest, shouldStop) else {
                        throw error
                    }
                    let what = ErrorReport.explanation(of: error).what
                    log.info("looking for the coordinator again: \(what)")
                }
            }
        }
    }

    /// Ends after a request to stop. An indexed Job of Kubernetes takes a pod that ends with 0 for one
    /// whose index is done, and never makes it again.
    private func left(_ log: Log) throws {
        guard plan.place?.launcher != .kubernetes else {
            throw CommandError.leftRun(
                place: plan.rendezvous?.noticeFile ?? plan.address?.text ?? "")
        }
        log.info("left the run")
    }

    /// Helps only people who wonder who was here.
    private func leave(_ card: TaskCard, _ log: Log) {
        guard let rendezvous = plan.rendezvous else { return }
        do {
            if let output {
                // Nothing may be written into a directory that belongs to something else.
                try RunDirectory.check(output, resuming: true)
            }
            try rendezvous.leave(card)
        } catch {
            let what = ErrorReport.explanation(of: error).what
            log.warning("cannot leave a card for the others: \(what)")
        }
    }

    /// What has been seen of the folder so far.
    private struct Search {
        let card: TaskCard
        /// Whether only a coordinator of this task's own job is looked for.
        let isOfJob: Bool
        /// When the wait began.
        var began = ContinuousClock.now
        /// The same, or when something changed.
        var since = ContinuousClock.now
        var seen: Rendezvous.Answer?
        /// Whether the folder said something new since this task began.
        var hasChanged = false
        var sentences = 0

        mutating func note(_ answer: Rendezvous.Answer) {
            guard answer != seen else { return }
            hasChanged = seen != nil
            seen = answer
            since = .now
        }

        /// Whether it is the coordinator of another job, which this task would only disturb.
        func isForeign(_ notice: Rendezvous.Notice) -> Bool {
            isOfJob && card.job != nil && notice.task.job != nil
                && notice.task.launcher == card.launcher && notice.task.job != card.job
        }
    }

    /// After how long a wait is spoken of: 2, 4, 8 s and so on, then every ten minutes.
    private static func sentenceTime(_ count: Int) -> Duration {
        .seconds(2 << min(count, 8)) + .seconds(600) * max(0, count - 8)
    }

    /// How long something that an earlier start of the same job may have left has to stand.
    private static let settling = Duration.seconds(10)

    /// Waits until it is known where the coordinator is.
    private func find(
        _ search: inout Search, _ shouldStop: () -> Bool, _ log: Log
    ) throws -> Found {
        guard let rendezvous = plan.rendezvous else {
            return .addresses(plan.address.map { [$0.text] } ?? [], nil)
        }
        (search.began, search.since, search.sentences) = (.now, .now, 0)
        while !shouldStop() {
            let answer = Self.read(rendezvous)
            search.note(answer)
            let waited = ContinuousClock.now - search.since
            if case .notice(let notice) = answer {
                // What an earlier start left may be about to be replaced.
                let isCurrent = notice.isCurrent(for: search.card)
                let isSettled =
                    isCurrent && search.hasChanged
                    || waited
                        >= (isCurrent ? min(options.patience, Self.settling) : options.patience)
                switch notice.state {
                case .listening where hasToken && !search.isForeign(notice):
                    return .addresses(notice.addresses(for: search.card), notice)
                case .complete where isSettled: return .complete
                case .failed where isSettled:
                    throw TaskError.runFailed(detail: notice.detail, file: rendezvous.noticeFile)
                case .starting, .listening, .stopped, .complete, .failed: break
                }
            }
            let limit = options.patience * Self.firstPatience
            if waited >= limit {
                // If they cannot be listed, the error only names fewer tasks.
                let others = try? rendezvous.ranksSeen().filter { $0 != search.card.rank }
                throw TaskError.noAddress(
                    file: rendezvous.noticeFile, seconds: limit / .seconds(1),
                    host: search.card.host, last: what(search, answer), seen: others ?? [])
            }
            let all = ContinuousClock.now - search.began
            if all >= Self.sentenceTime(search.sentences) {
                search.sentences += 1
                log.info(
                    "waiting for the coordinator's address in \(rendezvous.noticeFile) for "
                        + "\(Figures.seconds(all / .seconds(1))): \(what(search, answer)); at most "
                        + "\(DurationText.text(of: limit)) without a change there")
            }
            Thread.sleep(forTimeInterval: waited < .seconds(10) ? Self.pause : Self.laterPause)
        }
        return .interrupted
    }

    /// What the folder says. A file system that is away for a moment is waited for like a
    /// coordinator that is.
    private static func read(_ rendezvous: Rendezvous) -> Rendezvous.Answer {
        do {
            return try rendezvous.read()
        } catch {
            return .damaged(ErrorReport.explanation(of: error).what)
        }
    }

    /// The coordinator makes it before it listens, unless that was an earlier one's doing.
    private var hasToken: Bool {
        guard plan.makesToken, let path = plan.tokenFile else { return true }
        return FileManager.default.fileExists(atPath: path)
    }

    /// Why there is nothing to dial yet.
    private func what(_ search: Search, _ answer: Rendezvous.Answer) -> String {
        switch answer {
        case .nothing: return "no coordinator has been there"
        case .damaged(let reason): return "the file cannot be used: \(reason)"
        case .notice(let notice):
            let who = notice.task.title
            switch notice.state {
            case .starting: return "\(who) prepares the run"
            case .stopped: return "\(who) has stopped, and is expected back"
            case .complete: return "an earlier run is complete"
            case .failed: return "an earlier start has failed"
            case .listening:
                return search.isForeign(notice)
                    ? "\(who) is there, of another job"
                    : "\(who) listens, but there is no token at \(plan.tokenFile ?? "")"
            }
        }
    }

    /// Works for the coordinator until the run is complete or this task is asked to stop.
    private func work(
        at addresses: [String], _ card: TaskCard, _ log: Log, _ status: WorkerStatus,
        _ shouldStop: @escaping @Sendable () -> Bool
    ) throws -> WorkerOutcome {
        var options = options
        options.token = try plan.tokenFile.map { try TokenFile(reading: $0).bytes }
        options.coordinator = addresses.first ?? ""
        if let rendezvous = plan.rendezvous {
            options.locate = {
                // What cannot be read now may be at the next attempt.
                guard case .notice(let notice)? = try? rendezvous.read(),
                    notice.state == .listening
                else { return addresses }
                return notice.addresses(for: card)
            }
        }
        return try Worker(options, log: log).work(on: status, until: shouldStop)
    }

    /// Whether the coordinator may be elsewhere, or there later.
    ///
    /// - Parameters:
    ///   - error: why it could not be worked for.
    ///   - notice: what led there; nil without a folder.
    ///   - began: when this task began.
    ///   - rest: how long an address at which no coordinator has ever answered is believed to be
    ///     about to be replaced.
    ///   - shouldStop: ends the wait.
    /// - Returns: whether to look for it again.
    /// - Throws: `FileError` when the folder cannot be read.
    private func mayLookAgain(
        after error: any Error, _ notice: Rendezvous.Notice?, _ began: ContinuousClock.Instant,
        _ rest: Duration, _ shouldStop: () -> Bool
    ) throws -> Bool {
        let wait: Duration
        switch error {
        case NodeError.coordinatorMissing:
            // It has had all of the patience already, if it is not to be replaced.
            wait = notice?.isCurrent(for: TaskCard(plan.place)) ?? true ? .zero : rest
        // Perhaps of an earlier run, and about to be replaced.
        case NodeError.refused, SocketError.nameNotResolved: wait = options.patience
        // It is about to say why.
        case NodeError.runFailed: wait = min(options.patience, .seconds(5))
        default: return false
        }
        guard let rendezvous = plan.rendezvous, let notice else {
            // Rank 0 reads its data before it listens, and its name may not be known yet.
            if case NodeError.runFailed = error { return false }
            if case NodeError.refused = error { return false }
            Thread.sleep(forTimeInterval: Self.pause * 5)
            return ContinuousClock.now - began < options.patience * Self.firstPatience
        }
        let deadline = ContinuousClock.now + wait
        while !shouldStop() {
            if Self.read(rendezvous) != .notice(notice) { return true }
            if ContinuousClock.now >= deadline { return false }
            Thread.sleep(forTimeInterval: Self.pause)
        }
        return true
    }
}
