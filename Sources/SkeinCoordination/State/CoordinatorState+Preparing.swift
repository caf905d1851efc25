import SkeinBasics

/// A worker that has proved the token and prepares its model.
struct Preparation: Sendable {
    let peer: PeerID
    let name: String
    let address: String
    /// Bytes of the model fetched, hashed and loaded so far, as last reported.
    var bytes: UInt64 = 0
    /// When that last changed; at first, when it got the offer.
    var progressAt: Duration
}

// Workers that prepare. Being alive is not enough: one whose disk hangs sends heartbeats, too, and
// must not delay the end of a run that nobody joins.
extension CoordinatorState {
    mutating func preparing(_ peer: PeerID, name: String, address: String, bytes: UInt64) {
        guard members[peer] == nil else { return }
        guard let known = preparations[peer] else {
            preparations[peer] = Preparation(
                peer: peer, name: name, address: address, bytes: bytes, progressAt: clock)
            return
        }
        guard bytes != known.bytes else { return }
        preparations[peer]?.bytes = bytes
        preparations[peer]?.progressAt = clock
        lastArrival = clock
    }

    /// When the patience with too small a fleet ends; nil: the fleet is large enough.
    ///
    /// It restarts with every worker that joins or gets on with its preparation.
    var giveUpAt: Duration? {
        shortageSince.map {
            max($0, lastArrival ?? $0) + settings.patience * (hasEverJoined ? 1 : 10)
        }
    }
}
