import SkeinCoordination

/// What rebuilds states, on its way to workers: it is large, and many may ask at once.
///
/// One is encoded at a time, one is under way to a worker at a time, and while those under way have
/// more than `limit` bytes in all, the next one waits.
struct ReplayLine {
    struct Request: Equatable {
        let peer: PeerID
        let key: WorkKey
    }

    private let limit: Int
    /// In the order in which they were asked for; each once.
    private var waiting: [Request] = []
    /// What the run's thread encodes now.
    private(set) var encoding: Request?
    /// Bytes that the system has not taken yet.
    private var underWay: [PeerID: Int] = [:]

    init(limit: Int = Limits.replayBytes) {
        self.limit = limit
    }

    var bytes: Int { underWay.values.reduce(0, +) }

    /// A worker asks. It is answered once, however often it asks before the answer leaves.
    mutating func append(_ request: Request) {
        guard encoding != request, !waiting.contains(request) else { return }
        waiting.append(request)
    }

    /// What to encode next; nil: nothing can be sent, or the run's thread is busy with one.
    mutating func next() -> Request? {
        guard encoding == nil, underWay.isEmpty || bytes < limit,
            let place = waiting.firstIndex(where: { underWay[$0.peer] == nil })
        else { return nil }
        encoding = waiting.remove(at: place)
        return encoding
    }

    /// The run's thread has encoded what was asked of it.
    ///
    /// - Returns: whether it is still wanted.
    mutating func encoded(_ request: Request, bytes: Int) -> Bool {
        guard encoding == request else { return false }
        encoding = nil
        underWay[request.peer] = bytes
        return true
    }

    /// The system has taken all that waited for a worker.
    mutating func left(_ peer: PeerID) {
        underWay[peer] = nil
    }

    /// A worker is gone.
    mutating func remove(_ peer: PeerID) {
        underWay[peer] = nil
        waiting.removeAll { $0.peer == peer }
        if encoding?.peer == peer { encoding = nil }
    }

    /// The worker no longer needs it.
    mutating func cancel(_ request: Request) {
        waiting.removeAll { $0 == request }
        if encoding == request { encoding = nil }
    }

    /// The round is over: nobody needs what has not been sent.
    mutating func endRound() {
        waiting = []
        encoding = nil
    }
}
