/// Peers that have not proved the token: decides who goes when there are too many. No socket, clock
/// or thread.
///
/// Places are shared by where peers come from. A peer that opens connections without end from one
/// address loses its own ones, and a worker far away keeps the time that its handshake takes.
package struct StrangerQueue: Sendable {
    /// Where peers come from: an IPv4 address, or the first 64 bits of an IPv6 address, of which one
    /// host has all that follow.
    package typealias Source = [UInt8]

    /// Who goes, and how many there were with it.
    package struct Choice: Sendable, Equatable {
        package let peer: PeerID
        /// Strangers from where it comes from, and in all.
        package let fromThere: Int
        package let count: Int
    }

    private struct Place: Sendable {
        let peer: PeerID
        var hasSpoken = false
    }

    /// The peers from each source, in the order in which they came.
    private var places: [Source: [Place]] = [:]
    private var sources: [PeerID: Source] = [:]

    package init() {}

    package var count: Int { sources.count }

    /// A peer has connected; it must not have been here before.
    package mutating func came(_ peer: PeerID, from source: Source) {
        places[source, default: []].append(Place(peer: peer))
        sources[peer] = source
    }

    /// A peer has sent a HELLO that makes sense.
    package mutating func spoke(_ peer: PeerID) {
        guard let source = sources[peer],
            let place = places[source]?.firstIndex(where: { $0.peer == peer })
        else { return }
        places[source]?[place].hasSpoken = true
    }

    /// A peer has proved the token, or is gone.
    package mutating func remove(_ peer: PeerID) {
        guard let source = sources.removeValue(forKey: peer) else { return }
        places[source]?.removeAll { $0.peer == peer }
        if places[source]?.isEmpty == true { places[source] = nil }
    }

    /// Who goes if one must: of the source with most strangers the one that has been silent longest;
    /// if all have spoken, the oldest. Costs O(strangers).
    package var choice: Choice? {
        let most = places.values.map(\.count).max() ?? 0
        let candidates = places.values.filter { $0.count == most }.compactMap { all in
            all.first { !$0.hasSpoken } ?? all.first
        }
        // Where several sources have as many, silence decides, too, and then age.
        let chosen = candidates.min {
            ($0.hasSpoken ? 1 : 0, $0.peer) < ($1.hasSpoken ? 1 : 0, $1.peer)
        }
        return chosen.map { Choice(peer: $0.peer, fromThere: most, count: count) }
    }
}
