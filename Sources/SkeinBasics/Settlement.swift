import Synchronization

/// A result that tasks wait for without a thread.
package final class Settlement<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State: Sendable {
        /// nil: not known yet.
        var result: Result<Value, any Error>?
        var waiting: [Int: Waiter] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Answers all who wait, and all who ask from now on.
    package func settle(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(with: result) }
    }

    /// Suspends until there is a result.
    ///
    /// - Parameter onCancel: called when the waiting task is cancelled; the wait goes on. Without it,
    ///   it ends.
    /// - Returns: the last result.
    /// - Throws: the last result; `CancellationError` if a wait without `onCancel` is cancelled.
    package func value(onCancel: (@Sendable () -> Void)? = nil) async throws -> Value {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiting[number] = continuation }
                    return state.result
                }
                if let result { return continuation.resume(with: result) }
                // The handler may have run before the continuation was there.
                if onCancel == nil, Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            if let onCancel { onCancel() } else { cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume(throwing: CancellationError())
    }
}
