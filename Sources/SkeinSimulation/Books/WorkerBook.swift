import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork

/// What a worker's state directs, held against what its shell can have.
struct WorkerBook {
    private var rows: Set<WorkKey> = []
    private var kept: Set<WorkKey> = []
    private var busy: [Int: WorkKey] = [:]
    /// Threads that have been told that what they compute is not wanted.
    private var abandoned: Set<Int> = []
    /// How often each was taken back before it came: small frames overtake leases, which may be two.
    private var early: [WorkKey: Int] = [:]
    private var newestRound: UInt64 = 0
    private var isDraining = false
    private var lastHeard = Duration.zero
    private var given: [Int: WorkKey] = [:]

    mutating func take(
        _ event: WorkerState.Event, _ directives: [WorkerState.Directive], _ shell: WorkerShell,
        mayFail: Bool, wasTakenBack: (WorkKey, _ attempt: UInt32) -> Bool,
        violate: (String) -> Void
    ) {
        let mayDrop = note(event, now: shell.now, wasTakenBack, violate)
        let remembered = shell.state.cancelledEarly.count
        if remembered > early.values.reduce(0, +) {
            violate("remembers \(remembered) cancellations, of which another connection told it")
        }
        for directive in directives {
            switch directive {
            case .ready(let held):
                for key in held where !kept.contains(key) { violate("says it holds \(key)") }
                if shell.connection == nil { violate("is ready without a connection") }
            case .compute(let thread, let key, _):
                if !rows.contains(key) { violate("computes \(key) without rows") }
                if busy[thread] != nil { violate("thread \(thread) has work already") }
                busy[thread] = key
                abandoned.remove(thread)
                given[thread] = nil
            case .abandon(let thread, let key):
                if busy[thread] != key { violate("abandons \(key), which it has not") }
                abandoned.insert(thread)
            case .keep(let thread, let key):
                if given[thread] != key { violate("keeps a result that thread \(thread) has not") }
                kept.insert(key)
            case .send(let key):
                if !kept.contains(key) { violate("sends \(key), which it has not") }
                if shell.connection == nil { violate("sends without a connection") }
            case .forget(let key):
                if case .leased(key, _) = event, !mayDrop {
                    violate("drops \(key), which was not taken back")
                }
                rows.remove(key)
                kept.remove(key)
            case .announceDrain:
                if shell.connection == nil { violate("drains without a connection") }
            case .leaveRun: violate("leaves the only run that there is")
            case .disconnect("silence"):
                if shell.now - lastHeard < .milliseconds(2400) {
                    violate("does not hear a coordinator that speaks")
                }
            case .disconnect("drained"):
                let isBusy = busy.keys.contains { !abandoned.contains($0) }
                if isBusy || !kept.isEmpty { violate("leaves with work, as if it had none") }
            case .prepare:
                if shell.connection == nil { violate("prepares for no offer") }
            case .askParameters:
                if shell.connection == nil { violate("asks for parameters without a connection") }
            case .fail: if !mayFail { violate("fails") }
            case .connect, .disconnect, .log, .finish: break
            }
        }
        if kept.count > shell.state.keptResults { violate("keeps \(kept.count) results") }
    }

    /// - Returns: whether a lease that comes with this event need not be computed.
    private mutating func note(
        _ event: WorkerState.Event, now: Duration,
        _ wasTakenBack: (WorkKey, _ attempt: UInt32) -> Bool, _ violate: (String) -> Void
    ) -> Bool {
        switch event {
        case .connected, .heard, .answered: lastHeard = now
        case .offered:
            lastHeard = now
            newestRound = 0
        case .welcomed:
            lastHeard = now
            early = [:]
        case .leased(let key, let attempt):
            lastHeard = now
            rows.insert(key)
            defer { newestRound = max(newestRound, key.round) }
            // Leases come in order; one that drains has forgotten what waited.
            if key.round > newestRound, !isDraining,
                early.contains(where: { $0.value > 0 && $0.key.round < key.round })
            {
                violate("was told of a lease of a round before \(key.round) that never came")
            }
            // A cancellation is that of one lease, and not of the next one of the same piece.
            let isEarly = early[key, default: 0] > 0 && wasTakenBack(key, attempt)
            if isEarly { early[key, default: 0] -= 1 }
            return isEarly || isDraining || key.round < newestRound
        case .cancelled(let key):
            lastHeard = now
            if !rows.contains(key) { early[key, default: 0] += 1 }
        // Nothing damages bytes here.
        case .disconnected(let how) where how.contains("broke the protocol"): violate(how)
        case .rejected(let rejection, _) where rejection.code == .protocolViolation:
            violate("has broken the protocol: \(rejection.reason)")
        case .computed(let thread, let key):
            if busy[thread] != key { violate("has computed \(key), which it did not begin") }
            busy[thread] = nil
            given[thread] = key
        case .abandoned(let thread, let key):
            if busy[thread] != key { violate("has abandoned \(key), which it did not begin") }
            busy[thread] = nil
        case .drain: isDraining = true
        default: break
        }
        return true
    }
}
