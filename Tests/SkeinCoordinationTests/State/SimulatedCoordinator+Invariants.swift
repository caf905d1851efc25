import SkeinBasics
import SkeinCoordination

/// What must always hold.
extension SimulatedCoordinator {
    /// No worker is idle for more than a second while there is work that nobody has. Looks twenty
    /// times a second.
    func inspect() {
        guard simulation.now >= nextInspection else { return }
        nextInspection = simulation.now + .milliseconds(50)
        guard isOpen else {
            idleSince = nil
            return
        }
        let held = Set(leases.values.flatMap { $0 })
        let inHand = Set(parked.keys.map(\.key))
        let free = accepted.indices.filter { index in
            let key = WorkKey(round: number, index: UInt32(index))
            return accepted[index] == 0 && !held.contains(key) && !inHand.contains(key)
        }
        let isIdle = present.contains { peer, member in
            !draining.contains(peer)
                && simulation.now - (lastHeard[peer] ?? .zero) < .milliseconds(1500)
                && (leases[peer]?.count ?? 0) < member.threads
                && parked.keys.count { $0.peer == peer } < 2 * member.threads
                && free.contains {
                    // A piece that was refused this often waits for a worker with good results.
                    tried[$0]?.contains(member.name) != true
                        && refusals[$0, default: 0] < state.settings.refusalsByStrangers
                }
        }
        if !isIdle {
            idleSince = nil
        } else if let idleSince {
            if simulation.now - idleSince > .seconds(1) {
                simulation.violate("a worker is idle while \(free) are free")
            }
        } else {
            idleSince = simulation.now
        }
    }

    /// The sentence always names somebody.
    func watch() {
        simulation.after(.milliseconds(300)) { [self] in
            if isUp, !isDone {
                let waiting = state.waiting(now: simulation.now)
                let isNamed =
                    switch waiting.culprit {
                    case .nobody: false
                    case .coordinator: waiting.sentence.contains("coordinator")
                    case .worker(let name): waiting.sentence.contains(name)
                    case .absentees: waiting.sentence.contains("more worker")
                    }
                if !isNamed { violate("nobody is named", waiting.sentence) }
                if waiting.seconds < 0 { violate("since the future", waiting.sentence) }
            }
            watch()
        }
    }
}
