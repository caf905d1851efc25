import Synchronization

/// Passes a run's events to all listeners.
final class EventFeed: Sendable {
    /// Most events that wait for a listener; beyond that the oldest are dropped.
    static let mostWaiting = 4096

    private struct State: Sendable {
        var listeners: [Int: @Sendable (TrainingEvent?) -> Void] = [:]
        var next = 0
        /// Nothing more will come, so a new listener must not wait.
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

    /// Calls `body` with every event, on the run's thread, and with nil at the end.
    ///
    /// - Returns: the listener's number; nil if the run is over and `body` was called with nil.
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

    /// Tells all listeners that nothing more will come.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }
}
