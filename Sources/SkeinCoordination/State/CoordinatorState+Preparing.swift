import SkeinBasics

/// A worker that has proved the token and prepares its model.
struct Preparation: Sendable {
    let peer: PeerID
    /// "w3 (10.0.0.7:40112)".
    let title: String
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
                peer: peer, title: "\(name) (\(address))", bytes: bytes, progressAt: clock)
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

    /// "; w3 (10.0.0.7:40112) prepares (120 MiB of the model done, the last 0.4 s ago)", or nothing.
    func preparationSentence(_ now: Duration) -> String {
        let newest = preparations.values.max {
            ($0.progressAt, $1.peer) < ($1.progressAt, $0.peer)
        }
        guard let newest else { return "" }
        let others = preparations.count - 1
        return "; \(newest.title) prepares (\(newest.bytes >> 20) MiB of the model done, the last "
            + "\((now - newest.progressAt).inWords) ago)"
            + (others > 0 ? " and \(others) more, too" : "")
    }
}
