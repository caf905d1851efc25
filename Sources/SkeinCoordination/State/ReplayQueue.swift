/// What rebuilds states, on its way to workers: it is large, and many may ask at once.
///
/// One is encoded at a time, one is under way to a worker at a time, and while those under way are
/// `Limits.replaysUnderWay` or have more than `limit` bytes in all, the next one waits. A worker that
/// takes nothing, or takes too long while others wait, is hung up on.
package struct ReplayQueue: Sendable {
    package struct Request: Sendable, Equatable {
        package let peer: PeerID
        package let key: WorkKey

        package init(peer: PeerID, key: WorkKey) {
            self.peer = peer
            self.key = key
        }
    }

    /// A replay that the system has not taken in full.
    private struct Sending: Sendable {
        let bytes: Int
        let since: Duration
        /// Bytes that wait for the worker, and since when.
        var pending: Int
        var pendingSince: Duration
    }

    /// How a replay under way goes on.
    package enum Look: Sendable, Equatable {
        case moves, stands
        /// The words say how; the worker is hung up on.
        case tooSlow(String)
    }

    private let limit: Int
    /// In the order in which they were asked for; each once.
    private var waiting: [Request] = []
    /// What the run's thread encodes now.
    private var encoding: (request: Request, isWanted: Bool)?
    private var underWay: [PeerID: Sending] = [:]

    package init(limit: Int = Limits.replayBytes) {
        self.limit = limit
    }

    /// Bytes of the replays under way.
    package var bytes: Int { underWay.values.reduce(0) { $0 + $1.bytes } }

    /// A worker asks. It is answered once, however often it asks before the answer leaves.
    package mutating func append(_ request: Request) {
        if encoding?.request == request {
            encoding?.isWanted = true
        } else if !waiting.contains(request) {
            waiting.append(request)
        }
    }

    /// What to encode next; nil: nothing can be sent, or the run's thread is busy with one.
    package mutating func next() -> Request? {
        guard encoding == nil, underWay.isEmpty || bytes < limit,
            underWay.count < Limits.replaysUnderWay,
            let place = waiting.firstIndex(where: { underWay[$0.peer] == nil })
        else { return nil }
        let request = waiting.remove(at: place)
        encoding = (request, true)
        return request
    }

    /// The run's thread has encoded what was asked of it.
    ///
    /// - Returns: whether it is still wanted.
    package mutating func encoded(_ request: Request, bytes: Int, now: Duration) -> Bool {
        guard let last = encoding, last.request == request else { return false }
        encoding = nil
        guard last.isWanted else { return false }
        underWay[request.peer] = Sending(
            bytes: bytes, since: now, pending: bytes, pendingSince: now)
        return true
    }

    /// Whether a worker waits here, and not for itself.
    package func waits(_ peer: PeerID) -> Bool {
        encoding?.request.peer == peer || waiting.contains { $0.peer == peer }
    }

    /// Looks after what is under way to a worker.
    ///
    /// - Parameters:
    ///   - peer: the worker.
    ///   - pending: bytes that wait for it.
    ///   - now: the time.
    ///   - patience: of the run.
    /// - Returns: nil if nothing is under way to it.
    package mutating func look(
        at peer: PeerID, pending: Int, now: Duration, patience: Duration
    ) -> Look? {
        guard var sending = underWay[peer] else { return nil }
        let moves = pending < sending.pending
        if moves { (sending.pending, sending.pendingSince) = (pending, now) }
        underWay[peer] = sending
        if now - sending.pendingSince >= patience {
            return .tooSlow("it has taken nothing of what rebuilds a state")
        }
        if !waiting.isEmpty, now - sending.since >= patience * Limits.replayPatience {
            return .tooSlow("others wait while it takes what rebuilds a state")
        }
        return moves ? .moves : .stands
    }

    /// The system has taken all that waited for a worker.
    package mutating func left(_ peer: PeerID) {
        underWay[peer] = nil
    }

    /// A worker is gone.
    package mutating func remove(_ peer: PeerID) {
        underWay[peer] = nil
        waiting.removeAll { $0.peer == peer }
        if encoding?.request.peer == peer { encoding?.isWanted = false }
    }

    /// The worker no longer needs it. The run's thread encodes it all the same, and nothing beside it.
    package mutating func cancel(_ request: Request) {
        waiting.removeAll { $0 == request }
        if encoding?.request == request { encoding?.isWanted = false }
    }

    /// The round is over: what has not been sent is not needed, and the run's thread does not
    /// encode it.
    package mutating func endRound() {
        waiting = []
        encoding = nil
    }
}
