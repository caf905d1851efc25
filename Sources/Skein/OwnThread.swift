import SkeinBasics

/// Runs work that takes long or blocks on its own thread. Swift's pool has one thread per
/// processor, so work there would delay everything else in the program.
enum OwnThread {
    /// Runs `body` and suspends the caller until it is done.
    ///
    /// - Parameters:
    ///   - name: the thread's, as debuggers and `top -H` show it.
    ///   - body: the work.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, as `SkeinError` or `CancellationError`; `SkeinError` when the
    ///   system refuses another thread.
    static func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = SystemThread.start(name, stackBytes: 8 << 20) {
                continuation.resume(with: Result { try SkeinError.wrapping(body) })
            }
            if !isStarted {
                continuation.resume(
                    throwing: SkeinError(
                        code: .inputOutput, what: "the system refuses another thread",
                        remedy: "raise the limit on processes (ulimit -u, or the container's)"))
            }
        }
    }

    /// Like `run`, for a `body` that asks now and then whether the task is cancelled.
    static func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable (CancelFlag) throws -> Value
    ) async throws -> Value {
        let flag = CancelFlag()
        return try await withTaskCancellationHandler {
            try await run(name) { try body(flag) }
        } onCancel: {
            flag.set()
        }
    }
}
