import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// A result, and the worker that sent it.
package struct ReceivedResult: Sendable {
    let peer: PeerID
    let worker: String
    let result: WorkResult
}
