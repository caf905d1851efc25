import SkeinBasics

/// A thread that prepares requests in their order: renders conversations, cuts them into tokens,
/// compiles schemas, reads adapters. None of it may run on Swift's pool.
final class WorkThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isOver = false
    }

    private let state = Condition(State())
    /// How much may wait.
    private let limit: Int

    enum Outcome {
        /// It will run.
        case taken
        /// Too much waits already.
        case full
        /// The thread has ended.
        case over
    }

    /// - Throws: `ModelFlaw.noThread`.
    init(_ name: String, limit: Int) throws(ModelFlaw) {
        self.limit = limit
        let state = state
        let isStarted = SystemThread.start(name, stackBytes: 8 << 20) {
            while true {
                let work: (@Sendable () -> Void)? = state.wait { state in
                    if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                    return state.isOver ? .some(nil) : nil
                }
                guard let work else { return }
                work()
            }
        }
        guard isStarted else { throw .noThread }
    }

    /// Runs `work` after what was given before. Nothing runs that is given after `stop()`.
    func run(_ work: @escaping @Sendable () -> Void) -> Outcome {
        state.change { state in
            if state.isOver { return .over }
            if state.waiting.count >= limit { return .full }
            state.waiting.append(work)
            return .taken
        }
    }

    /// The thread ends once nothing is left to do.
    func stop() { state.change { $0.isOver = true } }
}
