import SkeinBasics

@testable import SkeinCoordination

/// A worker's state with short words for tests; times are in seconds, jitter is one half.
struct Bench {
    var state: WorkerState

    init(threads: Int = 1, patience: Duration = .seconds(60)) {
        state = WorkerState(settings: WorkerSettings(threads: threads, patience: patience))
    }

    @discardableResult
    mutating func at(
        _ seconds: Double, _ event: WorkerState.Event, jitter: Double = 0.5
    ) -> [WorkerState.Directive] {
        state.handle(event, now: .seconds(seconds), jitter: jitter).filter {
            if case .log = $0 { false } else { true }
        }
    }

    /// Dials and is welcomed.
    @discardableResult
    mutating func join(at seconds: Double, term: UInt32 = 1) -> [WorkerState.Directive] {
        if case .none = state.connection { at(seconds, .start) }
        at(seconds, .connected)
        at(seconds, .offered(term: term))
        let said = at(seconds, .prepared)
        return said
            + at(
                seconds,
                .welcomed(Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)))
    }

    @discardableResult
    mutating func lease(
        _ index: UInt32, round: UInt64 = 1, at seconds: Double
    ) -> [WorkerState.Directive] {
        at(seconds, .leased(key(index, round: round), attempt: 1))
    }
}
