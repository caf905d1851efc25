import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinNetwork

// Who comes, and who goes.
extension CoordinatorShell {
    func accept(_ link: any Link) {
        while strangers.count >= Limits.strangers, dropStranger() {}
        // One more connection than this, and files could no longer be opened: drop one.
        guard peers.count < connectionRoom || dropStranger() else { return link.close() }
        let id = PeerID(nextPeer)
        nextPeer += 1
        let nonce: [UInt8]
        do {
            nonce = try randomness.bytes(32)
        } catch {
            log.error(error.explanation.what)
            return link.close()
        }
        let peer = Peer(
            id: id, address: link.peerName,
            handshake: CoordinatorHandshake(
                token: options.token ?? [], nonce: nonce, offer: identity.offer,
                comparesFingerprints: !options.admitsOtherEngines),
            since: now)
        peers[id] = peer
        strangers.came(id, from: link.peerNetwork)
        let connection = Connection(
            link, bounds: MessageBounds(from: .dialler, in: .greeting), loop: loop)
        connection.onMessage = { [weak self, weak peer] received in
            if let self, let peer { receive(received, from: peer) }
        }
        connection.onViolation = { [weak self, weak peer] error in
            if let self, let peer { expel(peer, error.rejection) }
        }
        connection.onClose = { [weak self, weak peer] reason in
            if let self, let peer { closed(peer, reason.description) }
        }
        connection.onTaken = { [weak self, weak peer] in
            if let self, let peer { took(peer) }
        }
        connection.onDrained = { [weak self, weak peer] in
            if let self, let peer { drained(peer) }
        }
        connection.pendingLimit =
            Limits.pendingBytes + identity.mostParameterBytes + identity.mostReplayBytes
        peer.connection = connection
        // The last message is part of the time limit, so that no peer has longer.
        peer.handshakeAlarm = loop.setAlarm(
            at: loop.now + Limits.handshake - Limits.strangerFlush
        ) { [weak self, weak peer] in
            guard let self, let peer else { return }
            reject(peer, Rejection(code: .timeout, reason: "5 s without a handshake"))
        }
    }

    /// Drops a stranger: those that never speak must not keep workers out.
    ///
    /// - Returns: whether there was one.
    private func dropStranger() -> Bool {
        guard let choice = strangers.choice, let peer = peers[choice.peer] else { return false }
        if let leftOut = crowdLines.admit(at: now) {
            let before = leftOut > 0 ? "; so were \(leftOut) since the last line" : ""
            log.warning(
                "\(choice.count) peers have not proved the token, \(choice.fromThere) of them from "
                    + "where \(peer.address) is, which was dropped for others\(before)")
        }
        peer.connection?.close()
        closed(peer, "there were too many strangers")
        return true
    }

    /// Tells the state that the peer is gone, sends the reason, and hangs up.
    func reject(_ peer: Peer, _ rejection: Rejection) {
        guard peer.stage != .leaving else { return }
        var patience = Limits.flush
        if !peer.isKnown {
            patience = min(patience, max(Limits.strangerFlush, peer.since + Limits.handshake - now))
        }
        depart(peer, .lost(rejection.reason))
        peer.connection?.close(saying: .rejection(rejection), within: patience)
    }

    /// Rejects a peer for something that the state does not know, and logs it unless the peer is a
    /// stranger: there can be any number of those.
    func expel(_ peer: Peer, _ rejection: Rejection) {
        if peer.isKnown, peer.stage != .leaving {
            log.warning(
                "hung up on \(peer.title) (\(rejection.code.name)): \(rejection.reason)")
        }
        reject(peer, rejection)
    }

    /// The peer has said who it is: the time limit ends.
    func endHandshake(of peer: Peer) {
        if let alarm = peer.handshakeAlarm { loop.cancel(alarm) }
        peer.handshakeAlarm = nil
    }

    private func closed(_ peer: Peer, _ reason: String) {
        if peer.stage == .member || peer.stage == .preparing {
            let when = peer.stage == .member ? "" : " before it was ready"
            log.info("worker \(peer.name) (\(peer.address)) is gone\(when): \(reason)")
        }
        depart(peer, peer.saidGoodbye ? .goodbye : .lost(reason))
        if let connection = peer.connection {
            pastTraffic.sent += Int(connection.bytesSent)
            pastTraffic.received += Int(connection.bytesReceived)
        }
        peers[peer.id] = nil
        strangers.remove(peer.id)
    }

    /// The peer has proved that it knows the token.
    func know(_ peer: Peer) {
        peer.isKnown = true
        strangers.remove(peer.id)
    }

    /// Bytes of all connections of this coordinator so far, headers and heartbeats included.
    var traffic: Traffic {
        peers.values.reduce(into: pastTraffic) { sum, peer in
            sum.sent += Int(peer.connection?.bytesSent ?? 0)
            sum.received += Int(peer.connection?.bytesReceived ?? 0)
        }
    }

    private func depart(_ peer: Peer, _ departure: Departure) {
        let wasMember = peer.stage == .member
        let wasPreparing = peer.stage == .preparing
        endHandshake(of: peer)
        peer.stage = .leaving
        // A result being checked is in the inbox; the others are not asked for any more.
        parked[peer.id] = nil
        parameterQueue.left(peer.id)
        replays.remove(peer.id)
        askForReplays()
        pieceQueue.remove(peer.id)
        movePieces()
        if wasPreparing { handle(.left(peer.id, departure)) }
        guard wasMember else { return }
        switch departure {
        case .lost(let how): note(.lost, worker: peer.name, [("how", .text(how))])
        case .goodbye: note(.left, worker: peer.name)
        }
        handle(.left(peer.id, departure))
    }
}
