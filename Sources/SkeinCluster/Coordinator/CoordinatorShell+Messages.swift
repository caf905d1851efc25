import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinNetwork
import SkeinTraining

// Messages from peers.
extension CoordinatorShell {
    func receive(_ received: ReceivedMessage, from peer: Peer) {
        peer.lastHeard = now
        let message = received.message
        if peer.stage == .preparing || peer.stage == .member, received.term != identity.offer.term {
            return expel(
                peer,
                Rejection(
                    code: .staleTerm,
                    reason: "the term is \(identity.offer.term), the frame's \(received.term)"))
        }
        switch (peer.stage, message) {
        case (.leaving, _): break
        case (.greeting, _), (.preparing, .ready): greet(message, peer)
        case (.preparing, .heartbeat(let heartbeat)): prepares(peer, heartbeat.preparedBytes)
        case (.observer, .heartbeat): break
        case (.preparing, .modelRequest(let request)): serve(request, to: peer)
        case (.preparing, .leave), (.member, .leave): goodbye(from: peer)
        case (.member, .heartbeat(let heartbeat)):
            handle(.heard(peer.id, heartbeat.computing))
        case (.member, .result(let result)): arrived(result, from: peer)
        case (.member, .parameterRequest): carryOut(parameterQueue.wholeWanted(by: peer.id))
        case (.member, .stateRequest(let request)):
            handle(.stateWanted(peer.id, request.key))
        case (.observer, .statusRequest):
            endHandshake(of: peer)
            sendStatus(to: peer)
            peer.connection?.closeAfterFlush()
        default:
            expel(
                peer,
                Rejection(
                    code: .protocolViolation,
                    reason: "\(message.type.name) came while the peer was \(peer.stage.rawValue)"))
        }
    }

    private func greet(_ message: Message, _ peer: Peer) {
        do {
            switch try peer.handshake.receive(message) {
            case .challenged(let hello, let challenge):
                peer.hello = hello
                strangers.spoke(peer.id)
                peer.connection?.bounds = MessageBounds(from: .dialler, in: .proof)
                peer.connection?.send(challenge)
            case .authenticated(let hello, let keys, let offer):
                try welcomeIn(peer, hello, keys, offer)
            case .ready(let ready): try admit(peer, ready)
            }
        } catch {
            let name = peer.hello.map { "worker \($0.name) (\(peer.address))" } ?? peer.address
            if let leftOut = peer.isKnown ? 0 : strangerLines.admit(at: now) {
                let others = leftOut > 0 ? "; \(leftOut) more strangers since the last line" : ""
                log.warning("\(name) is refused (\(error.code.name)): \(error.reason)\(others)")
            }
            reject(peer, error)
        }
    }

    /// The peer knows the token: all frames from here on have tags.
    private func welcomeIn(
        _ peer: Peer, _ hello: Hello, _ keys: SessionKeys, _ offer: Message
    ) throws(Rejection) {
        peer.connection?.authenticate(
            receiving: keys.workerToCoordinator, sending: keys.coordinatorToWorker)
        peer.connection?.term = identity.offer.term
        know(peer)
        if let rejection = refusal(of: hello) {
            // A REJECTION that is the first frame with a key has no tag, and the dialler could not tell
            // it from a stranger's.
            peer.connection?.send(.heartbeat(Heartbeat()))
            throw rejection
        }
        switch hello.role {
        case .worker:
            endHandshake(of: peer)
            peer.stage = .preparing
            peer.connection?.bounds = MessageBounds(from: .dialler, in: .joining)
        case .observer:
            peer.stage = .observer
            peer.connection?.bounds = MessageBounds(from: .dialler, in: .observing)
        }
        peer.connection?.send(offer)
        if hello.role == .worker { prepares(peer, 0) }
    }

    /// Why a peer that knows the token is not let in; nil: it is.
    private func refusal(of hello: Hello) -> Rejection? {
        if let farewell {
            return Rejection(code: .draining, reason: farewell.detail, retryMilliseconds: 1000)
        }
        guard hello.role == .worker else { return nil }
        return state.admission(name: hello.name, incarnation: hello.incarnation, now: now)
    }

    private func prepares(_ peer: Peer, _ bytes: UInt64) {
        peer.preparedBytes = bytes
        handle(.preparing(peer.id, name: peer.name, address: peer.address, bytes: bytes))
    }

    private func admit(_ peer: Peer, _ ready: Ready) throws(Rejection) {
        guard let hello = peer.hello else { return }
        // While it prepared, another one may have got its name.
        if let rejection = refusal(of: hello) { throw rejection }
        peer.stage = .member
        pieceQueue.stopAsking(peer.id)
        peer.connection?.bounds = MessageBounds(
            from: .dialler, in: .serving, gradientPayloadBytes: identity.mostGradientBytes)
        peer.connection?.send(.welcome(Welcome(state.settings)))
        carryOut(
            parameterQueue.joined(
                peer.id, version: ready.parameterVersion, digest: ready.parameterDigest))
        log.info(
            "worker \(hello.name) (\(peer.address)) joins with \(ready.threads) "
                + (ready.threads == 1 ? "thread" : "threads"),
            facts(
                .joined,
                [
                    ("worker", .text(hello.name)), ("address", .text(peer.address)),
                    ("threads", .integer(Int(ready.threads))),
                ]))
        handle(
            .joined(
                peer.id,
                Member(
                    name: hello.name, address: peer.address, threads: Int(ready.threads),
                    incarnation: hello.incarnation, held: ready.held)))
    }

