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
    let randomness: Randomness

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
    var crowdLines = LineRate(burst: 1, interval: Limits.crowdLineInterval)
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
    package internal(set) var pieceQueue: PieceQueue
    /// Reads a piece of the model some time later; nil: a thread does.
    package var readBeside: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    /// Made for the first worker that fetches the model.
    var pieces: PieceReader?
    /// Whether any worker has fetched the model.
    package var servesPieces: Bool { pieces != nil }
    /// This shell for other threads; set by its creator.
    package var desk: Confined<CoordinatorShell>?
    /// Connections for which there are descriptors.
    var connectionRoom = Limits.openFiles - Limits.otherFiles
    /// Set once the run is over: no more peers are let in.
    package private(set) var farewell: Leave?
    private var port: (any ListeningPort)?
    /// Peers that have not proved the token.
    var strangers = StrangerQueue()
    var nextPeer: UInt64 = 1
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
        pieceQueue = PieceQueue(
            limit: identity.pieces.memory, pieceBytes: identity.pieces.messageBytes)
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
    var pastTraffic = Traffic()

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
