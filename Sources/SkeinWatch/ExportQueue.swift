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
            do {
                try perform(item)
                let failed = tally.change { tally in
                    tally.written += 1
                    defer { tally.failed = 0 }
                    return tally.failed
                }
                guard failed > 0 else { return }
                log.warning(
                    "\(name) is written again; \(Figures.count(failed, "item")) "
                        + "\(failed == 1 ? "is" : "are") missing")
            } catch {
                let isFirst = tally.change { tally in
                    tally.failed += 1
                    return tally.failed == 1
                }
                guard isFirst else { return }
                let why = (error as? any Explained)?.explanation
                let place = why.map { " (\($0.place))" } ?? ""
                log.warning(
                    "\(name): \(why?.what ?? "\(error)")\(place); the run goes on, "
                        + "and this is said once")
            }
        }
        if queue == nil {
            log.warning("\(name): the system refuses a thread; nothing is written")
        }
    }

    /// Queues an item; the oldest one is dropped when too many wait.
    func give(_ item: Item) {
        guard let queue else { return }
        let isFirst = tally.change { tally in
            let outcome = queue.give(item)
            if case .over = outcome { return false }
            tally.given += 1
            guard case .dropped = outcome else { return false }
            defer { tally.hasDropped = true }
            return !tally.hasDropped
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
