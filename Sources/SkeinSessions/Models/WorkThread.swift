import SkeinBasics

/// A thread that prepares requests in their order: renders conversations, cuts them into tokens,
/// compiles schemas, reads adapters. None of it may run on Swift's pool. What waits is bounded by
/// whoever asks.
final class WorkThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isOver = false
    }

    private let state = Condition(State())

    /// - Throws: `ModelFlaw.noThread`.
    init(_ name: String) throws(ModelFlaw) {
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
    ///
    /// - Returns: whether it will run.
    @discardableResult
    func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            if state.isOver { return false }
            state.waiting.append(work)
            return true
        }
    }

    /// The thread ends once nothing is left to do.
    func stop() { state.change { $0.isOver = true } }
}
