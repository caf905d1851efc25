/// How a cluster recovered from the blows of one run, from its facts alone. Pure.
struct RecoveryRecord: Sendable {
    /// Seconds from a SIGKILL until the last of the worker's leases was with another worker, or no
    /// longer needed; nothing for a worker that held none.
    var leasedAgain: [Double] = []
    /// Seconds from a SIGKILL until the coordinator counted the worker as lost.
    var killNoticed: [Double] = []
    /// Seconds from a SIGSTOP until the coordinator counted the worker as lost.
    var stopNoticed: [Double] = []
    /// Seconds from when a killed and restarted worker joined, with its model loaded, until its
    /// first accepted gradient.
    var firstAccepted: [Double] = []
    /// For each blow, until the next: the longest time that a live worker had nothing to compute
    /// although there was work that no live worker had.
    var idle: [Double] = []

    private struct Piece: Hashable {
        var round: Int
        var index: Int
    }

    private enum Moment {
        case fact(ClusterFact)
        case blow(Blow)
        case continued(String)

        /// Facts come after blows of the same time.
        var rank: Int { if case .fact = self { 1 } else { 0 } }
    }

    // The situation at one moment.
    private var present: Set<String> = []
    private var down: Set<String> = []
    private var holders: [Piece: Set<String>] = [:]
    /// Pieces neither handed in nor accepted.
    private var wanting: Set<Piece> = []
    private var idleSince: [String: Double] = [:]
    private var longestIdle: Double?
    private var orphans: (since: Double, pieces: Set<Piece>, victim: String)?
    private var blows: [String: Blow] = [:]
    private var joined: [String: Double] = [:]

    init() {}

    /// Reads the facts and blows of one run.
    init(_ facts: [ClusterFact], _ given: [Blow]) {
        var moments = facts.map { (seconds: $0.seconds, what: Moment.fact($0)) }
        for blow in given {
            moments.append((blow.seconds, .blow(blow)))
            if let continued = blow.continued {
                moments.append((continued, .continued(blow.worker)))
            }
        }
        // Stable: facts of the same time stay in the log's order.
        let order = moments.indices.sorted {
            (moments[$0].seconds, moments[$0].what.rank, $0)
                < (moments[$1].seconds, moments[$1].what.rank, $1)
        }
        for index in order { take(moments[index].what, at: moments[index].seconds) }
        if let last = order.last { endIdle(at: moments[last].seconds) }
        if let longestIdle { idle.append(longestIdle) }
    }

    /// Adds the figures of another run.
    mutating func add(_ other: RecoveryRecord) {
        leasedAgain += other.leasedAgain
        killNoticed += other.killNoticed
        stopNoticed += other.stopNoticed
        firstAccepted += other.firstAccepted
        idle += other.idle
    }

    private mutating func take(_ moment: Moment, at seconds: Double) {
        switch moment {
        case .blow(let blow): strike(blow)
        case .continued(let worker): down.remove(worker)
        case .fact(let fact): take(fact)
        }
        watchOrphans(at: seconds)
        watchIdle(at: seconds)
    }

    private mutating func strike(_ blow: Blow) {
        endIdle(at: blow.seconds)
        if let longestIdle { idle.append(longestIdle) }
        longestIdle = 0
        down.insert(blow.worker)
        blows[blow.worker] = blow
        joined[blow.worker] = nil
        guard blow.kind == .kill else { return }
        let held = holders.filter { $0.value.contains(blow.worker) && wanting.contains($0.key) }
        orphans = held.isEmpty ? nil : (blow.seconds, Set(held.keys), blow.worker)
    }

    private mutating func take(_ fact: ClusterFact) {
        let piece = Piece(round: fact.round, index: fact.microBatch)
        switch fact.kind {
        case .opened:
            wanting = Set((0..<fact.pieces).map { Piece(round: fact.round, index: $0) })
            holders = [:]
        case .closed:
            wanting = []
            holders = [:]
        case .joined:
            present.insert(fact.worker)
            if blows[fact.worker]?.kind == .kill {
                down.remove(fact.worker)
                joined[fact.worker] = fact.seconds
            }
        case .left, .lost: leave(fact)
        case .leased: holders[piece, default: []].insert(fact.worker)
        case .cancelled: holders[piece]?.remove(fact.worker)
        case .arrived:
            holders[piece]?.remove(fact.worker)
            wanting.remove(piece)
        case .refused: wanting.insert(piece)
        case .accepted:
            wanting.remove(piece)
            if let since = joined.removeValue(forKey: fact.worker) {
                firstAccepted.append(fact.seconds - since)
                blows[fact.worker] = nil
            }
        }
    }

    private mutating func leave(_ fact: ClusterFact) {
        present.remove(fact.worker)
        for piece in holders.keys { holders[piece]?.remove(fact.worker) }
        guard let blow = blows[fact.worker], joined[fact.worker] == nil else { return }
        switch blow.kind {
        case .kill: killNoticed.append(fact.seconds - blow.seconds)
        case .stop:
            stopNoticed.append(fact.seconds - blow.seconds)
            blows[fact.worker] = nil
        }
    }

    /// Notes when each lease of a killed worker is with a live one, or no longer needed.
    private mutating func watchOrphans(at seconds: Double) {
        guard var orphans else { return }
        orphans.pieces = orphans.pieces.filter { wanting.contains($0) && isOrphan($0) }
        self.orphans = orphans
        guard orphans.pieces.isEmpty else { return }
        leasedAgain.append(seconds - orphans.since)
        self.orphans = nil
    }

    private func isOrphan(_ piece: Piece) -> Bool {
        holders[piece, default: []].subtracting(down).isEmpty
    }

    private mutating func watchIdle(at seconds: Double) {
        let isWorkLeft = wanting.contains { isOrphan($0) }
        let busy = holders.values.reduce(into: Set()) { $0.formUnion($1) }
        for worker in present {
            if isWorkLeft, !down.contains(worker), !busy.contains(worker) {
                idleSince[worker] = idleSince[worker] ?? seconds
            } else {
                endIdle(worker, at: seconds)
            }
        }
        for worker in Array(idleSince.keys) where !present.contains(worker) {
            endIdle(worker, at: seconds)
        }
    }

    private mutating func endIdle(at seconds: Double) {
        for worker in Array(idleSince.keys) { endIdle(worker, at: seconds) }
    }

    private mutating func endIdle(_ worker: String, at seconds: Double) {
        guard let since = idleSince.removeValue(forKey: worker) else { return }
        if let longest = longestIdle { longestIdle = max(longest, seconds - since) }
    }
}
