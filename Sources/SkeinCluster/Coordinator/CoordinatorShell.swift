import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinNetwork
import SkeinTraining

/// The coordinator's side of the network: carries out what `CoordinatorState` directs.
///
/// Lives on the event loop's thread and computes nothing. The state decides; results are checked on
/// the training loop's thread, which reaches this through `ShellHandle`.
package final class CoordinatorShell {
    let loop: any Clock & Network
    let inbox: RunInbox
    package let identity: RunIdentity
    let options: CoordinatorOptions
    let counts: ShellCounts
    let log: Log
    private let randomness: Randomness

    package private(set) var state: CoordinatorState
    package internal(set) var peers: [PeerID: Peer] = [:] {
        didSet { counts.setConnections(peers.count) }
    }
    var round: RoundWork?
    var publication: ParameterPublication?
    /// Which of it goes to whom, and which leases wait for it.
    package internal(set) var parameterQueue = ParameterQueue()
    /// Complete results that wait for their check or for an answer, at most one for each lease.
    package internal(set) var parked: [PeerID: [WorkKey: ReceivedResult]] = [:]
    /// Limits the lines about peers that never proved the token: there can be any number of these.
    var strangerLines = LineRate(
        burst: Limits.strangerLines, interval: Limits.strangerLineInterval)
    /// The same for strangers that were dropped for others.
    private var crowdLines = LineRate(burst: 1, interval: Limits.crowdLineInterval)
    /// The result whose verdict the state is being told.
    var judged: ReceivedResult?
    /// Processor seconds spent on `view()`, for the benchmark of what looking costs.
    var viewSeconds = 0.0
    /// How far the run is, as its thread last said.
    var progress = RunSnapshot.Progress()
    /// What rebuilds states, on its way to workers.
    var replays = ReplayQueue()
    /// What waits for all peers together.
    var backlog: Backlog
    /// Pieces of the model, on their way to workers.
    var pieceQueue = PieceQueue()
    /// Made for the first worker that fetches the model.
    var pieces: PieceReader?
    /// This shell for other threads; set by its creator.
    package var desk: Confined<CoordinatorShell>?
    /// Connections for which there are descriptors.
    var connectionRoom = Limits.openFiles - Limits.otherFiles
    /// Set once the run is over: no more peers are let in.
    package private(set) var farewell: Leave?
    private var port: (any ListeningPort)?
    /// Peers that have not proved the token.
    var strangers = StrangerQueue()
    private var nextPeer: UInt64 = 1
    private let start: ContinuousClock.Instant

    package init(
        loop: any Clock & Network, inbox: RunInbox, identity: RunIdentity,
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
        backlog = Backlog(
            ownLimit: Limits.backlogBytes,
            versionLimit: Limits.oldVersionBytes(packedBytes: identity.mostParameterBytes))
        progress.term = Int(identity.offer.term)
        state = CoordinatorState(settings: settings, now: .zero)
    }

    /// Time since this coordinator began, as the state is told it.
    package var now: Duration { loop.now - start }
    /// The same, at this very moment.
    var sinceStart: Duration { loop.moment - start }

    /// Listens, and starts the timer and the heartbeats.
    ///
    /// - Returns: the address that was bound.
    /// - Throws: `SocketError.portInUse`, `.cannotListen`, `.tokenRequired`.
    package func listen(on addresses: [SocketAddress], name: NetworkAddress) throws -> SocketAddress
    {
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

    /// When `hearBytes` was last called.
    private var bytesHeard = Duration.zero

    /// A peer lives as long as its bytes come: on a slow link a heartbeat waits behind a frame for
    /// longer than silence may last. This walk over all peers is done twice a second, and more
    /// often before the state judges who is silent.
    private func hearBytes() {
        bytesHeard = now
        for peer in inOrder(peers.values.filter(hasSpoken)) {
            guard let connection = peer.connection else { continue }
            peer.lastHeard = connection.lastHeard - start
            handle(.heard(peer.id, []))
        }
    }

    private func hasSpoken(_ peer: Peer) -> Bool {
        guard peer.stage == .member || peer.stage == .preparing, let connection = peer.connection
        else { return false }
        return connection.lastHeard - start > peer.lastHeard
    }

    /// In the order in which they came, so that what the state is told does not depend on a
    /// dictionary's order. 0.3 ms for 4,096 of them, of the 4 ms or more of a beat.
    func inOrder(_ peers: some Sequence<Peer>) -> [Peer] {
        peers.sorted { $0.id < $1.id }
    }

    /// Tells the state what happened and carries out its directives.
    func handle(_ event: CoordinatorState.Event) {
        // Carrying out one directive may close a connection, which is another event: it is handled
        // after the current directives.
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
    /// Called with each event and its directives before they are carried out: the simulation keeps
    /// books of its own.
    package var witness: ((CoordinatorState.Event, [CoordinatorState.Directive]) -> Void)?
    /// The traffic of connections that have closed.
    private var pastTraffic = Traffic()

    private func accept(_ link: any Link) {
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

    /// Every half second: sends heartbeats.
    private func beat() {
        hearBytes()
        let now = now
        let sign = EncodedMessage(.heartbeat(Heartbeat()))
        if let count = strangerLines.takeLeftOut(at: now) {
            log.warning(
                "\(count) more strangers were refused, without a line for each",
                [("left_out", .integer(count))])
        }
        if let count = crowdLines.takeLeftOut(at: now) {
            log.warning(
                "\(count) more peers that had not proved the token were dropped for others",
                [("left_out", .integer(count))])
        }
        for peer in inOrder(peers.values) {
            switch peer.stage {
            case .preparing:
                if lookAtPieces(of: peer) { handle(.moved(peer.id)) }
            case .member:
                _ = lookAtPieces(of: peer)
                noteMoving(peer)
            case .greeting, .observer, .leaving: break
            }
            if peer.stage == .preparing || peer.stage == .member {
                peer.connection?.sendSign(sign)
            }
        }
        limitBacklog()
        inbox.put(.pulse)
        loop.setAlarm(after: state.settings.heartbeat) { [weak self] in self?.beat() }
    }

    /// A worker that receives parameters or sends a result makes progress.
    private func noteMoving(_ peer: Peer) {
        guard let connection = peer.connection else { return }
        let bytes = connection.bytesSent + connection.bytesReceived
        let hasMoved = bytes - peer.bytesMoved >= Limits.movingBytes
        peer.bytesMoved = bytes
        let look = replays.look(
            at: peer.id, pending: connection.pendingBytes, now: now,
            patience: state.settings.patience)
        if case .tooSlow(let how) = look {
            return expel(peer, Rejection(code: .timeout, reason: how))
        }
        // Who waits for others' replays does not stand still by itself.
        if hasMoved || look == .moves || replays.waits(peer.id) { handle(.moved(peer.id)) }
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

    /// Says goodbye to all peers and closes the port.
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

// Facts for programs that read the log.
extension CoordinatorShell {
    /// `event` of a line. docs/OPERATING.md has the same list.
    enum Fact: String {
        case opened, closed, joined, left, lost, leased, cancelled, arrived, accepted, refused
        case replayed
    }

    /// Logs a fact, only with `--log-format json`: there are too many for people.
    func note(
        _ fact: Fact, worker: String? = nil, of key: WorkKey? = nil,
        _ more: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        guard log.format == .json else { return }
        var fields: [(String, JSONValue)] = []
        if let worker { fields.append(("worker", .text(worker))) }
        if let key {
            fields.append(("round", .integer(Int(clamping: key.round))))
            fields.append(("micro_batch", .integer(Int(key.index))))
        }
        log.info(fact.rawValue, facts(fact, fields + more()))
    }

    /// The fields of a fact's line.
    func facts(_ fact: Fact, _ more: [(String, JSONValue)]) -> [(String, JSONValue)] {
        // Not the time of the loop's turn: the time between facts should show.
        [("event", .text(fact.rawValue)), ("seconds", .decimal(sinceStart / .seconds(1)))] + more
    }
}
