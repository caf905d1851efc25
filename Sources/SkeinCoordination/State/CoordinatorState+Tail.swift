import SkeinBasics

/// The last pieces of a round, leased before a thread has nothing to do.
extension CoordinatorState {
    /// A plan costs O(workers). In a large fleet it is made at most twenty times a second; there one
    /// thread's pause is little.
    private static let planningInterval = Duration.milliseconds(50)
    private static let largeFleet = 64

    /// Paces that differ from the fleet's by less count as the fleet's: a worker's results vary as much
    /// from one to the next, and equal workers end together if the longest piece decides.
    private static let sameness = 1.0 / 8

    /// A thread of a worker, and in how many seconds it should have nothing to do.
    private struct Turn {
        let free: Double
        let peer: PeerID
    }

    /// Leases pieces ahead to the threads that should be the next ones with nothing to do, so that they
    /// need not hand in a result, and wait for the next lease, before they go on.
    ///
    /// This is done only while every worker's pace is known, since a piece that waits at a slow worker
    /// makes a step longer. If a guess was wrong, an idle worker takes the piece over.
    mutating func planTail() {
        // With local steps a piece belongs to the worker that has its state.
        let isLarge = members.all.members.count >= Self.largeFleet
        guard !isLarge || nextPlanning <= clock, members.idle.isEmpty, !members.roomy.isEmpty,
            let left = open?.unleased, left > 0, open?.round.replay == nil
        else { return }
        nextPlanning = clock + Self.planningInterval
        guard let turns = turns() else { return }
        // The first time at which a thread should be done with a piece that is leased here.
        var horizon = Double.infinity
        for turn in turns {
            // A thread without room for a lease has one that waits, and its worker comes first.
            guard turn.free < horizon, members.roomy.contains(turn.peer),
                let worker = members[turn.peer], let index = nextPiece(for: worker.name)
            else { return }
            horizon = min(horizon, turn.free + (plannedSeconds(worker, index) ?? 0))
            grant(index, to: turn.peer, reason(for: index, .prefetch))
        }
    }

    /// All threads in the order in which they should have nothing to do; nil: that is not known.
    private func turns() -> [Turn]? {
        var turns: [Turn] = []
        for peer in members.all.members {
            guard let worker = members[peer], !worker.isDraining else { continue }
            guard let seconds = secondsUntilFree(worker) else { return nil }
            turns += seconds.map { Turn(free: $0, peer: peer) }
        }
        return turns.sorted { ($0.free, $0.peer) < ($1.free, $1.peer) }
    }

    /// Seconds until each thread of a worker should have nothing to do; nil: its pace is not known, or
    /// it may be stopped.
    private func secondsUntilFree(_ worker: Worker) -> [Double]? {
        guard !isQuiet(worker) else { return nil }
        var threads: [Double] = []
        var waiting: [Double] = []
        for lease in worker.leases where !lease.isHeld {
            guard let seconds = plannedSeconds(worker, lease.index) else { return nil }
            if lease.started == nil {
                waiting.append(seconds)
            } else {
                threads.append(secondsLeft(lease, expected: seconds) ?? .infinity)
            }
        }
        for seconds in waiting {
            guard let next = threads.indices.min(by: { threads[$0] < threads[$1] }) else { break }
            threads[next] += seconds
        }
        return threads
    }

    /// Seconds that a piece should take this worker; nil: its pace is not known.
    private func plannedSeconds(_ worker: Worker, _ index: Int) -> Double? {
        guard let kind = open?.round.label.kind, let fleet = fleetPace(kind),
            let own = standings[worker.name]?.pace(kind)
        else { return nil }
        let pace = abs(own - fleet) < Self.sameness * fleet ? fleet : own
        return pace * load(worker, index)
    }
}
