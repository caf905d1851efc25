import Synchronization

/// How far a worker has come with a model, and whether anybody still wants it: written by the threads
/// that fetch, hash and load, read by the network's.
final class PreparationProgress: Sendable {
    private let count = Atomic<UInt64>(0)
    private let stopped = Atomic<Bool>(false)

    /// Bytes fetched, hashed and loaded so far; each counts once for each of these.
    var bytes: UInt64 { count.load(ordering: .relaxed) }

    /// Whether nobody wants the model any more.
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    func stop() { stopped.store(true, ordering: .relaxed) }

    /// - Returns: whether to go on.
    func add(_ bytes: Int) -> Bool {
        count.wrappingAdd(UInt64(max(0, bytes)), ordering: .relaxed)
        return !isStopped
    }

    /// - Throws: `CancellationError` when nobody wants the model any more.
    func addOrEnd(_ bytes: Int) throws {
        if !add(bytes) { throw CancellationError() }
    }
}
