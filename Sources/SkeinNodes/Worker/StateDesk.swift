import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// The logical workers' states of a worker, and what has come to rebuild those that it lacks.
final class StateDesk: Sendable {
    private struct Waiting: Sendable {
        /// Leases whose threads wait for a replay.
        var wanted: Set<WorkKey> = []
        var replays: [WorkKey: StateReplay] = [:]
        var isClosed = false
    }

    let states: LocalStates
    private let waiting = Condition(Waiting())

    /// - Parameter workers: logical workers of the run.
    init(workers: Int) {
        states = LocalStates(workers: workers)
    }

    /// Takes what rebuilds the state of a lease; unless a thread waits for it, it is dropped.
    func receive(_ replay: StateReplay) {
        waiting.change { waiting in
            if waiting.wanted.contains(replay.key) { waiting.replays[replay.key] = replay }
        }
    }

    /// Whether a thread waits for what rebuilds the state of a lease.
    func wants(_ key: WorkKey) -> Bool {
        waiting.change(waking: false) { $0.wanted.contains(key) && $0.replays[key] == nil }
    }

    /// Asks for what rebuilds the state of a lease and blocks until it has come.
    ///
    /// - Returns: nil when the work is no longer wanted; `isAbandoned` is asked at every wake-up.
    func replay(
        for key: WorkKey, asking ask: (WorkKey) -> Void, isAbandoned: () -> Bool
    ) -> StateReplay? {
        waiting.change(waking: false) { _ = $0.wanted.insert(key) }
        ask(key)
        return waiting.wait { waiting -> StateReplay?? in
            let replay = waiting.replays[key]
            guard replay != nil || waiting.isClosed || isAbandoned() else { return nil }
            waiting.wanted.remove(key)
            waiting.replays[key] = nil
            return .some(replay)
        }
    }

    /// Makes all waiting threads check again whether their work is still wanted.
    func wake() {
        waiting.change { _ in }
    }

    /// Ends all waiting.
    func close() {
        waiting.change { $0.isClosed = true }
    }
}
