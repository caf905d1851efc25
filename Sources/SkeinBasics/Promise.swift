/// One value that a thread waits for; the first one kept counts.
package final class Promise<Value: Sendable>: Sendable {
    private let kept = Condition<Value?>(nil)

    package init() {}

    package func keep(_ value: Value) {
        kept.change { if $0 == nil { $0 = value } }
    }

    /// The value, or nil if there is none after `seconds`; changes of the wall clock do not matter.
    package func value(within seconds: Double) -> Value? {
        kept.wait(until: .now + .seconds(min(max(0, seconds), 1e9))) { $0 }
    }
}
