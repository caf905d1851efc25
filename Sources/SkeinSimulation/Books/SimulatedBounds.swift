import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

// What processes hold for each other, none of which may grow without end. T is a worker's threads, as in
// docs/PROTOCOL.md; not a state's own number, which may be wrong.

/// What is known of the bounds.
enum SimulatedBounds {
    /// How many there are.
    static let count = 24
}

extension SimulatedWorker {
    func inspectBounds(of shell: WorkerShell) {
        func bound(_ what: String, _ count: Int, atMost limit: Int) {
            world.bound("\(what) of a worker", at: name, count, atMost: limit)
        }
        let isLocal = model.logical != nil
        let whole = 4 * model.count * (isLocal ? 2 : 1)
        // A coordinator leases up to 2 T, beside fewer than 2 T results that are kept.
        bound("results", shell.results.count, atMost: 4 * threads)
        // After a lost connection each thread ends what it has begun, and the next connection leases up to
        // 2 T beside all results that the coordinator has had from the one before and not yet answered.
        bound("leases", shell.leases.count, atMost: 6 * threads)
        // And it may judge other results.
        bound("leases in line", shell.state.queue.count, atMost: 4 * threads)
        bound("open links", loop?.openLinks.count ?? 0, atMost: 2)
        // The next dial, the answer of the name server, a beat, a greeting, and four of a connection.
        bound("alarms", loop?.alarmCount ?? 0, atMost: 8)
        if let engine = shell.engine as? VirtualEngine {
            // One that is there, one that waits, and differences together no longer than that.
            bound("parameter bytes", engine.parameters.heldBytes, atMost: 3 * whole)
        }
        if let connection = shell.connection {
            // All results that it keeps, once.
            let result =
                (shell.engine?.mostGradientBytes
                    ?? model.codec.mostPackedBytes(count: model.count)) + 256
            bound("unsent bytes", connection.pendingBytes, atMost: 4 * threads * result)
            // A part of a message, such as a lease with 400 tokens: whole ones are taken at once.
            let piece = cache == nil ? 0 : FetchedModel.pieces.messageBytes
            let message =
                max(whole, shell.engine?.mostReplayBytes ?? 0, 4 * 400 + 256, piece) + 256
            bound("received bytes", connection.receivedBytes, atMost: message)
        }
    }
}

extension CoordinatorBook {
    func inspectBounds(
        of shell: CoordinatorShell, _ loop: VirtualLoop, _ inbox: RunInbox, workers: Int
    ) {
        func bound(_ what: String, _ count: Int, atMost limit: Int) {
            world.bound("\(what) of a coordinator", at: "the coordinator", count, atMost: limit)
        }
        let state = shell.state
        inspectPieces(of: shell)
        // Each worker has a connection, and others before it whose ends have not been reported: while the
        // coordinator is stopped, for up to 6 s, a worker dials again after each 2.5 s of silence.
        bound("peers", shell.peers.count, atMost: 3 * workers)
        bound("names", state.standings.count, atMost: workers)
        // As peers: a worker that comes again prepares beside a connection of it that is silently gone.
        bound("preparations", state.preparations.count, atMost: 3 * workers)
        // Each connection has up to four, and there is a beat and a tick.
        bound("alarms", loop.alarmCount, atMost: 4 * shell.peers.count + 4)
        guard let round = state.open else { return }
        let room = round.room(settings)
        // A result of each piece, what some worker lacks, and what is said of disputes.
        bound(
            "items of the inbox", inbox.count,
            atMost: min(room, round.pieces.count) + shell.peers.count + 4)
        bound("unchecked results", round.unchecked, atMost: room)
        bound("results on call", round.recalled.count, atMost: room)
        // A piece has two holders.
        bound("postponed results", round.postponed.count, atMost: 2 * round.pieces.count)
        for peer in shell.peers.values {
            guard let threads = state.members[peer.id]?.threads else { continue }
            inspectBounds(of: peer, threads, round, shell)
        }
    }

    /// What is read of the model and kept for workers.
    func inspectPieces(of shell: CoordinatorShell) {
        world.bound(
            "bytes of pieces of a coordinator", at: "the coordinator", shell.pieceQueue.bytes,
            atMost: shell.identity.pieces.memory)
    }

    private func inspectBounds(
        of peer: Peer, _ threads: Int, _ round: RoundState, _ shell: CoordinatorShell
    ) {
        func bound(_ what: String, _ count: Int, atMost limit: Int) {
            world.bound(
                "\(what) of a peer", at: "the coordinator for \(peer.name)", count, atMost: limit)
        }
        // All that a worker keeps, which it may hand in at once when it is back.
        bound("parked results", shell.parked[peer.id]?.count ?? 0, atMost: 4 * threads)
        // It may judge other results besides its own work.
        bound(
            "waiting grants", shell.parameterQueue.waiting(for: peer.id).count, atMost: 4 * threads)
        bound("attempts", peer.attempts.count, atMost: round.pieces.count)
        if let connection = peer.connection {
            // Two versions of the parameters, and the rows of what is leased.
            let parameters =
                2 * shell.identity.mostParameterBytes + threads * shell.identity.mostReplayBytes
            bound(
                "received bytes", connection.receivedBytes,
                atMost: max(shell.identity.mostGradientBytes, 1 << 10) + 256)
            // One that has its model may still have pieces under way.
            let pieces =
                shell.servesPieces
                ? Limits.pieceWindow * (shell.identity.pieces.messageBytes + 64) : 0
            bound(
                "unsent bytes", connection.pendingBytes,
                atMost: parameters + 2 * threads * (4 << 10) + pieces)
        }
    }
}
