import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork

// What must hold of a coordinator's shell, besides what it is directed to do.
extension CoordinatorBook {
    /// The named one to wait for is always there, and nothing is kept for longer or in greater
    /// numbers than it may be.
    mutating func inspect(
        _ shell: CoordinatorShell, _ loop: VirtualLoop, _ inbox: RunInbox, workers: Int
    ) {
        let waiting = shell.state.waiting(now: shell.now)
        let isNamed =
            switch waiting.culprit {
            case .nobody: shell.farewell != nil
            case .coordinator: true
            case .worker(let name):
                // One that is gone has a state that others wait for.
                shell.state.homes.values.contains { $0.name == name }
                    || shell.peers.values.contains { $0.stage == .member && $0.name == name }
            case .absentees: shell.state.missing > 0
            }
        if !isNamed { world.violate("names none to wait for: \(waiting.sentence)") }
        if waiting.seconds < 0 { world.violate("since the future: \(waiting.sentence)") }
        for peer in shell.parked.keys where shell.peers[peer]?.stage != .member {
            world.violate("results of \(peer), who is gone, are kept")
        }
        inspectPauses(shell)
        inspectStrangers(shell)
        inspectBounds(of: shell, loop, inbox, workers: workers)
    }

    /// What waits to be sent to a worker is leased to it.
    func inspectGrants(_ shell: CoordinatorShell) {
        for peer in shell.peers.keys {
            for key in shell.parameterQueue.waiting(for: peer)
            where leases[peer]?.contains(key) != true {
                world.violate("a lease that was taken back waits for \(peer): \(key)")
            }
        }
    }

    /// What a worker that has gone has left is not asked for any more.
    func inspectClaims(_ state: CoordinatorState) {
        for history in state.open?.histories.values ?? [:].values {
            for claim in history.waiting where state.members[claim.peer] == nil {
                world.violate("a result of \(claim.name), who is gone, waits for its check")
            }
        }
    }

    /// A peer has 5 s to prove the token. A coordinator that was stopped hangs up a moment later.
    private mutating func inspectStrangers(_ shell: CoordinatorShell) {
        let late = shell.peers.values.filter {
            $0.stage == .greeting && shell.now - $0.since > .seconds(6)
        }
        lateStrangers = Dictionary(
            uniqueKeysWithValues: late.map { ($0.id, lateStrangers[$0.id, default: 0] + 1) })
        for (peer, count) in lateStrangers where count > 3 {
            world.violate("\(peer) has not proved the token and is still here")
        }
    }

    /// A pause is 1 s for the first failure, doubled for each failure before, and at most half of the
    /// patience.
    mutating func notePauses(_ state: CoordinatorState) {
        for (name, standing) in state.standings
        where standing.failures > 0 && standing.quarantinedUntil != pauses[name]?.told {
            let pause = min(
                .seconds(min(1 << min(standing.failures - 1, 6), 60)), settings.patience / 2)
            pauses[name] = (standing.quarantinedUntil, world.now + pause)
        }
    }

    private func inspectPauses(_ shell: CoordinatorShell) {
        for (name, standing) in shell.state.standings {
            let end = pauses[name]?.end ?? .zero
            guard world.now > end + .milliseconds(100),
                standing.remainingQuarantine(now: shell.now) != nil
            else { continue }
            world.violate("\(name) still has to pause, since \(end)")
        }
    }
}
