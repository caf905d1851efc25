import SkeinBasics

/// Pieces of the model on their way from the file to workers that fetch it: decides what is read
/// next, who is sent what, and who is too slow. No socket, clock or thread.
///
/// A piece that is in memory is sent to all who ask for it, and is there once. All pieces together,
/// those being read included, never have more than `limit` bytes; a request beyond that waits until
/// the system has taken another piece. Each worker has one place in the queue, so one that asks for
/// much delays no other, and gets its pieces in the order in which it asked. A worker that takes
/// nothing, or takes too long, while others wait is hung up on.
package struct PieceQueue: Sendable {
    /// What a worker has asked for and not yet taken.
    private struct Taker: Sendable {
        /// Asked for and not yet sent, in order.
        var asked: [ModelRequest] = []
        /// Sent, and not yet taken by the system, in order.
        var underWay: [(piece: ModelRequest, since: Duration)] = []
        /// Bytes that its system has acknowledged, as last seen, and when that changed.
        var taken: UInt64?
        var movedAt = Duration.zero

        var count: Int { asked.count + underWay.count }
    }

    /// A piece in memory.
    private struct Loaded: Sendable {
        let message: EncodedMessage
        /// Connections that have it.
        var users = 0
    }

    /// How a worker goes on that takes pieces.
    package enum Look: Equatable, Sendable {
        case moves, stands
        /// The words say how; the worker is hung up on.
        case tooSlow(String)
    }

    /// A piece for a worker.
    package struct Delivery: Sendable {
        package let peer: PeerID
        package let message: EncodedMessage
    }

    private let limit: Int
    private let pieceBytes: Int
    private var takers: [PeerID: Taker] = [:]
    private var loaded: [ModelRequest: Loaded] = [:]
    /// Loaded pieces that no connection has, the oldest first: the next worker may ask for them.
    private var idle: [ModelRequest] = []
    private var reading: Set<ModelRequest> = []
    /// The workers that each piece is the next one for.
    private var wanted: [ModelRequest: [PeerID]] = [:]
    /// What to read next, each once: no more than there are workers that wait.
    private(set) var queue: [ModelRequest] = []
    /// Workers whose next piece may be in memory.
    private var ready: [PeerID] = []
    /// Bytes of `loaded`.
    private var loadedBytes = 0

    /// - Parameters:
    ///   - limit: for the bytes of all pieces in memory.
    ///   - pieceBytes: the most that one has.
    package init(limit: Int = Limits.pieceBytes, pieceBytes: Int = Limits.modelMessageBytes) {
        precondition(limit >= pieceBytes, "no room for a piece")
        (self.limit, self.pieceBytes) = (limit, pieceBytes)
    }

    /// Bytes of pieces in memory, and of those being read.
    package var bytes: Int { loadedBytes + reading.count * pieceBytes }

    /// Whether a request waits until others have taken theirs.
    package var isShort: Bool {
        let idleBytes = idle.reduce(0) { $0 + (loaded[$1]?.message.count ?? 0) }
        return bytes - idleBytes + pieceBytes > limit && !queue.isEmpty
    }

    /// A worker asks for a piece that exists.
    ///
    /// - Returns: false if it has asked for too many.
    package mutating func ask(for piece: ModelRequest, by peer: PeerID) -> Bool {
        var taker = takers[peer] ?? Taker()
        guard taker.count < Limits.piecesAsked else { return false }
        taker.asked.append(piece)
        takers[peer] = taker
        if taker.asked.count == 1 { want(piece, peer) }
        return true
    }

    /// The piece is the next one for a worker.
    private mutating func want(_ piece: ModelRequest, _ peer: PeerID) {
        if loaded[piece] != nil {
            ready.append(peer)
        } else if wanted[piece] == nil, !reading.contains(piece) {
            queue.append(piece)
        }
        wanted[piece, default: []].append(peer)
    }

    /// A piece to read now; nil: none is wanted, there is no room, or enough are being read.
    package mutating func next() -> ModelRequest? {
        guard reading.count < Limits.piecesRead else { return nil }
        guard let piece = queue.first else { return nil }
        while bytes + pieceBytes > limit, !idle.isEmpty { forget(idle.removeFirst()) }
        guard bytes + pieceBytes <= limit else { return nil }
        queue.removeFirst()
        reading.insert(piece)
        return piece
    }

    /// A piece has been read.
    package mutating func read(_ piece: ModelRequest, _ message: EncodedMessage) {
        guard reading.remove(piece) != nil else { return }
        loaded[piece] = Loaded(message: message)
        loadedBytes += message.count
        idle.append(piece)
        ready += wanted[piece] ?? []
        trimIdle()
    }

    /// A piece could not be read.
    ///
    /// - Returns: the workers that wait for it; none of them can be served.
    package mutating func missing(_ piece: ModelRequest) -> [PeerID] {
        reading.remove(piece)
        return wanted[piece] ?? []
    }

    /// What can be sent now, in order; it counts as sent.
    package mutating func deliveries(now: Duration) -> [Delivery] {
        var deliveries: [Delivery] = []
        while !ready.isEmpty {
            let peer = ready.removeFirst()
            guard var taker = takers[peer], let piece = taker.asked.first,
                let message = loaded[piece]?.message
            else { continue }
            taker.asked.removeFirst()
            if taker.underWay.isEmpty { taker.movedAt = now }
            taker.underWay.append((piece, now))
            takers[peer] = taker
            loaded[piece]?.users += 1
            idle.removeAll { $0 == piece }
            unwant(piece, peer)
            if let following = taker.asked.first { want(following, peer) }
            deliveries.append(Delivery(peer: peer, message: message))
        }
        return deliveries
    }

    private mutating func unwant(_ piece: ModelRequest, _ peer: PeerID) {
        guard let place = wanted[piece]?.firstIndex(of: peer) else { return }
        wanted[piece]?.remove(at: place)
        guard wanted[piece]?.isEmpty == true else { return }
        wanted[piece] = nil
        if loaded[piece] == nil { queue.removeAll { $0 == piece } }
    }

    /// The system has taken some of what waits for a worker: `pending` bytes are left.
    package mutating func left(_ peer: PeerID, pending: Int) {
        guard var taker = takers[peer] else { return }
        func size(_ piece: ModelRequest) -> Int {
            FrameHeader.byteCount + (loaded[piece]?.message.count ?? 0)
        }
        var rest = taker.underWay.reduce(0) { $0 + size($1.piece) }
        while let first = taker.underWay.first?.piece, rest - size(first) >= pending {
            rest -= size(first)
            taker.underWay.removeFirst()
            release(first)
        }
        takers[peer] = taker.count == 0 ? nil : taker
        trimIdle()
    }

    /// A worker has its model: it is sent nothing more.
    package mutating func stopAsking(_ peer: PeerID) {
        guard var taker = takers[peer], let head = taker.asked.first else { return }
        unwant(head, peer)
        taker.asked = []
        takers[peer] = taker.count == 0 ? nil : taker
        trimIdle()
    }

    /// A worker is gone.
    package mutating func remove(_ peer: PeerID) {
        guard let taker = takers.removeValue(forKey: peer) else { return }
        if let head = taker.asked.first { unwant(head, peer) }
        for sent in taker.underWay { release(sent.piece) }
        trimIdle()
    }

    private mutating func release(_ piece: ModelRequest) {
        loaded[piece]?.users -= 1
        if loaded[piece]?.users == 0 { idle.append(piece) }
    }

    /// Keeps a few pieces for workers that are a little behind, and none when no worker fetches.
    private mutating func trimIdle() {
        let most = takers.isEmpty ? 0 : Limits.idlePieces
        while idle.count > most {
            // A worker that wants one is sent it next.
            guard let place = idle.firstIndex(where: { wanted[$0] == nil }) else { return }
            forget(idle.remove(at: place))
        }
    }

    private mutating func forget(_ piece: ModelRequest) {
        loadedBytes -= loaded.removeValue(forKey: piece)?.message.count ?? 0
        // Asked for between its delivery and now; it is read again.
        if wanted[piece] != nil { queue.append(piece) }
    }

    /// Whether a worker waits here for others, and not for itself.
    package func waits(_ peer: PeerID) -> Bool {
        takers[peer].map { $0.underWay.isEmpty } ?? false
    }

    /// Looks after what is under way to a worker.
    ///
    /// - Parameters:
    ///   - peer: the worker.
    ///   - taken: bytes that its system has acknowledged, of all messages.
    ///   - now: the time.
    /// - Returns: nil if nothing is under way to it.
    package mutating func look(
        at peer: PeerID, taken: @autoclosure () -> UInt64, now: Duration
    ) -> Look? {
        guard var taker = takers[peer], let oldest = taker.underWay.first else { return nil }
        let taken = taken()
        let moves = taken != taker.taken
        if moves { (taker.taken, taker.movedAt) = (taken, now) }
        takers[peer] = taker
        if isShort {
            if now - taker.movedAt >= Limits.pieceStandstill {
                return .tooSlow(
                    "it has taken nothing of the model for \((now - taker.movedAt).inWords), and "
                        + "others wait")
            }
            if now - oldest.since >= Limits.pieceTime {
                return .tooSlow(
                    "it takes a piece of the model for \((now - oldest.since).inWords), and "
                        + "others wait")
            }
        }
        return moves ? .moves : .stands
    }
}
