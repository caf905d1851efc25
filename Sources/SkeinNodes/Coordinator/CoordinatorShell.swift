import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// The coordinator's side of the network: carries out what `CoordinatorState` directs.
///
/// Lives on the event loop's thread and computes nothing. Decisions are the state's; results are
/// checked on the training loop's thread, which reaches this through `CoordinatorDesk`.
final class CoordinatorShell {
    let loop: any Clock & Network
    let inbox: Inbox
    let identity: RunIdentity
    let options: CoordinatorOptions
    let counts: ShellCounts
    let log: Log
    private let randomness: Randomness

    private(set) var state: CoordinatorState
    var peers: [PeerID: Peer] = [:] {
        didSet { counts.setConnections(peers.count) }
    }
    var round: LeasedRound?
    var publication: ParameterPublication?
    /// The version whose whole was asked of the training loop's thread.
    var snapshotAsked: UInt64 = 0
    /// Whole results that wait for their check or for an answer, at most one for each lease.
    var parked: [PeerID: [WorkKey: Candidate]] = [:]
    /// Lines about peers that never showed that they know the token: of those there can be any number.
    var strangerLines = LineRate(
        burst: Limits.strangerLines, interval: Limits.strangerLineInterval)
    /// The result whose check is being told to the state.
    var judged: Candidate?
    /// How far the run is; its thread tells.
    var progress = RunSnapshot.Progress()
    /// Made for the first worker that fetches the model.
    var pieces: PieceReader?
    /// This shell for other threads; set by whoever made it.
    var desk: Confined<CoordinatorShell>?
    /// Connections for which there are descriptors.
    var connectionRoom = Limits.openFiles - Limits.otherFiles
    /// Set once the run is over: nobody is let in any more.
    private(set) var farewell: Leave?
    private var port: (any ListeningPort)?
    /// In the order in which they came; those that are known by now, or gone, are passed over.
    private var strangers = PeerLine()
    private var nextPeer: UInt64 = 1
    private let start: ContinuousClock.Instant

    init(
        loop: any Clock & Network, inbox: Inbox, identity: RunIdentity,
        options: CoordinatorOptions, settings: CoordinatorSettings, counts: ShellCounts, log: Log,
        randomness: Randomness = .system
    ) {
        self.loop = loop
        self.inbox = inbox
        self.identity = identity
        self.options = options
        self.counts = counts
        self.log = log
        self.randomness = randomness
        start = loop.now
        progress.term = Int(identity.offer.term)
        state = CoordinatorState(settings: settings, now: .zero)
    }

    /// Time since this coordinator began; what the state is told.
    var now: Duration { loop.now - start }
    /// The same, but of this very moment.
    var sinceStart: Duration { loop.moment - start }

    /// Listens and begins to keep time.
    ///
    /// - Returns: the address that was bound.
    /// - Throws: `NodeError.portInUse`, `.cannotListen`, `.tokenRequired`.
    func listen(on addresses: [SocketAddress], name: NetworkAddress) throws -> SocketAddress {
        let port = try loop.listen(on: addresses, name: name) { [weak self] link in
            self?.accept(link)
        }
        guard options.token != nil || port.address.isLoopback else {
            port.end()
            throw NodeError.tokenRequired(address: port.address.description)
        }
        self.port = port
        loop.setTimer(
            nextDeadline: { [weak self] in
                guard let self, let deadline = state.nextDeadline else { return nil }
                return start + deadline
            }, tick: { [weak self] _ in self?.tick() })
        beat()
        return port.address
    }

    private func tick() {
        if now - bytesHeard >= Limits.hearingInterval { hearBytes() }
        handle(.tick)
    }

    /// When `hearBytes` was last done.
    private var bytesHeard = Duration.zero

    /// A peer lives as long as bytes of it come: on a slow link a heartbeat stands behind a frame
    /// for longer than silence may last. A walk over all peers: done twice a second, and some more
    /// times before the state judges who is silent.
    private func hearBytes() {
        bytesHeard = now
        for peer in inOrder(peers.values.filter(hasSpoken)) {
            guard let connection = peer.connection else { continue }
            peer.lastHeard = connection.lastHeard - start
            if peer.stage == .member { handle(.heard(peer.id, [])) }
        }
    }

    private func hasSpoken(_ peer: Peer) -> Bool {
        guard peer.stage == .member || peer.stage == .preparing, let connection = peer.connection
        else { return false }
        return connection.lastHeard - start > peer.lastHeard
    }

    /// In the order in which they came: what the state is told does not depend on how a dictionary
    /// orders them. 0.3 ms for 4,096 of them, of the 4 ms or more of a beat.
    func inOrder(_ peers: some Sequence<Peer>) -> [Peer] {
        peers.sorted { $0.id < $1.id }
    }

    /// Tells the state what happened and does what it says.
    func handle(_ event: CoordinatorState.Event) {
        // Carrying out one directive may close a connection, which is an event of its own: it has
        // its turn after the directives that are under way.
        pendingEvents.append(event)
        guard pendingEvents.count == 1 else { return }
        while let next = pendingEvents.first {
            let directives = state.handle(next, now: now)
            witness?(next, directives)
            for directive in directives { carryOut(directive) }
            pendingEvents.removeFirst()
        }
        counts.setMembers(state.memberCount, missing: state.missing)
    }

