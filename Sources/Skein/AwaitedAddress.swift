import Synchronization

/// An address that becomes known when a run listens, and that others wait for.
final class AwaitedAddress: Sendable {
    private typealias Waiter = CheckedContinuation<String, any Error>

    private struct State: Sendable {
        var address: String?
        var hasEnded = false
        var waiting: [Int: Waiter] = [:]
        var next = 0

        mutating func takeWaiting() -> [Waiter] {
            defer { waiting = [:] }
            return Array(waiting.values)
        }
    }

    private let state = Mutex(State())

    private static let ended = SkeinError(
        code: .usage, what: "the run has ended: nobody listens any more",
        remedy: "see what run() has thrown")

    /// - Returns: the address, at once when it is known.
    func value() async throws -> String {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<String, any Error>? = state.withLock { state in
                    if let address = state.address { return .success(address) }
                    if state.hasEnded { return .failure(Self.ended) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let known { return continuation.resume(with: known) }
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// A run begins: whoever asks waits for it.
    func begin() {
        state.withLock { $0.hasEnded = false }
    }

    func set(_ address: String) {
        let waiting = state.withLock { state in
            state.address = address
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume(returning: address) }
    }

    /// Nobody listens any more.
    func end() {
        let waiting = state.withLock { state in
            state.address = nil
            state.hasEnded = true
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume(throwing: Self.ended) }
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume(throwing: CancellationError())
    }
}
