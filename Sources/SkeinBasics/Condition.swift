import Foundation

/// A value that several threads change and wait for.
package final class Condition<State: Sendable>: @unchecked Sendable {
    // Every access to `state` holds `lock`; hence Sendable.
    private let lock = NSCondition()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    /// Changes the state and, with `waking`, wakes those who wait.
    @discardableResult
    package func change<Result>(waking: Bool = true, _ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        let result = body(&state)
        if waking { lock.broadcast() }
        return result
    }

    /// Blocks until `body` returns a value.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            lock.wait()
        }
    }
}