    private var pendingEvents: [CoordinatorState.Event] = []
    /// Told of each event and of what follows from it, before that is done: the simulation keeps
    /// books of its own.
    var witness: ((CoordinatorState.Event, [CoordinatorState.Directive]) -> Void)?
    /// Of connections that have closed.
    private var pastTraffic = Traffic()

    private func accept(_ link: any Link) {
        while strangers.count >= Limits.strangers, dropOldestStranger() {}
        // Without room for one more, files could not be opened any more: somebody has to go.
        guard peers.count < connectionRoom || dropOldestStranger() else { return link.close() }
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
        strangers.append(id)
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
        connection.onDrained = { [weak self, weak peer] in
            if let self, let peer { parametersLeft(peer) }
        }
        connection.pendingLimit = Limits.pendingBytes + identity.mostParameterBytes
        peer.connection = connection
        // The last words are part of the time, so that nobody has more of it.
        peer.handshakeAlarm = loop.setAlarm(
            at: loop.now + Limits.handshake - Limits.strangerFlush
        ) { [weak self, weak peer] in
            guard let self, let peer else { return }
            reject(peer, Rejection(code: .timeout, reason: "5 s without a handshake"))
        }
    }

    /// Strangers that never speak must not keep workers out.
    ///
    /// - Returns: whether there was one.
    private func dropOldestStranger() -> Bool {
        guard let id = strangers.first, let oldest = peers[id] else { return false }
        oldest.connection?.close()
        closed(oldest, "there were too many strangers")
        return true
    }

    /// Every half second: signs of life to everybody, and an eye on those that get ready, whom the
    /// state does not know yet.
    private func beat() {
        hearBytes()
        let now = now
        let sign = EncodedMessage(.heartbeat(Heartbeat()))
        if let count = strangerLines.takeLeftOut(at: now) {
            log.warning(
                "\(count) more strangers were refused, without a line for each",
                [("left_out", .integer(count))])
        }
        for peer in inOrder(peers.values) {
            switch peer.stage {
            case .preparing:
                if now - peer.lastHeard > state.settings.lostAfter {
                    expel(peer, Rejection(code: .timeout, reason: "silent while it prepared"))
                }
            case .member: noteMoving(peer)
            case .greeting, .observer, .leaving: break
            }
            if peer.stage == .preparing || peer.stage == .member {
                peer.connection?.send(shared: sign)
            }
        }
        inbox.put(.pulse)
        loop.setAlarm(after: state.settings.heartbeat) { [weak self] in self?.beat() }
    }

    /// A worker that is being sent parameters, or that sends a result, is getting somewhere.
    private func noteMoving(_ peer: Peer) {
        guard let connection = peer.connection else { return }
        let bytes = connection.bytesSent + connection.bytesReceived
        let hasMoved = bytes - peer.bytesMoved >= Limits.movingBytes
        peer.bytesMoved = bytes
        if hasMoved { handle(.moved(peer.id)) }
    }

    /// Says why, hangs up, and forgets the peer.
    func reject(_ peer: Peer, _ rejection: Rejection) {
        guard peer.stage != .leaving else { return }
        var patience = Limits.flush
        if !peer.isKnown {
            patience = min(patience, max(Limits.strangerFlush, peer.since + Limits.handshake - now))
        }
        depart(peer, .lost(rejection.reason))
        peer.connection?.close(saying: .rejection(rejection), within: patience)
    }

    /// Rejects a peer for what the state does not know of, and says so in the log, if it is no
    /// stranger: of those there can be any number.
    func expel(_ peer: Peer, _ rejection: Rejection) {
        if peer.isKnown, peer.stage != .leaving {
            log.warning(
                "hung up on \(peer.title) (\(rejection.code.name)): \(rejection.reason)")
        }
        reject(peer, rejection)
    }

    /// The peer has said who it is: it may take its time.
    func endHandshake(of peer: Peer) {
        if let alarm = peer.handshakeAlarm { loop.cancel(alarm) }
        peer.handshakeAlarm = nil
    }

    private func closed(_ peer: Peer, _ reason: String) {
        if peer.stage == .member {
            log.info("worker \(peer.name) (\(peer.address)) is gone: \(reason)")
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

    /// Bytes over all connections of this coordinator, frames and heartbeats included.
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
        // What is being checked is in the inbox; the rest nobody asks for any more.
        parked[peer.id] = nil
        peer.waitingGrants = []
        if wasPreparing { handle(.left(peer.id, departure)) }
        guard wasMember else { return }
        switch departure {
        case .lost(let how): note(.lost, worker: peer.name, [("how", .string(how))])
        case .goodbye: note(.left, worker: peer.name)
        }
        handle(.left(peer.id, departure))
    }

    /// Says goodbye to everybody and lets go of the port.
    func finish(_ leave: Leave) {
        farewell = leave
        port?.end()
        port = nil
        pieces?.close()
        handle(.phase(.finished))
        handle(.stopAdmitting)
        for peer in inOrder(peers.values) where peer.stage != .leaving {
            if peer.stage == .preparing || peer.stage == .member {
                peer.connection?.send(.leave(leave))
            }
            peer.stage = .leaving
            peer.connection?.closeAfterFlush()
        }
    }
}
