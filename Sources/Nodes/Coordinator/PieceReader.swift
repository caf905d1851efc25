import Basics
import Coordination
import Foundation
import Training

/// Reads pieces of the model for workers that fetch it, and hashes them for their frames.
///
/// On a thread of its own: a piece takes a millisecond, or as long as the disk takes, and the
/// network's thread has heartbeats to send. Holds what is asked for, which the hub limits for each
/// peer (`Limits.modelBacklogBytes`), and one piece at a time.
final class PieceReader: Sendable {
    private struct State: Sendable {
        var asked: [(peer: PeerID, request: ModelRequest)] = []
        var isClosed = false
    }

    private let state = Condition(State())

    /// Starts the thread; `deliver` is called on it with each piece, or nil for one that is not there.
    init(
        identity: RunIdentity, deliver: @escaping @Sendable (PeerID, EncodedMessage?) -> Void
    ) {
        let state = state
        let thread = Thread {
            while let next = Self.next(state) {
                let chunk = identity.modelChunk(next.request)
                deliver(next.peer, chunk.map { EncodedMessage(.modelChunk($0)) })
            }
        }
        thread.name = "skein-pieces"
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Has a piece read after those that were asked for before.
    func read(_ request: ModelRequest, for peer: PeerID) {
        state.change { $0.asked.append((peer, request)) }
    }

    /// Ends the thread; what it has not read is not read any more.
    func close() {
        state.change { $0.isClosed = true }
    }

    private static func next(
        _ state: Condition<State>
    ) -> (peer: PeerID, request: ModelRequest)? {
        state.wait { state -> (peer: PeerID, request: ModelRequest)?? in
            if state.isClosed { return .some(nil) }
            return state.asked.isEmpty ? nil : .some(state.asked.removeFirst())
        }
    }
}
