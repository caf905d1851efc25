import SkeinCoordination

/// Peers in the order in which they came. Adding one, removing any and finding the first cost O(1),
/// amortized.
struct PeerLine {
    private var places: [PeerID] = []
    private var present: Set<PeerID> = []
    private var head = 0

    var count: Int { present.count }

    /// The one that has been there longest.
    var first: PeerID? { present.isEmpty ? nil : places[head] }

    /// Adds a peer behind the others; it must not have been there before.
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
