import Synchronization

/// An address that becomes known when a run listens, and that others wait for.
final class AwaitedAddress: Sendable {
    private typealias Waiter = CheckedContinuation<String, any Error>

    private struct State: Sendable {
        /// What whoever asks is told; nil: to wait.
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
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Tells all who wait, and whoever asks from now on.
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
