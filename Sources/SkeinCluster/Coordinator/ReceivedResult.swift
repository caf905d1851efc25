import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// A result, and the worker that sent it.
struct ReceivedResult: Sendable {
    let peer: PeerID
    let worker: String
    let result: WorkResult
}
