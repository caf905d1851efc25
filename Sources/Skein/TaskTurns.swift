import Synchronization

/// Admits tasks one at a time, first come first served, without blocking a thread.
final class TaskTurns: Sendable {
    /// Most tasks that may wait.
    static let mostWaiting = 1024

    private struct State: Sendable {
        var isTaken = false
        /// In order of arrival.
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var next = 0
    }

    private let state = Mutex(State())

    /// Calls `body` when it is this task's turn.
    ///
    /// - Throws: what `body` throws; `CancellationError` for a task that is cancelled while it
    ///   waits; `SkeinError` if too many tasks wait.
    func take<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await begin()
        defer { end() }
        return try await body()
    }

    private func begin() async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    guard state.isTaken else {
                        state.isTaken = true
                        return .success(())
                    }
                    guard state.waiting.count < Self.mostWaiting else {
                        return .failure(
                            SkeinError(
                                code: .usage,
                                what: "\(Self.mostWaiting) prompts are already waiting",
                                remedy: "wait for some answers before you ask for more"))
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { return continuation.resume(with: answer) }
                // The handler may have run before the continuation was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return CheckedContinuation<Void, any Error>?.none
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map {
                state.waiting.remove(at: $0).continuation
            }
        }
        continuation?.resume(throwing: CancellationError())
    }
}
