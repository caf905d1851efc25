import Synchronization

/// Passes elements to any number of listeners: to asynchronous sequences, or to functions.
///
/// Elements are passed on with the lock held, so that all listeners have them in one order, and the
/// past of a new one has no gap. A function must not call the feed. `finish` calls outside of the lock:
/// a sequence that ends calls back.
package final class Feed<Element: Sendable>: Sendable {
    /// Most elements that are remembered, and that wait for one sequence; beyond that the oldest are
    /// dropped.
    package static var mostWaiting: Int { 4096 }

    private struct State: Sendable {
        var past = Ring<Element>()
        var listeners: [Int: @Sendable (Element?) -> Void] = [:]
        var next = 0
        /// Nothing more will come, so a new listener must not wait.
        var isOver = false
    }

    private let state = Mutex(State())
    private let replays: Bool

    /// - Parameter replays: whether listeners get what was sent before, too: a task has begun before a
    ///   program can listen to it.
    package init(replays: Bool = false) {
        self.replays = replays
    }

    deinit { finish() }

    /// All elements from now on, behind those that are replayed, until the end.
    package func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        let number = listen { element in
            if let element { continuation.yield(element) } else { continuation.finish() }
        }
        continuation.onTermination = { [weak self] _ in
            guard let number else { return }
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Calls `body` with the elements of the past at once, on the caller's thread, with every other on
    /// its sender's, and with nil at the end.
    ///
    /// - Returns: the listener's number; nil if the end has come, and `body` knows it.
    @discardableResult
    package func listen(_ body: @escaping @Sendable (Element?) -> Void) -> Int? {
        let number: Int? = state.withLock { state in
            for element in state.past.elements { body(element) }
            if state.isOver { return nil }
            state.next += 1
            state.listeners[state.next] = body
            return state.next
        }
        if number == nil { body(nil) }
        return number
    }

    package func send(_ element: Element) {
        state.withLock { state in
            guard !state.isOver else { return }
            if replays {
                if state.past.count == Self.mostWaiting { _ = state.past.popFirst() }
                state.past.append(element)
            }
            for listener in state.listeners.values { listener(element) }
        }
    }

    /// Tells all listeners that nothing more will come.
    package func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }
}
