import SkeinBasics

/// Hands items to a thread that may wait for a disk or a network, and never makes the giver wait.
///
/// While the thread is held up, at most `Limits.waiting` items wait; then the oldest are dropped and
/// counted. The first failure is logged, and the first success after it.
final class ExportQueue<Item: Sendable>: Sendable {
    /// What became of the items; those that were given and not written are missing.
    private struct Tally: Sendable {
        var given = 0
        var written = 0
        var hasDropped = false
        /// Failures in a row.
        var failed = 0

        /// - Returns: the failures in a row before this result.
        mutating func note(_ result: Result<Void, any Error>) -> Int {
            let before = failed
            switch result {
            case .success:
                written += 1
                failed = 0
            case .failure: failed += 1
            }
            return before
        }
    }

    private let tally: Condition<Tally>
    /// nil: the system has refused the thread.
    private let queue: WorkQueue<Item>?
    private let name: String
    private let log: Log

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: of the export, for messages and debuggers: "TensorBoard".
    ///   - log: told of failures.
    ///   - perform: called on the thread with each item; what it throws is logged once.
    init(_ name: String, log: Log, perform: @escaping @Sendable (Item) throws -> Void) {
        self.name = name
        self.log = log
        let tally = Condition(Tally())
        self.tally = tally
        queue = WorkQueue("skein-export", room: .droppingOldest(Limits.waiting)) { item in
            let result = Result { try perform(item) }
            let failedBefore = tally.change { $0.note(result) }
            switch result {
            case .failure(let error) where failedBefore == 0: Self.warn(of: error, name, log)
            case .success where failedBefore > 0:
                log.warning(
                    "\(name) is written again; \(Figures.count(failedBefore, "item")) "
                        + "\(failedBefore == 1 ? "is" : "are") missing")
            default: break
            }
        }
        if queue == nil {
            log.warning("\(name): the system refuses a thread; nothing is written")
        }
    }

    private static func warn(of error: any Error, _ name: String, _ log: Log) {
        let why = (error as? any Explained)?.explanation
        let place = why.map { " (\($0.place))" } ?? ""
        log.warning(
            "\(name): \(why?.what ?? "\(error)")\(place); the run goes on, and this is said once")
    }

    /// Queues an item; the oldest one is dropped when too many wait.
    func give(_ item: Item) {
        guard let queue else { return }
        let isFirst = tally.change { tally in
            switch queue.give(item) {
            case .full, .over: return false
            case .taken:
                tally.given += 1
                return false
            case .dropped:
                tally.given += 1
                defer { tally.hasDropped = true }
                return !tally.hasDropped
            }
        }
        if isFirst {
            log.warning(
                "\(name) does not keep up: \(Limits.waiting) items wait, and the oldest are dropped"
            )
        }
    }

    /// Takes no more items, and waits for those that are here.
    ///
    /// - Returns: how many were not written in all.
    func finish(within time: Duration) -> Int {
        _ = queue?.finish(until: .now + time)
        return tally.change { $0.given - $0.written }
    }
}
