import SkeinCoordination
import SkeinNetwork
import Synchronization

/// What the training loop's thread asks of the network's thread.
package struct ShellHandle: Sendable {
    let shell: Confined<CoordinatorShell>
    let counts: ShellCounts

    package init(shell: Confined<CoordinatorShell>, counts: ShellCounts) {
        (self.shell, self.counts) = (shell, counts)
    }

    /// Workers that have joined.
    var memberCount: Int { counts.members }
    /// How many more workers the open round needs.
    var missingCount: Int { counts.missing }

    func open(_ round: RoundWork) {
        shell.post { $0.open(round) }
    }

    func close(_ number: UInt64) {
        shell.post { $0.close(number) }
    }

    func checked(_ received: ReceivedResult, _ outcome: CoordinatorState.CheckOutcome) {
        shell.post { $0.checked(received, outcome) }
    }

    /// Waits until the network's thread has done all that was asked of it, or has ended.
    func settle() {
        do {
            try shell.call { _ in }
        } catch {
            // The thread has ended: it does nothing more of what was asked of it.
            return
        }
    }

    /// Passes on a version in full, which a worker needs.
    func offer(_ snapshot: EncodedMessage, version: UInt64) {
        shell.post { $0.offer(snapshot, version: version) }
    }

    /// Passes on what rebuilds the state of a lease.
    func bring(_ replay: EncodedMessage, to peer: PeerID, for key: WorkKey) {
        shell.post { $0.bring(replay, to: peer, for: key) }
    }

    /// How far the run is, for the status.
    func note(_ progress: RunSnapshot.Progress) {
        shell.post { $0.note(progress) }
    }

    /// What the run's thread does while no round is open, as a verb phrase.
    func enter(_ activity: String) {
        shell.post { $0.handle(.phase(.betweenSteps(activity))) }
    }

    /// What goes on now; nil once the network's thread has ended.
    func view() -> RunBoard.View? {
        do {
            return try shell.call { $0.view() }
        } catch {
            // The thread has ended, which the run learns from its own calls.
            return nil
        }
    }

    /// What the network's thread has used and sent so far; zeros when it has ended.
    func figures() -> (seconds: Double, traffic: Traffic) {
        do {
            return try shell.call { (ProcessFigures.threadProcessorSeconds ?? 0, $0.traffic) }
        } catch {
            // The thread has ended, which the run learns from its own calls.
            return (0, Traffic())
        }
    }

    package func finish(_ leave: Leave) {
        shell.post { $0.finish(leave) }
    }
}

/// Bytes on the wire.
struct Traffic: Sendable {
    var sent = 0
    var received = 0
}

/// Numbers that the network's thread writes and the training loop's reads.
package final class ShellCounts: Sendable {
    private let memberCount = Atomic<Int>(0)
    private let missingCount = Atomic<Int>(0)
    private let connectionCount = Atomic<Int>(0)

    package init() {}

    var members: Int { memberCount.load(ordering: .relaxed) }

    /// How many more workers the open round needs to begin or to go on.
    var missing: Int { missingCount.load(ordering: .relaxed) }

    /// Connections of any kind.
    package var connections: Int { connectionCount.load(ordering: .relaxed) }

    func setConnections(_ count: Int) {
        connectionCount.store(count, ordering: .relaxed)
    }

    func setMembers(_ count: Int, missing: Int) {
        memberCount.store(count, ordering: .relaxed)
        missingCount.store(missing, ordering: .relaxed)
    }
}
