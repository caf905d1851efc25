import Foundation

/// Work that takes long or blocks, on a thread of its own: Swift's pool has one thread for each
/// processor, and one that computes would delay everything else in the program.
enum OwnThread {
    /// Runs `body` and suspends the caller until it is done.
    ///
    /// - Parameters:
    ///   - name: of the thread, as debuggers and `top -H` show it.
    ///   - body: the work.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, as `SkeinError` or `CancellationError`.
    static func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Result { try SkeinError.wrapping(body) })
            }
            thread.name = name
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
