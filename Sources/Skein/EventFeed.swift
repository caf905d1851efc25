import Synchronization

/// Events on their way to all who listen.
final class EventFeed: Sendable {
    /// Events that wait for a listener; of a slower one the oldest are dropped.
    static let mostWaiting = 4096

    private struct State: Sendable {
        var listeners: [Int: @Sendable (TrainingEvent?) -> Void] = [:]
        var next = 0
        /// Nothing will come: who listens now is not to wait for ever.
        var isOver = false
    }

    private let state = Mutex(State())

    deinit { finish() }

    /// All events from now on, until the run ends.
    func stream() -> AsyncStream<TrainingEvent> {
        let (stream, continuation) = AsyncStream<TrainingEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        let number = listen { event in
            if let event { continuation.yield(event) } else { continuation.finish() }
        }
        continuation.onTermination = { [weak self] _ in
            guard let number else { return }
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Has `body` called with every event, on the thread of the run, and with nil at the end.
    ///
    /// - Returns: the listener's number; nil when the run is over, which `body` has then been told.
    @discardableResult
    func listen(_ body: @escaping @Sendable (TrainingEvent?) -> Void) -> Int? {
        let number: Int? = state.withLock { state in
            if state.isOver { return nil }
            state.next += 1
            state.listeners[state.next] = body
            return state.next
        }
        if number == nil { body(nil) }
        return number
    }

    func send(_ event: TrainingEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener(event) }
    }

    /// Tells all who listen that nothing more will come.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }
}
