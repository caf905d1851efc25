/// Work on a thread of its own, while the caller does something else.
package final class Background<Value: Sendable>: Sendable {
    private let value = Condition<Value?>(nil)

    /// Starts the thread; if the system refuses one, does the work before it returns.
    ///
    /// - Parameters:
    ///   - name: of the thread.
    ///   - body: called once, on the thread.
    package init(_ name: String, _ body: @escaping @Sendable () -> Value) {
        let value = value
        let work = { @Sendable in
            let made = body()
            value.change { $0 = made }
        }
        if !SystemThread.start(name, work) { work() }
    }

    /// The result of the work; blocks until it is done.
    package func wait() -> Value { value.wait { $0 } }
}
