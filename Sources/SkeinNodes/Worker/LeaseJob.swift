import SkeinCoordination
import SkeinModels

/// A lease on its way to a compute thread.
struct LeaseJob: Sendable {
    let lease: LeaseGrant
    let term: UInt32
    /// Lets the network's thread follow and abandon it.
    let progress = PassProgress()
}
