import SkeinBasics

/// Threads that read requests and make jobs of them, and write large answers, so that neither the
/// network nor the engine waits for a long prompt, a large schema or thousands of log-probabilities.
/// What waits for them is bounded by whoever asks.
final class PreparationThreads: Sendable {
    private struct State {
        var works: [@Sendable () -> Void] = []
        var isOver = false
    }

    private let state = Condition(State())

    /// - Throws: `ServeError.noThread`.
    init(count: Int) throws(ServeError) {
        for number in 0..<max(1, count) {
            let state = state
            let isStarted = SystemThread.start("skein-prepare-\(number)", stackBytes: 8 << 20) {
                while true {
                    let work: (@Sendable () -> Void)? = state.wait { state in
                        if !state.works.isEmpty { return .some(state.works.removeFirst()) }
                        return state.isOver ? .some(nil) : nil
                    }
                    guard let work else { return }
                    work()
                }
            }
            guard isStarted else { throw .noThread }
        }
    }

    /// Runs `work` on one of the threads, after what was given before.
    func run(_ work: @escaping @Sendable () -> Void) { state.change { $0.works.append(work) } }

    /// The threads end once nothing is left to do.
    func stop() { state.change { $0.isOver = true } }
}