    private func goodbye(from peer: Peer) {
        peer.saidGoodbye = true
        if peer.stage == .member { handle(.draining(peer.id)) }
    }

    private func arrived(_ result: WorkResult, from peer: Peer) {
        let key = result.key
        let computation = result.attempt
        var result = result
        // The ledger records the attempt that was leased, not what a worker claims.
        result.attempt = peer.attempts[key] ?? 1
        if parked[peer.id]?[key] == nil {
            parked[peer.id, default: [:]][key] = ReceivedResult(
                peer: peer.id, worker: peer.name, result: result)
        }
        note(.arrived, worker: peer.name, of: key)
        handle(
            .arrived(
                peer.id, key, attempt: result.attempt, digest: result.vote,
                computation: computation))
    }

}

// The state's directives.
extension CoordinatorShell {
    func carryOut(_ directive: CoordinatorState.Directive) {
        switch directive {
        case .lease(let id, let key, let attempt, let reason):
            guard let peer = peers[id], round?.number == key.round else { return }
            note(
                .leased, worker: peer.name, of: key,
                [("attempt", .integer(Int(attempt))), ("reason", .text("\(reason)"))])
            peer.attempts[key] = attempt
            carryOut(parameterQueue.lease(id, key, attempt: attempt))
        case .cancel(let id, let key, let reason):
            guard let peer = peers[id] else { return }
            note(.cancelled, worker: peer.name, of: key, [("reason", .text("\(reason)"))])
            guard parameterQueue.cancelled(id, key) else { return }
            peer.connection?.send(.cancellation(Cancellation(key: key)))
            replays.cancel(ReplayQueue.Request(peer: id, key: key))
            askForReplays()
        case .replay(let id, let key):
            replays.append(ReplayQueue.Request(peer: id, key: key))
            askForReplays()
        case .check(let id, let key):
            if let candidate = parked[id]?[key] { inbox.put(.check(candidate)) }
        case .deliver:
            if let judged {
                note(.accepted, worker: judged.worker, of: judged.result.key)
                inbox.put(.deliver(judged))
            }
        case .answer(let id, let key, let verdict, let detail):
            parked[id]?[key] = nil
            if parked[id]?.isEmpty == true { parked[id] = nil }
            peers[id]?.connection?.send(
                .answer(ResultAnswer(key: key, verdict: verdict, detail: detail)))
        case .drop(let id, let key): parked[id]?[key] = nil
        case .dispute(let key): inbox.put(.disputed(round: key.round))
        case .settle(let key): inbox.put(.settled(round: key.round))
        case .spoil(let round): inbox.put(.spoiled(round: round))
        case .disconnect(let id, let rejection):
            if let peer = peers[id] { reject(peer, rejection) }
        case .log(let level, let sentence):
            switch level {
            case .info: log.info(sentence)
            case .warning: log.warning(sentence)
            case .error: log.error(sentence)
            }
        case .giveUp(let sentence):
            inbox.put(.failed(NodeError.workersMissing(sentence: sentence)))
        case .stateLost(let sentence):
            inbox.put(.failed(NodeError.stateLost(sentence: sentence)))
        }
    }

    func carryOut(_ directives: [ParameterQueue.Directive]) {
        for directive in directives {
            switch directive {
            case .parameters(let id, let version):
                for message in publication?.messages(from: version) ?? [] {
                    peers[id]?.connection?.send(shared: message)
                }
            case .lease(let id, let key, let attempt):
                guard let round, round.number == key.round else { continue }
                peers[id]?.connection?.send(
                    .lease(round.grant(Int(key.index), attempt: attempt)))
            case .wholeWanted(let version): inbox.put(.snapshotWanted(version: version))
            case .refuse(let id, let rejection):
                if let peer = peers[id] { reject(peer, rejection) }
            }
        }
    }

    /// The system has taken all that waited for the peer.
    func drained(_ peer: Peer) {
        replays.left(peer.id)
        askForReplays()
        carryOut(parameterQueue.drained(peer.id))
    }
}

// What `skein status` is told.
extension CoordinatorShell {
    /// What goes on now; of a large fleet, it lists only the first workers.
    func snapshot() -> RunSnapshot {
        let now = now
        var snapshot = state.snapshot(of: progress, now: now)
        let preparing = peers.values.filter { $0.stage == .preparing }.sorted { $0.id < $1.id }
        snapshot.workers += preparing.map { peer in
            RunSnapshot.Worker(
                name: peer.name, address: peer.address, state: .preparing,
                lastHeardSeconds: (now - peer.lastHeard) / .seconds(1),
                preparedBytes: peer.preparedBytes)
        }
        snapshot.workerCount = snapshot.workers.count
        snapshot.workers = Array(snapshot.workers.prefix(Limits.statusWorkers))
        snapshot.process = .here
        return snapshot
    }

    /// The same with the timeline of the last rounds.
    func view() -> RunBoard.View {
        let began = ProcessFigures.threadProcessorSeconds ?? 0
        defer { viewSeconds += (ProcessFigures.threadProcessorSeconds ?? 0) - began }
        return RunBoard.View(snapshot: snapshot(), timeline: state.timeline.entries)
    }

    /// Sends the status to an observer.
    func sendStatus(to peer: Peer) {
        do {
            peer.connection?.send(.status(StatusReport(json: try snapshot().json())))
        } catch {
            log.warning("no status for \(peer.title): \(error)")
        }
    }
}
