import Synchronization

/// Events on their way to all who listen.
final class EventFeed: Sendable {
    /// Events that wait for a listener; of a slower one the oldest are dropped.
    static let mostWaiting = 4096

    private struct State: Sendable {
        var listeners: [Int: AsyncStream<TrainingEvent>.Continuation] = [:]
        var next = 0
        /// Nothing will come: who listens now is not to wait for ever.
        var isOver = false
    }

    private let state = Mutex(State())

    /// A run begins.
    func begin() {
        state.withLock { $0.isOver = false }
    }

    /// All events from now on, until the run ends.
    func stream() -> AsyncStream<TrainingEvent> {
        let (stream, continuation) = AsyncStream<TrainingEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        let number: Int? = state.withLock { state in
            if state.isOver { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ event: TrainingEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    /// Ends all streams that are listened to.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
