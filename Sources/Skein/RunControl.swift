import SkeinBasics
import Synchronization

/// What a run and its observers share: its events, and whether it should stop.
final class RunControl: Sendable {
    let feed = Feed<TrainingEvent>()
    private let hasBegun = Atomic<Bool>(false)
    private let isCancelled = CancelFlag()

    var shouldStop: Bool { isCancelled.isSet }

    func cancel() { isCancelled.set() }

    /// - Throws: `CancellationError` if the run should stop.
    func checkCancellation() throws { try isCancelled.check() }

    /// Must be called before `run`.
    ///
    /// - Throws: `SkeinError` the second time.
    func begin() throws {
        guard !hasBegun.exchange(true, ordering: .relaxed) else {
            throw SkeinError(
                code: .usage, what: "this run has already begun",
                remedy: "make a new object for another run, or to resume this one")
        }
    }

    /// Runs `body` on its own thread; cancelling the task cancels the run.
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

/// A flag that cancels work; once set, it stays set.
final class CancelFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when it is set.
    func check() throws {
        if isSet { throw CancellationError() }
    }
}
