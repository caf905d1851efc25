import Synchronization

/// What a run and those who watch it share: its events, and whether it should stop.
final class RunControl: Sendable {
    let feed = EventFeed()
    private let hasBegun = Atomic<Bool>(false)
    private let isCancelled = CancelFlag()

    var shouldStop: Bool { isCancelled.isSet }

    func cancel() { isCancelled.set() }

    /// - Throws: `CancellationError` when the run should stop.
    func checkCancellation() throws { try isCancelled.check() }

    /// To be called before `run`.
    ///
    /// - Throws: `SkeinError` the second time.
    func begin() throws {
        guard !hasBegun.exchange(true, ordering: .relaxed) else {
            throw SkeinError(
                code: .usage, what: "this run has begun already",
                remedy: "make another object for another run, or to go on with this one")
        }
    }

    /// Runs `body` on a thread of its own; a task that is cancelled cancels the run.
    func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        defer { feed.finish() }
        return try await withTaskCancellationHandler {
            try await OwnThread.run(name, body)
        } onCancel: {
            cancel()
        }
    }
}

/// Set once, by whoever does not want the rest.
final class CancelFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when it is set.
    func check() throws {
        if isSet { throw CancellationError() }
    }
}
