import SkeinBasics
import SkeinCoordination
import SkeinTraining

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
        return snapshot
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

extension RunSnapshot.Progress {
    /// Notes a committed step.
    package mutating func record(_ metrics: StepMetrics) {
        step = metrics.step
        loss = metrics.loss
        tokensPerSecond = metrics.tokensPerSecond
    }
}
