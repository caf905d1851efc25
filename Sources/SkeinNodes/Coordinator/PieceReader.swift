import SkeinCoordination

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// It has a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. It holds the requests, which the shell limits for each
/// peer (`Limits.modelBacklogBytes`), and one piece at a time.
final class PieceReader: Sendable {
    private let thread: SerialThread<(peer: PeerID, request: ModelRequest)>

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is
    /// missing.
    init(
        identity: RunIdentity, deliver: @escaping @Sendable (PeerID, EncodedMessage?) -> Void
    ) {
        thread = SerialThread("skein-pieces") { next in
            let chunk = identity.modelChunk(next.request)
            deliver(next.peer, chunk.map { EncodedMessage(.modelChunk($0)) })
        }
    }

    /// Queues a piece behind those asked for before.
    func read(_ request: ModelRequest, for peer: PeerID) {
        thread.give((peer, request))
    }

    /// Ends the thread; pieces that it has not read are dropped.
    func close() {
        thread.close()
    }
}
