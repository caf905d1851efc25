import SkeinBasics
import SkeinCoordination

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// It has a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. What it reads, and when, `PieceQueue` decides.
final class PieceReader: Sendable {
    private let perform: @Sendable (ModelRequest) -> Void
    /// Performs what it is given elsewhere; nil: the thread does.
    private let beside: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    /// nil: the system has refused the thread, or none is wanted.
    private let queue: WorkQueue<ModelRequest>?

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is
    /// missing. If the system refuses a thread, `read` calls it. `beside` is for use without
    /// threads, as in a simulation.
    init(
        identity: RunIdentity,
        beside: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
        deliver: @escaping @Sendable (ModelRequest, EncodedMessage?) -> Void
    ) {
        self.beside = beside
        perform = { piece in
            let chunk = identity.modelChunk(piece)
            deliver(piece, chunk.map { EncodedMessage(.modelChunk($0)) })
        }
        queue = beside == nil ? WorkQueue("skein-pieces", perform: perform) : nil
    }

    /// Queues a piece behind those asked for before.
    func read(_ piece: ModelRequest) {
        if let beside { return beside { [perform] in perform(piece) } }
        if let queue { queue.give(piece) } else { perform(piece) }
    }

    /// Ends the thread; pieces that it has not read are dropped.
    func close() {
        queue?.close(droppingWaiting: true)
    }
}
