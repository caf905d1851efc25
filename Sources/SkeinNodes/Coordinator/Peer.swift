import SkeinCoordination

/// One connection of a coordinator. Lives on the loop's thread.
final class Peer {
    enum Stage: String {
        /// Nobody knows yet who it is.
        case greeting
        /// It has proved the token and loads its model.
        case preparing
        case member
        /// `skein status`.
        case observer
        /// Its last message is on its way.
        case leaving
    }

    let id: PeerID
    let address: String
    var connection: Connection?
    var handshake: CoordinatorHandshake
    var stage = Stage.greeting
    var hello: Hello?
    /// Whether it has proved that it knows the token.
    var isKnown = false
    /// Since when it is connected.
    let since: Duration
    /// When it must have said who it is, or an observer what it wants.
    var handshakeAlarm: Alarm?
    var lastHeard: Duration
    /// While it prepares: what it has said of its model, in bytes.
    var preparedBytes: UInt64 = 0
    /// The version of the parameters that it has, or that is on its way.
    var parameterVersion: UInt64 = 0
    /// Whether parameters wait on this side of the connection: until they have left, no others are
    /// sent after them.
    var isTakingParameters = false
    /// Whether the whole of a version is among them.
    var isTakingWhole = false
    /// Whether it asked for a whole that was still on its way.
    var asksAgain = false
    /// Whether it is sent the newest parameters as soon as that is possible, with or without work.
    var wantsParameters = false
    /// How often it has asked for the whole of which version.
    var snapshots: (version: UInt64, count: Int) = (0, 0)
    /// Which attempt at a piece of the open round it was given.
    var attempts: [WorkKey: UInt32] = [:]
    /// Leases that must not overtake their parameters.
    var waitingGrants: [LeaseGrant] = []

    /// Pieces of the model that are being read for it.
    var piecesAsked = 0
    /// Bytes of its connection at the last heartbeat.
    var bytesMoved: UInt64 = 0

    /// It has said that it leaves.
    var saidGoodbye = false

    var name: String { hello?.name ?? "" }

    /// As in a line of the log; of a stranger the address alone can be believed.
    var title: String { isKnown ? "\(name) (\(address))" : address }

    init(id: PeerID, address: String, handshake: CoordinatorHandshake, since: Duration) {
        self.id = id
        self.address = address
        self.handshake = handshake
        self.since = since
        lastHeard = since
    }
}

/// Peers in the order in which they came. Putting one in, taking any one out and finding the first
/// cost O(1), taken over many.
struct PeerLine {
    private var places: [PeerID] = []
    private var present: Set<PeerID> = []
    private var head = 0

    var count: Int { present.count }

    /// Who has been there longest.
    var first: PeerID? { present.isEmpty ? nil : places[head] }

    /// Puts a peer behind the others; it must not have been there before.
    mutating func append(_ peer: PeerID) {
        places.append(peer)
        present.insert(peer)
    }

    mutating func remove(_ peer: PeerID) {
        guard present.remove(peer) != nil else { return }
        while head < places.count, !present.contains(places[head]) { head += 1 }
        guard head * 2 >= places.count else { return }
        places.removeSubrange(..<head)
        head = 0
    }
}
