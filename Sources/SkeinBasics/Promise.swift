/// One value that a thread waits for; the first one kept counts.
package final class Promise<Value: Sendable>: @unchecked Sendable {
    // Sendable, because `kept` is used only under `condition`.
    private let condition = TimedCondition()
    private var kept: Value?

    package init() {}

    package func keep(_ value: Value) {
        condition.withLock {
            if kept == nil { kept = value }
            condition.broadcast()
        }
    }

    /// The value, or nil if there is none after `seconds`; changes of the wall clock do not matter.
    package func value(within seconds: Double) -> Value? {
        let deadline = ContinuousClock.now + .seconds(min(max(0, seconds), 1e9))
        return condition.withLock {
            while kept == nil, condition.wait(until: deadline) {}
            return kept
        }
    }
}
