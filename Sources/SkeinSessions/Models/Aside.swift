import SkeinBasics

/// Work that reads or writes files, on a thread of its own: Swift's pool must not wait for a disk.
enum Aside {
    /// Runs `body` on a thread that lives for it.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `ModelFlaw.noThread`.
    nonisolated(nonsending)
        static func run<Value: Sendable>(
            _ body: @escaping @Sendable () throws -> Value
        ) async throws -> Value
    {
        try await Background.run("skein-look", orThrow: ModelFlaw.noThread, body)
    }
}
