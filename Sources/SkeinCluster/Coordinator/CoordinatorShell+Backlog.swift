import SkeinCoordination
import SkeinNetwork

// Pieces of the model for workers that fetch it: carries out what `PieceQueue` decides.
extension CoordinatorShell {
    /// A worker asks for a piece.
    func serve(_ piece: ModelRequest, to peer: Peer) {
        guard identity.has(piece), pieceQueue.ask(for: piece, by: peer.id) else {
            return expel(
                peer,
                Rejection(
                    code: .protocolViolation,
                    reason: "it asked for a piece that does not exist, or for too many at once"))
        }
        movePieces()
    }

    /// Sends what is in memory, and has read what there is room for.
    func movePieces() {
        for delivery in pieceQueue.deliveries(now: now) {
            peers[delivery.peer]?.connection?.send(shared: delivery.message)
        }
        while let piece = pieceQueue.next() { pieceReader().read(piece) }
    }

    private func pieceReader() -> PieceReader {
        if let pieces { return pieces }
        let desk = desk
        let reader = PieceReader(identity: identity, beside: readBeside) { piece, message in
            desk?.post { $0.bring(message, for: piece) }
        }
        pieces = reader
        return reader
    }

    /// Takes a piece that was read; nil: the file no longer has it.
    private func bring(_ message: EncodedMessage?, for piece: ModelRequest) {
        if let message {
            pieceQueue.read(piece, message)
        } else {
            for peer in pieceQueue.missing(piece).compactMap({ peers[$0] }) {
                expel(peer, Rejection(code: .protocolViolation, reason: "the model has shrunk"))
            }
        }
        movePieces()
    }

    /// The system has taken some of what waits for a worker. One that has joined may still have
    /// pieces under way that it asked for.
    func took(_ peer: Peer) {
        guard peer.stage != .leaving, let connection = peer.connection else { return }
        pieceQueue.left(peer.id, pending: connection.pendingBytes)
        movePieces()
    }

    /// Hangs up on a worker that keeps others waiting.
    ///
    /// - Returns: whether its pieces move, or wait for others'.
    func lookAtPieces(of peer: Peer) -> Bool {
        guard let connection = peer.connection else { return false }
        switch pieceQueue.look(at: peer.id, taken: connection.bytesTaken, now: now) {
        case .tooSlow(let how):
            expel(peer, Rejection(code: .timeout, reason: how))
            return false
        case .moves: return true
        case .stands: return false
        case nil: return pieceQueue.waits(peer.id)
        }
    }
}

// What waits for all peers together: carries out what `Backlog` decides.
extension CoordinatorShell {
    /// Hangs up on peers that let too much wait.
    func limitBacklog() {
        let entries = inOrder(peers.values.filter { $0.stage != .leaving }).compactMap { peer in
            peer.connection.flatMap { backlogEntry(of: peer, $0) }
        }
        for verdict in backlog.look(at: entries, now: now) {
            guard let peer = peers[verdict.peer] else { continue }
            expel(peer, Rejection(code: .timeout, reason: verdict.reason))
        }
    }

    private func backlogEntry(of peer: Peer, _ connection: Connection) -> Backlog.Entry? {
        let taking = parameterQueue.underWay(to: peer.id)
        let isOld = taking != nil && taking != publication?.version
        guard isOld || connection.ownPendingBytes > 0 else { return nil }
        return Backlog.Entry(
            peer: peer.id, ownBytes: connection.ownPendingBytes,
            old: isOld ? taking.map { ($0, connection.sharedPendingBytes) } : nil,
            taken: connection.bytesTaken)
    }
}
