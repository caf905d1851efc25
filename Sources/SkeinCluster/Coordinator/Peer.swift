import SkeinCoordination
import SkeinNetwork

/// One connection of a coordinator. Lives on the loop's thread.
package final class Peer {
    package enum Stage: String {
        /// It has not yet proved the token.
        case greeting
        /// It has proved the token and prepares its model.
        case preparing
        case member
        /// `skein status`.
        case observer
        /// Its last message is on its way.
        case leaving
    }

    package let id: PeerID
    let address: String
    package internal(set) var connection: Connection?
    var handshake: CoordinatorHandshake
    package internal(set) var stage = Stage.greeting
    var hello: Hello?
    /// Whether it has proved that it knows the token.
    var isKnown = false
    /// When it connected.
    package let since: Duration
    /// Ends the time in which it must say who it is, or an observer what it wants.
    var handshakeAlarm: Alarm?
    var lastHeard: Duration
    /// While it prepares: bytes of its model done so far, as it last said.
    var preparedBytes: UInt64 = 0
    /// Which attempt at each piece of the open round it was leased.
    package internal(set) var attempts: [WorkKey: UInt32] = [:]
    /// Bytes that its connection had carried at the last heartbeat.
    var bytesMoved: UInt64 = 0

    /// Whether it has said that it leaves.
    var saidGoodbye = false

    package var name: String { hello?.name ?? "" }

    /// Its name in the log; of a stranger, only the address can be believed.
    var title: String { isKnown ? "\(name) (\(address))" : address }

    init(id: PeerID, address: String, handshake: CoordinatorHandshake, since: Duration) {
        self.id = id
        self.address = address
        self.handshake = handshake
        self.since = since
        lastHeard = since
    }
}
