import Synchronization

/// Passes elements to any number of asynchronous sequences, each of which begins with the first.
///
/// A task has begun before a program can listen to it, so what was sent before counts as well.
final class ReplayedFeed<Element: Sendable>: Sendable {
    /// Most elements that are remembered, and that wait for one listener; beyond that the oldest
    /// are dropped.
    static var mostWaiting: Int { 4096 }

    private struct State: Sendable {
        /// The newest `mostWaiting` elements, as a ring that begins at `first`.
        var past: [Element] = []
        var first = 0
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var next = 0
        var isOver = false
    }

    private let state = Mutex(State())

    deinit { finish() }

    /// All elements, past and future, until the end.
    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        let number: Int? = state.withLock { state in
            for element in state.past[state.first...] + state.past[..<state.first] {
                continuation.yield(element)
            }
            guard !state.isOver else { return nil }
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

    func send(_ element: Element) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.past.count < Self.mostWaiting {
                state.past.append(element)
            } else {
                state.past[state.first] = element
                state.first = (state.first + 1) % Self.mostWaiting
            }
            for listener in state.listeners.values { listener.yield(element) }
        }
    }

    /// Ends all sequences.
    func finish() {
        // Outside of the lock: a sequence that ends calls back.
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
