/// Work on a thread of its own, while the caller does something else.
package final class Background<Value: Sendable>: Sendable {
    private let value = Condition<Value?>(nil)

    /// Starts the thread; if the system refuses one, does the work before it returns.
    ///
    /// - Parameters:
    ///   - name: of the thread.
    ///   - stackBytes: the size of its stack.
    ///   - body: called once, on the thread.
    package init(
        _ name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Value
    ) {
        let value = value
        let work = { @Sendable in
            let made = body()
            value.change { $0 = made }
        }
        if !SystemThread.start(name, stackBytes: stackBytes, work) { work() }
    }

    /// The result of the work; blocks until it is done.
    package func wait() -> Value { value.wait { $0 } }

    /// Suspends the caller until work that takes long or blocks is done. Swift's pool has one thread
    /// per processor, so work there would delay everything else in the program.
    ///
    /// - Parameters:
    ///   - name: of the thread.
    ///   - stackBytes: the size of its stack.
    ///   - refusal: thrown when the system refuses another thread; nothing is done then.
    ///   - body: called once, on the thread.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `refusal`.
    nonisolated(nonsending)
        package static func run(
            _ name: String, stackBytes: Int = 1 << 20, orThrow refusal: any Error,
            _ body: @escaping @Sendable () throws -> Value
        ) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = SystemThread.start(name, stackBytes: stackBytes) {
                continuation.resume(with: Result { try body() })
            }
            if !isStarted { continuation.resume(throwing: refusal) }
        }
    }
}
