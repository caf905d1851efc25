import Synchronization

/// The address of a run, which tasks can await until the run listens.
final class AwaitedAddress: Sendable {
    private typealias Waiter = CheckedContinuation<String, any Error>

    private struct State: Sendable {
        /// The answer to all who ask; nil: not known yet.
        var answer: Result<String, any Error>?
        var waiting: [Int: Waiter] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// - Returns: the address, at once when it is known.
    func value() async throws -> String {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<String, any Error>? = state.withLock { state in
                    if state.answer == nil { state.waiting[number] = continuation }
                    return state.answer
                }
                if let answer { return continuation.resume(with: answer) }
                // The handler may have run before the continuation was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Answers all who wait, and all who ask later.
    func set(_ answer: Result<String, any Error>) {
        let waiting = state.withLock { state in
            state.answer = answer
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: answer) }
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume(throwing: CancellationError())
    }
}
