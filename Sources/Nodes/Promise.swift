import Foundation

/// One value that a thread waits for; the first that is kept counts.
final class Promise<Value: Sendable>: @unchecked Sendable {
    // `kept` is used under `condition` alone; hence Sendable.
    private let condition = NSCondition()
    private var kept: Value?

    func keep(_ value: Value) {
        condition.lock()
        if kept == nil { kept = value }
        condition.broadcast()
        condition.unlock()
    }

    /// The value, or nil when it is not there after so many seconds.
    func value(within seconds: Double) -> Value? {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while kept == nil, condition.wait(until: deadline) {}
        return kept
    }
}
