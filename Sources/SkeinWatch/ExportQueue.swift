import SkeinBasics

/// Hands items to a thread that may wait for a disk or a network, and never makes the giver wait.
///
/// While the thread is held up, at most `Limits.waiting` items wait; then the oldest are dropped and
/// counted. The first failure is logged, and the first success after it.
final class ExportQueue<Item: Sendable>: Sendable {
    private struct State: Sendable {
        var items: [Item] = []
        var isWorking = false
        var isClosed = false
        var dropped = 0
        /// Failures in a row; they count as dropped once one succeeds.
        var failed = 0
    }

    private let lock = TimedCondition()
    private let shared: Shared
    private let name: String
    private let log: Log

    /// What only holders of `lock` touch.
    private final class Shared: @unchecked Sendable {
        var state = State()
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: of the export, for messages and debuggers: "TensorBoard".
    ///   - log: told of failures.
    ///   - perform: called on the thread with each item; what it throws is logged once.
    init(_ name: String, log: Log, perform: @escaping @Sendable (Item) throws -> Void) {
        self.name = name
        self.log = log
        shared = Shared()
        let isStarted = SystemThread.start("skein-export") { [self] in
            while let item = next() { done(attempt(item, perform)) }
        }
        if !isStarted {
            shared.state.isClosed = true
            log.warning("\(name): the system refuses a thread; nothing is written")
        }
    }

    private func next() -> Item? {
        lock.withLock {
            while true {
                if !shared.state.items.isEmpty {
                    shared.state.isWorking = true
                    return shared.state.items.removeFirst()
                }
                if shared.state.isClosed { return nil }
                lock.wait()
            }
        }
    }

    private func attempt(_ item: Item, _ perform: (Item) throws -> Void) -> (any Error)? {
        do {
            try perform(item)
            return nil
        } catch {
            return error
        }
    }

    private func done(_ error: (any Error)?) {
        let failedBefore = lock.withLock {
            defer { lock.broadcast() }
            shared.state.isWorking = false
            let before = shared.state.failed
            if error != nil {
                shared.state.failed += 1
            } else {
                shared.state.dropped += before
                shared.state.failed = 0
            }
            return before
        }
        if let error, failedBefore == 0 {
            let why = (error as? any Explained)?.explanation
            let place = why.map { " (\($0.place))" } ?? ""
            log.warning(
                "\(name): \(why?.what ?? "\(error)")\(place); the run goes on, and this is said once"
            )
        } else if error == nil, failedBefore > 0 {
            log.warning(
                "\(name) is written again; "
                    + "\(Figures.count(failedBefore, "item")) \(failedBefore == 1 ? "is" : "are") missing"
            )
        }
    }

    /// Queues an item; the oldest one is dropped when too many wait.
    func give(_ item: Item) {
        let isFirst = lock.withLock {
            guard !shared.state.isClosed else { return false }
            defer { lock.broadcast() }
            shared.state.items.append(item)
            guard shared.state.items.count > Limits.waiting else { return false }
            shared.state.items.removeFirst()
            shared.state.dropped += 1
            return shared.state.dropped == 1
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
        let deadline = ContinuousClock.now + time
        return lock.withLock {
            shared.state.isClosed = true
            lock.broadcast()
            while shared.state.isWorking || !shared.state.items.isEmpty {
                if !lock.wait(until: deadline), ContinuousClock.now >= deadline { break }
            }
            let state = shared.state
            return state.dropped + state.failed + state.items.count + (state.isWorking ? 1 : 0)
        }
    }
}
