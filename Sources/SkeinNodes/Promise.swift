import SkeinBasics

/// One value that a thread waits for; the first that is kept counts.
package final class Promise<Value: Sendable>: @unchecked Sendable {
    // `kept` is used under `condition` alone; hence Sendable.
    private let condition = TimedCondition()
    private var kept: Value?

    package init() {}

    package func keep(_ value: Value) {
        condition.withLock {
            if kept == nil { kept = value }
            condition.broadcast()
        }
    }

    /// The value, or nil when it is not there after so many seconds, whatever is done to the wall
    /// clock meanwhile.
    package func value(within seconds: Double) -> Value? {
        let deadline = ContinuousClock.now + .seconds(min(max(0, seconds), 1e9))
        return condition.withLock {
            while kept == nil, condition.wait(until: deadline) {}
            return kept
        }
    }
}
