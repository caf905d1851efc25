import SkeinBasics

/// What waits for the peers of a coordinator, over all of them: decides who is hung up on when it is
/// too much. No socket, clock or thread.
///
/// A peer that reads has little waiting. One that does not has leases, answers and cancellations,
/// and a version of the parameters that the others have left behind. Each is little for one peer;
/// a hundred such peers must not take more than the coordinator promised. Pieces of the model have
/// a limit of their own: `PieceQueue`.
package struct Backlog: Sendable {
    /// What waits for one peer.
    package struct Entry: Sendable {
        package let peer: PeerID
        /// Bytes of messages that are for this peer alone.
        package let ownBytes: Int
        /// An earlier version of the parameters that is still being sent to it, and its bytes.
        package let old: (version: UInt64, bytes: Int)?
        /// Bytes that its system has acknowledged, of all messages.
        package let taken: UInt64

        package init(
            peer: PeerID, ownBytes: Int, old: (version: UInt64, bytes: Int)?, taken: UInt64
        ) {
            (self.peer, self.ownBytes, self.old, self.taken) = (peer, ownBytes, old, taken)
        }
    }

    /// Whom to hang up on, and in which words.
    package struct Verdict: Sendable, Equatable {
        package let peer: PeerID
        package let reason: String
    }

    private let ownLimit: Int
    private let versionLimit: Int
    /// For each peer for which something waits: what it had taken, and since when it takes nothing.
    private var stands: [PeerID: (taken: UInt64, since: Duration)] = [:]

    /// - Parameters:
    ///   - ownLimit: for the bytes that wait for single peers, over all of them.
    ///   - versionLimit: for the bytes of earlier versions, each counted once.
    package init(ownLimit: Int, versionLimit: Int) {
        (self.ownLimit, self.versionLimit) = (ownLimit, versionLimit)
    }

    /// Looks at all peers for which something waits.
    ///
    /// - Returns: those to hang up on. One that takes what it is sent is among them only if
    ///   there are four times as many bytes as may be, its own or of earlier versions.
    package mutating func look(at entries: [Entry], now: Duration) -> [Verdict] {
        var seen: [PeerID: (taken: UInt64, since: Duration)] = [:]
        for entry in entries {
            let last = stands[entry.peer]
            seen[entry.peer] =
                last?.taken == entry.taken ? last : (taken: entry.taken, since: now)
        }
        let waitedBefore = Set(stands.keys)
        stands = seen
        var left = entries.sorted { ($1.ownBytes, $0.peer) < ($0.ownBytes, $1.peer) }
        var verdicts: [Verdict] = []
        func drop(_ isOne: (Entry) -> Bool) -> Bool {
            guard let place = left.firstIndex(where: isOne) else { return false }
            let entry = left.remove(at: place)
            let bytes = entry.ownBytes + (entry.old?.bytes ?? 0)
            let time = (now - (seen[entry.peer]?.since ?? now)).inWords
            let how =
                standsStill(entry)
                ? "of which it has taken none for \(time)" : "more than may wait for all"
            verdicts.append(
                Verdict(peer: entry.peer, reason: "\(bytes) bytes wait for it, \(how)"))
            return true
        }
        func standsStill(_ entry: Entry) -> Bool {
            now - (seen[entry.peer]?.since ?? now) >= Limits.backlogStandstill
        }
        while Self.ownBytes(left) > ownLimit, drop({ $0.ownBytes > 0 && standsStill($0) }) {}
        while Self.ownBytes(left) > 2 * ownLimit,
            drop({ $0.ownBytes > 0 && (seen[$0.peer]?.since ?? now) < now })
        {}
        // One who takes a little now and then. What a round sends in one turn is no fault of those
        // that it is sent to, so they had something to take before.
        while Self.ownBytes(left) > 4 * ownLimit,
            drop({ $0.ownBytes > 0 && waitedBefore.contains($0.peer) })
        {}
        // One who takes a little now and then keeps a version for as long as it likes.
        while Self.versionBytes(left) > 4 * versionLimit, drop({ $0.old != nil }) {}
        while Self.versionBytes(left) > versionLimit, drop({ $0.old != nil && standsStill($0) }) {}
        return verdicts
    }

    private static func ownBytes(_ entries: [Entry]) -> Int {
        entries.reduce(0) { $0 + $1.ownBytes }
    }

    /// Bytes of earlier versions; those who are sent the same one share it.
    private static func versionBytes(_ entries: [Entry]) -> Int {
        var versions: [UInt64: Int] = [:]
        for case let old? in entries.map(\.old) {
            versions[old.version] = max(versions[old.version] ?? 0, old.bytes)
        }
        return versions.values.reduce(0, +)
    }
}
