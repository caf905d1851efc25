import SkeinBasics
import SkeinCluster
import SkeinLaunch
import Synchronization

/// Writes the coordinator's notices. While it prepares the run, which may take longer than others
/// wait for a sign of life, the notice is renewed, as long as something moves in this process.
///
/// A process that was stopped may have lost the coordinator's place to another one. So it looks who
/// wrote the last notice before it writes the next one, and leaves another's alone, and one whose writer
/// cannot be told: workers find out by themselves that nothing is said, and would not find the other one.
final class NoticeWriter: Sendable {
    private let rendezvous: Rendezvous?
    private let card: TaskCard
    private let log: Log
    private let condition = TimedCondition()
    /// Ends the renewals; changed with the condition's lock held, as the file is written.
    private let hasPrepared = Atomic<Bool>(false)
    /// That the last notice cannot be read is said once while the run is prepared.
    private let hasWarned = Atomic<Bool>(false)

    /// - Parameters:
    ///   - rendezvous: nil: there is no folder to write to.
    ///   - card: the coordinator's.
    ///   - log: told what cannot be written.
    init(_ rendezvous: Rendezvous?, _ card: TaskCard, log: Log) {
        self.rendezvous = rendezvous
        self.card = card
        self.log = log
    }

    /// Says that the run is being prepared, again and again until something else is said.
    ///
    /// - Throws: `FileError`.
    func prepare(renewedEvery interval: Duration) throws {
        guard let rendezvous else { return }
        try rendezvous.publish(notice(.starting, beat: 0))
        let isStarted = SystemThread.start("skein-join") { [self] in
            let began = ContinuousClock.now
            var (beat, next) = (0, began + interval)
            var stillness = Stillness(now: .zero)
            condition.withLock {
                while !hasPrepared.load(ordering: .relaxed) {
                    if condition.wait(until: next) { continue }
                    beat += 1
                    next = .now + interval
                    let now = ContinuousClock.now - began
                    stillness.note(passed: .zero, activity: .now, now: now)
                    guard now - stillness.moved < Stillness.limit else { continue }
                    switch writer() {
                    case .own: telling { try rendezvous.publish(notice(.starting, beat: beat)) }
                    case .other: return
                    case .unknown: continue
                    }
                }
            }
        }
        if !isStarted { log.warning("no thread to tell the others that the run is being prepared") }
    }

    /// Says where the coordinator is.
    ///
    /// - Throws: `FileError`: no task would find it, or it cannot be told whether another one has taken
    ///   the place; `TaskError.unclearNotice`, for that, too; `.twoCoordinators` if one has.
    func listening(at addresses: [String], localAddress: String?) throws {
        try end { rendezvous in
            if let other = try usurper() {
                throw TaskError.twoCoordinators(
                    own: card, other: other, directory: rendezvous.directory)
            }
            var notice = notice(.listening)
            (notice.addresses, notice.localAddress) = (addresses, localAddress)
            try rendezvous.publish(notice)
        }
    }

    /// Says how the run ended. A disk that is full must not change that; workers find out by
    /// themselves.
    func ended(_ state: Rendezvous.Notice.State, _ detail: String = "") {
        telling {
            try end { rendezvous in
                // Said again: the others are not told the end.
                hasWarned.store(false, ordering: .relaxed)
                guard writer() == .own else { return }
                var notice = notice(state)
                notice.detail = detail
                try rendezvous.publish(notice)
            }
        }
    }

    /// Says nothing more: another process has the place.
    func end() {
        telling { try end { _ in } }
    }

    /// Who wrote the last notice, if that was another process.
    ///
    /// - Throws: `FileError`; `TaskError.unclearNotice`: this process writes whole ones of its version.
    private func usurper() throws -> TaskCard? {
        guard let rendezvous else { return nil }
        switch try rendezvous.read() {
        case .nothing: return nil
        case .notice(let last): return last.task == card ? nil : last.task
        case .damaged(let detail):
            throw TaskError.unclearNotice(file: rendezvous.noticeFile, detail: detail)
        }
    }

    private enum Writer { case own, other, unknown }

    /// Who wrote the last notice.
    private func writer() -> Writer {
        do {
            return try usurper() == nil ? .own : .other
        } catch {
            if !hasWarned.exchange(true, ordering: .relaxed) {
                log.warning(
                    "cannot see whether another coordinator has taken the place: "
                        + Self.text(error))
            }
            return .unknown
        }
    }

    private func end(_ publish: (Rendezvous) throws -> Void) throws {
        try condition.withLock {
            hasPrepared.store(true, ordering: .relaxed)
            condition.broadcast()
            if let rendezvous { try publish(rendezvous) }
        }
    }

    private func notice(_ state: Rendezvous.Notice.State, beat: Int? = nil) -> Rendezvous.Notice {
        Rendezvous.Notice(
            state: state, addresses: [], localAddress: nil,
            detail: beat.map { "prepares, \($0)" } ?? "", task: card)
    }

    private func telling(_ publish: () throws -> Void) {
        do {
            try publish()
        } catch {
            log.warning("cannot tell the other tasks about the run: " + Self.text(error))
        }
    }

    private static func text(_ error: any Error) -> String {
        let explanation = ErrorReport.explanation(of: error)
        return "\(explanation.located); \(explanation.remedy)"
    }
}
