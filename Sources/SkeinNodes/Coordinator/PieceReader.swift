import SkeinCoordination

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// On a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. Holds what is asked for, which the shell limits for each
/// peer (`Limits.modelBacklogBytes`), and one piece at a time.
final class PieceReader: Sendable {
    private let thread: SerialThread<(peer: PeerID, request: ModelRequest)>

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is not there.
    init(
        identity: RunIdentity, deliver: @escaping @Sendable (PeerID, EncodedMessage?) -> Void
    ) {
        thread = SerialThread("skein-pieces") { next in
            let chunk = identity.modelChunk(next.request)
            deliver(next.peer, chunk.map { EncodedMessage(.modelChunk($0)) })
        }
    }

    /// Has a piece read after those that were asked for before.
    func read(_ request: ModelRequest, for peer: PeerID) {
        thread.give((peer, request))
    }

    /// Ends the thread; what it has not read is not read any more.
    func close() {
        thread.close()
    }
}
