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
        /// take as much memory as `Limits.writingBytes` says.
        case writing
    }

    private typealias Works = WorkQueue<@Sendable () -> Void>

    private let preparing: Works
    private let compiling: Works
    private let writing: Works

    /// - Parameter count: threads that prepare.
    /// - Throws: `ServeError.noThread`.
    init(count: Int) throws(ServeError) {
        func works(_ name: String, threads: Int) throws(ServeError) -> Works {
            guard let works = Works(name, threads: threads, stackBytes: 8 << 20, perform: { $0() })
            else { throw .noThread }
            return works
        }
        preparing = try works("skein-prepare", threads: max(1, count))
        compiling = try works("skein-grammar", threads: 1)
        writing = try works("skein-write", threads: 1)
    }

    /// Runs `work` on one of the threads for it, when its owner's turn has come and what the owner gave
    /// before is done.
    func run(
        _ kind: Kind, for owner: RequestOwner = .everybody, _ work: @escaping @Sendable () -> Void
    ) {
        let key: String? = if case .key(let key) = owner { key } else { nil }
        works(kind).give(work, for: key)
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
        for works in [preparing, compiling, writing] { works.close() }
    }
}
