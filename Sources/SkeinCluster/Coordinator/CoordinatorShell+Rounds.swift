import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinTraining

// What the run's thread asks for, through `ShellHandle`.
extension CoordinatorShell {
    /// Begins to lease the work of a round.
    func open(_ round: RoundWork) {
        self.round = round
        note(
            .opened,
            [
                ("round", .integer(Int(clamping: round.number))),
                ("step", .integer(round.step)), ("label", .text("\(round.label)")),
                ("pieces", .integer(round.rows.count)),
            ])
        let newest =
            publication?.version == round.publication.version ? publication : round.publication
        publication = newest
        if let newest { carryOut(parameterQueue.publish(newest.forQueue)) }
        handle(.opened(round.forState))
    }

    /// Ends a round and frees what it held.
    func close(_ number: UInt64) {
        note(.closed, [("round", .integer(Int(clamping: number)))])
        round = nil
        handle(.closed(round: number))
        parameterQueue.endRound()
        for peer in peers.values { peer.attempts = [:] }
        parked = [:]
        replays.endRound()
        handle(.phase(.betweenSteps("applies the update and writes it down")))
    }

    /// Takes a version in full, which a worker needs.
    func offer(_ snapshot: EncodedMessage, version: UInt64) {
        guard let current = publication, current.version == version else { return }
        let whole = current.with(snapshot: snapshot)
        publication = whole
        carryOut(parameterQueue.publish(whole.forQueue))
    }

    /// Has the run's thread encode what rebuilds a state, if one can be sent.
    func askForReplays() {
        if let next = replays.next() { inbox.put(.stateWanted(next.peer, next.key)) }
    }

    /// Sends what rebuilds the state of a lease. It may not be wanted any more.
    func bring(_ replay: EncodedMessage, to id: PeerID, for key: WorkKey) {
        let request = ReplayQueue.Request(peer: id, key: key)
        if replays.encoded(request, bytes: replay.count, now: now), let peer = peers[id] {
            note(.replayed, worker: peer.name, of: key, [("bytes", .integer(replay.count))])
            peer.connection?.send(shared: replay)
        }
        askForReplays()
    }

    /// Notes how far the run is.
    func note(_ progress: RunSnapshot.Progress) {
        let term = self.progress.term
        self.progress = progress
        self.progress.term = term
    }

    /// Takes the run's thread's verdict on a result. Its peer may be gone by now.
    func checked(_ received: ReceivedResult, _ outcome: CoordinatorState.CheckOutcome) {
        let key = received.result.key
        switch outcome {
        case .accepted, .confirmed:
            note(
                .accepted, worker: received.worker, of: key,
                [("attempt", .integer(Int(received.result.attempt)))])
        case .refused(let detail), .doubtful(let detail):
            note(.refused, worker: received.worker, of: key, [("how", .text(detail))])
        }
        judged = received
        handle(.checked(received.peer, key, outcome))
        judged = nil
    }
}
