import SkeinCoordination
import Synchronization

/// What the training loop's thread asks of the network's.
struct CoordinatorDesk: Sendable {
    let hub: Confined<CoordinatorHub>
    let counts: HubCounts

    /// Workers that are in.
    var memberCount: Int { counts.members }
    /// Workers that the open round waits for.
    var missingCount: Int { counts.missing }

    func open(_ round: LeasedRound) {
        hub.post { hub in
            hub.round = round
            hub.noteOpened(round)
            if hub.publication?.version != round.publication.version {
                hub.publication = round.publication
            }
            // Parameters go to those who get work. A worker without any would only pile them up.
            hub.handle(.opened(round.forState))
            for peer in hub.peers.values where peer.wantsParameters {
                hub.bringParameters(to: peer)
            }
        }
    }

    func close(_ number: UInt64) {
        hub.post { hub in
            hub.noteClosed(number)
            hub.round = nil
            hub.handle(.closed(round: number))
            for peer in hub.peers.values {
                peer.waitingGrants = []
                peer.attempts = [:]
                // Without work it needs none; who has nothing at all is still to get the first.
                if peer.parameterVersion > 0 { peer.wantsParameters = false }
            }
            hub.parked = [:]
            hub.handle(.phase(.betweenSteps("applies the update and writes it down")))
        }
    }

    func checked(_ candidate: Candidate, _ outcome: CoordinatorState.CheckOutcome) {
        hub.post { $0.checked(candidate, outcome) }
    }

    /// Waits until the network's thread has done all that was asked of it; a thread that has ended
    /// does nothing more.
    func settle() {
        do {
            try hub.call { _ in }
        } catch {
            return
        }
    }

    /// The whole of a version that a worker needs.
    func offer(_ snapshot: EncodedMessage, version: UInt64) {
        hub.post { hub in
            guard let current = hub.publication, current.version == version else { return }
            hub.publication = current.with(snapshot: snapshot)
            for peer in hub.peers.values where peer.wantsParameters {
                hub.bringParameters(to: peer)
            }
        }
    }

    func note(_ change: @escaping @Sendable (inout RunSnapshot.Progress) -> Void) {
        hub.post { change(&$0.progress) }
    }

    /// What the network's thread has used and sent so far; nothing when it has ended.
    func figures() -> (seconds: Double, traffic: Traffic) {
        do {
            return try hub.call { (ProcessFigures.threadProcessorSeconds ?? 0, $0.traffic) }
        } catch {
            return (0, Traffic())
        }
    }

    func finish(_ leave: Leave) {
        hub.post { $0.finish(leave) }
    }
}

/// Bytes on the wire.
struct Traffic: Sendable {
    var sent = 0
    var received = 0
}

/// Numbers that both threads of a coordinator read.
final class HubCounts: Sendable {
    private let memberCount = Atomic<Int>(0)
    private let missingCount = Atomic<Int>(0)
    private let connectionCount = Atomic<Int>(0)

    var members: Int { memberCount.load(ordering: .relaxed) }

    /// Workers without which the open round does not begin, or does not go on.
    var missing: Int { missingCount.load(ordering: .relaxed) }

    /// Connections of any kind.
    var connections: Int { connectionCount.load(ordering: .relaxed) }

    func setConnections(_ count: Int) {
        connectionCount.store(count, ordering: .relaxed)
    }

    func setMembers(_ count: Int, missing: Int) {
        memberCount.store(count, ordering: .relaxed)
        missingCount.store(missing, ordering: .relaxed)
    }
}
