/// A value that several threads change and wait for.
package final class Condition<State: Sendable>: @unchecked Sendable {
    // Every access to `state` holds `lock`; hence Sendable.
    private let lock = TimedCondition()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    /// Changes the state and, with `waking`, wakes those who wait.
    @discardableResult
    package func change<Result>(waking: Bool = true, _ body: (inout State) -> Result) -> Result {
        lock.withLock {
            let result = body(&state)
            if waking { lock.broadcast() }
            return result
        }
    }

    /// Blocks until `body` returns a value.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        lock.withLock {
            while true {
                if let result = body(&state) { return result }
                lock.wait()
            }
        }
    }

    /// Blocks until `body` returns a value, or has none when `deadline` has passed.
    @discardableResult
    package func wait<Result>(
        until deadline: ContinuousClock.Instant, _ body: (inout State) -> Result?
    ) -> Result? {
        lock.withLock {
            while true {
                if let result = body(&state) { return result }
                if !lock.wait(until: deadline) { return nil }
            }
        }
    }
}
