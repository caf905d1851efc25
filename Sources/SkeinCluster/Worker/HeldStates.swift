import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// The logical workers' states of a worker, and what has come to rebuild those that it lacks.
final class HeldStates: Sendable {
    /// A thread that waits for a replay. Two may wait for the same lease: one whose work is no longer
    /// wanted may not know it yet.
    private struct Thread: Sendable {
        let number: Int
        let key: WorkKey
        var replay: StateReplay?
    }

    private struct Waiting: Sendable {
        var threads: [Thread] = []
        var next = 0
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
            for place in waiting.threads.indices
            where waiting.threads[place].key == replay.key
                && waiting.threads[place].replay == nil
            {
                waiting.threads[place].replay = replay
            }
        }
    }

    /// Whether a thread waits for what rebuilds the state of a lease.
    func wants(_ key: WorkKey) -> Bool {
        waiting.change(waking: false) { waiting in
            waiting.threads.contains { $0.key == key && $0.replay == nil }
        }
    }

    /// Asks for what rebuilds the state of a lease and blocks until it has come.
    ///
    /// - Returns: nil when the work is no longer wanted; `isAbandoned` is asked at every wake-up.
    func replay(
        for key: WorkKey, asking ask: (WorkKey) -> Void, isAbandoned: () -> Bool
    ) -> StateReplay? {
        let number = waiting.change(waking: false) { waiting in
            waiting.next += 1
            waiting.threads.append(Thread(number: waiting.next, key: key))
            return waiting.next
        }
        ask(key)
        return waiting.wait { waiting -> StateReplay?? in
            guard let place = waiting.threads.firstIndex(where: { $0.number == number }) else {
                preconditionFailure("a thread that waits stays listed")
            }
            let replay = waiting.threads[place].replay
            guard replay != nil || waiting.isClosed || isAbandoned() else { return nil }
            waiting.threads.remove(at: place)
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
