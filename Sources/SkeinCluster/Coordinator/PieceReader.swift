import SkeinCoordination

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// It has a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. What it reads, and when, `PieceQueue` decides.
final class PieceReader: Sendable {
    private let thread: SerialThread<ModelRequest>

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is
    /// missing.
    init(
        identity: RunIdentity, deliver: @escaping @Sendable (ModelRequest, EncodedMessage?) -> Void
    ) {
        thread = SerialThread("skein-pieces") { piece in
            let chunk = identity.modelChunk(piece)
            deliver(piece, chunk.map { EncodedMessage(.modelChunk($0)) })
        }
    }

    /// Queues a piece behind those asked for before.
    func read(_ piece: ModelRequest) {
        thread.give(piece)
    }

    /// Ends the thread; pieces that it has not read are dropped.
    func close() {
        thread.close()
    }
}
