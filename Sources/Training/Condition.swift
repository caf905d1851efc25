import Foundation

/// A value that several threads change and wait for.
public final class Condition<State: Sendable>: @unchecked Sendable {
    // Every access to `state` holds `lock`; hence Sendable.
    private let lock = NSCondition()
    private var state: State

    public init(_ state: State) {
        self.state = state
    }

    /// Changes the state, and with `waking` lets those who wait look at it.
    @discardableResult
    public func change<Result>(waking: Bool = true, _ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        let result = body(&state)
        if waking { lock.broadcast() }
        return result
    }

    /// Blocks until `body` gives something.
    public func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            lock.wait()
        }
    }
}
