import SkeinBasics
import SkeinInference

/// Threads that read requests and make jobs of them, one that makes grammars, and one that writes large
/// answers, so that neither the network nor the engine waits for a long prompt, a large schema or
/// thousands of log-probabilities, and short work waits for no long work. What waits for them is bounded
/// by the site; its owners take turns.
final class PreparationThreads: Sendable {
    enum Kind: Sendable {
        /// Some milliseconds, a second for the longest prompts.
        case preparing
        /// May take some 1.3 s: a schema is compiled. One at a time, so that the others have a core.
        case compiling
        /// An answer that is made waits for no request that is being prepared. One at a time: each may
        /// take as much memory as `ServePlan.writingBytes` says.
        case writing
    }

    private let preparing: Works
    private let compiling: Works
    private let writing: Works

    /// - Parameter count: threads that prepare.
    /// - Throws: `ServeError.noThread`.
    init(count: Int) throws(ServeError) {
        var started: [Works] = []
        do throws(ServeError) {
            preparing = try Works("skein-prepare", threads: max(1, count))
            started.append(preparing)
            compiling = try Works("skein-grammar", threads: 1)
            started.append(compiling)
            writing = try Works("skein-write", threads: 1)
        } catch {
            for works in started { works.stop() }
            throw error
        }
    }

    /// Runs `work` on one of the threads for it, when its owner's turn has come and what the owner gave
    /// before is done.
    func run(
        _ kind: Kind, for owner: RequestOwner = .everybody, _ work: @escaping @Sendable () -> Void
    ) {
        works(kind).add(work, for: owner)
    }

    /// How much waits for the threads of a kind.
    func waiting(_ kind: Kind) -> Int { works(kind).waitingCount }

    private func works(_ kind: Kind) -> Works {
        switch kind {
        case .preparing: preparing
        case .compiling: compiling
        case .writing: writing
        }
    }

    /// The threads end once nothing is left to do.
    func stop() {
        for works in [preparing, compiling, writing] { works.stop() }
    }
}

/// Work for some threads.
private final class Works: Sendable {
    private struct State {
        var waiting = FairQueue<RequestOwner, @Sendable () -> Void>()
        var isOver = false
    }

    private let state = Condition(State())

    init(_ name: String, threads: Int) throws(ServeError) {
        for number in 0..<threads {
            let state = state
            let isStarted = SystemThread.start("\(name)-\(number)", stackBytes: 8 << 20) {
                while true {
                    let work: (@Sendable () -> Void)? = state.wait { state in
                        if let next = state.waiting.next() { return .some(next) }
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

    var waitingCount: Int { state.change { $0.waiting.count } }

    func add(_ work: @escaping @Sendable () -> Void, for owner: RequestOwner) {
        state.change { $0.waiting.add(work, for: owner) }
    }

    /// The threads end once nothing is left to do.
    func stop() { state.change { $0.isOver = true } }
}
