import SkeinBasics

/// A worker that has proved the token and gets its model ready.
struct Preparation: Sendable {
    let peer: PeerID
    let name: String
    let address: String
    /// Of the model, fetched, hashed and loaded so far, as it last said.
    var bytes: UInt64 = 0
    /// When that last changed; at first, when it got the offer.
    var progressAt: Duration
}

// Workers that are on their way in. Being alive is not enough: one whose disk hangs sends its
// heartbeats, too, and must not hold up the end of a run that nobody comes to.
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

    /// When the patience with a fleet that is too small is over; nil: it is large enough.
    ///
    /// It begins anew with every worker that joins or gets on with its preparation.
    var giveUpAt: Duration? {
        shortageSince.map {
            max($0, lastArrival ?? $0) + settings.patience * (hasEverJoined ? 1 : 10)
        }
    }
}
