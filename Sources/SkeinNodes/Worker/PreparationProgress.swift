import Synchronization

/// How much of a model a worker has prepared, and whether it is still wanted. The threads that
/// fetch, hash and load count; the network's thread reads.
final class PreparationProgress: Sendable {
    private let count = Atomic<UInt64>(0)
    private let stopped = Atomic<Bool>(false)

    /// Bytes fetched, hashed and loaded so far; each counts once for each of these.
    var bytes: UInt64 { count.load(ordering: .relaxed) }

    /// Whether the model is no longer wanted.
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    func stop() { stopped.store(true, ordering: .relaxed) }

    /// - Returns: whether to go on.
    func add(_ bytes: Int) -> Bool {
        count.wrappingAdd(UInt64(max(0, bytes)), ordering: .relaxed)
        return !isStopped
    }

    /// - Throws: `CancellationError` when the model is no longer wanted.
    func addOrEnd(_ bytes: Int) throws {
        if !add(bytes) { throw CancellationError() }
    }
}
