import SkeinBasics
import SkeinCoordination

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// It has a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. What it reads, and when, `PieceQueue` decides.
final class PieceReader: Sendable {
    private let perform: @Sendable (ModelRequest) -> Void
    /// nil: the system has refused the thread.
    private let queue: WorkQueue<ModelRequest>?

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is
    /// missing. If the system refuses a thread, `read` calls it.
    init(
        identity: RunIdentity, deliver: @escaping @Sendable (ModelRequest, EncodedMessage?) -> Void
    ) {
        perform = { piece in
            let chunk = identity.modelChunk(piece)
            deliver(piece, chunk.map { EncodedMessage(.modelChunk($0)) })
        }
        queue = WorkQueue("skein-pieces", perform: perform)
    }

    /// Queues a piece behind those asked for before.
    func read(_ piece: ModelRequest) {
        if let queue { queue.give(piece) } else { perform(piece) }
    }

    /// Ends the thread; pieces that it has not read are dropped.
    func close() {
        queue?.close(droppingWaiting: true)
    }
}
