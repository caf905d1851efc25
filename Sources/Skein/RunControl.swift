import Synchronization

/// What a run and those who watch it share: its events, whether it runs, and whether it should stop.
final class RunControl: Sendable {
    let feed = EventFeed()
    private let isRunning = Atomic<Bool>(false)
    private let isCancelled = Atomic<Bool>(false)

    var shouldStop: Bool { isCancelled.load(ordering: .relaxed) }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Runs `body` on a thread of its own, one at a time; a task that is cancelled cancels the run.
    ///
    /// - Throws: what `body` throws, and `SkeinError` while another one runs.
    func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else {
            throw SkeinError(
                code: .usage, what: "this run is under way already",
                remedy: "wait for its end, or make another one with another output")
        }
        defer {
            // Whoever cancelled meant the run that ends here.
            isCancelled.store(false, ordering: .relaxed)
            isRunning.store(false, ordering: .releasing)
            feed.finish()
        }
        feed.begin()
        return try await withTaskCancellationHandler {
            try await OwnThread.run(name, body)
        } onCancel: {
            cancel()
        }
    }

    /// - Throws: `CancellationError` when the run should stop.
    func checkCancellation() throws {
        if shouldStop { throw CancellationError() }
    }
}
