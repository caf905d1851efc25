import SkeinBasics

/// Threads that read requests and make jobs of them, and one that writes large answers, so that
/// neither the network nor the engine waits for a long prompt, a large schema or thousands of
/// log-probabilities. What waits for them is bounded by whoever asks.
final class PreparationThreads: Sendable {
    enum Kind: Sendable {
        /// May take a minute where a schema is compiled.
        case preparing
        /// An answer that is made waits for no request that is being prepared. One at a time: each may
        /// take as much memory as `ServePlan.writingBytes` says.
        case writing
    }

    private let preparing: Works
    private let writing: Works

    /// - Parameter count: threads that prepare.
    /// - Throws: `ServeError.noThread`.
    init(count: Int) throws(ServeError) {
        preparing = try Works("skein-prepare", threads: max(1, count))
        do {
            writing = try Works("skein-write", threads: 1)
        } catch {
            preparing.stop()
            throw error
        }
    }

    /// Runs `work` on one of the threads for it, after what was given to them before.
    func run(_ kind: Kind, _ work: @escaping @Sendable () -> Void) {
        switch kind {
        case .preparing: preparing.add(work)
        case .writing: writing.add(work)
        }
    }

    /// The threads end once nothing is left to do.
    func stop() {
        preparing.stop()
        writing.stop()
    }
}

/// Work for some threads, first come, first served.
private final class Works: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isOver = false
    }

    private let state = Condition(State())

    init(_ name: String, threads: Int) throws(ServeError) {
        for number in 0..<threads {
            let state = state
            let isStarted = SystemThread.start("\(name)-\(number)", stackBytes: 8 << 20) {
                while true {
                    let work: (@Sendable () -> Void)? = state.wait { state in
                        if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                        return state.isOver ? .some(nil) : nil
                    }
                    guard let work else { return }
                    work()
                }
            }
            guard isStarted else {
                stop()
                throw .noThread
            }
        }
    }

    func add(_ work: @escaping @Sendable () -> Void) { state.change { $0.waiting.append(work) } }

    /// The threads end once nothing is left to do.
    func stop() { state.change { $0.isOver = true } }
}
