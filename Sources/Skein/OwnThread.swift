import SkeinBasics

/// Runs work that takes long or blocks on its own thread, with the errors of this room.
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
        try await Background.run(name, stackBytes: 8 << 20, orThrow: SkeinError.noThread) {
            try SkeinError.wrapping(body)
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

extension SkeinError {
    static var noThread: SkeinError {
        SkeinError(
            code: .inputOutput, what: "the system refuses another thread",
            remedy: "raise the limit on processes (ulimit -u, or the container's)")
    }
}
