import SkeinBasics
import SkeinCluster
import SkeinLaunch
import Synchronization

/// Writes the coordinator's notices. While it prepares the run, which may take longer than others
/// wait for a sign of life, the notice is renewed, as long as something moves in this process.
///
/// A process that was stopped may have lost the coordinator's place to another one. So it looks who
/// wrote the last notice before it writes the next one, and leaves another's alone.
final class NoticeWriter: Sendable {
    private let rendezvous: Rendezvous?
    private let card: TaskCard
    private let log: Log
    private let condition = TimedCondition()
    /// Ends the renewals; changed with the condition's lock held, as the file is written.
    private let hasPrepared = Atomic<Bool>(false)

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
                    guard isStillOurs else { return }
                    telling { try rendezvous.publish(notice(.starting, beat: beat)) }
                }
            }
        }
        if !isStarted { log.warning("no thread to tell the others that the run is being prepared") }
    }

    /// Says where the coordinator is.
    ///
    /// - Throws: `FileError`: no task would find it, or it cannot be told whether another one has taken
    ///   the place; `TaskError.twoCoordinators` if one has.
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
                guard isStillOurs else { return }
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
    /// - Throws: `FileError`.
    private func usurper() throws -> TaskCard? {
        guard case .notice(let last)? = try rendezvous?.read(), last.task != card else {
            return nil
        }
        return last.task
    }

    /// A notice that cannot be read counts as this process's own: it goes on, and says so.
    private var isStillOurs: Bool {
        do {
            return try usurper() == nil
        } catch {
            let what = ErrorReport.explanation(of: error).what
            log.warning("cannot see whether another coordinator has taken the place: \(what)")
            return true
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
            let what = ErrorReport.explanation(of: error).what
            log.warning("cannot tell the other tasks about the run: \(what)")
        }
    }
}
