import SkeinBasics

/// A piece of work that a worker holds.
struct Lease: Sendable {
    let index: Int
    let attempt: UInt32
    /// When a thread became free for it; nil: it waits behind others.
    var started: Duration?
    /// The worker has the result already and needs no thread for it.
    let isHeld: Bool
    /// There was no room for its result.
    var isPostponed = false
    /// When it last advanced: a layer done, or bytes that moved.
    var movedAt: Duration
    /// How much of it is done, in thousandths, and when the worker said so.
    var progress: UInt16 = 0
    var progressAt = Duration.zero
    /// How often the worker was sent what rebuilds the state that it starts from.
    var replays = 0

    /// How long it takes in all, in seconds, judged by the part that is done; `expected` when too
    /// little is done to say.
    func seconds(expected: Double?) -> Double? {
        guard let started, progress >= 50 else { return expected }
        return (progressAt - started).inSeconds * 1000 / Double(progress)
    }
}

/// A connected worker.
package struct Worker: Sendable {
    let peer: PeerID
    let member: Member
    /// Pieces that it computes at a time, 1 ... 1024.
    package let threads: Int
    var lastHeard: Duration
    var isSuspect = false
    var isDraining = false
    /// In the order in which it computes them: the first `threads` have a thread.
    private(set) var leases: [Lease] = []
    private(set) var heldLeases = 0
    /// Indices of its results that are not answered yet.
    var parked: Set<Int> = []

    init(peer: PeerID, member: Member, now: Duration) {
        self.peer = peer
        self.member = member
        threads = min(max(member.threads, 1), Limits.heldWork / 2)
        lastHeard = now
    }

    var name: String { member.name }
    /// "w3 (10.0.0.7:40112)".
    var title: String { "\(name) (\(member.address))" }

    var ordinary: Int { leases.count - heldLeases }
    var computing: Int { min(ordinary, threads) }

    /// Whether it gets any work: one that hands in faster than the run's thread checks has to wait.
    /// It keeps what is not answered; see `WorkerState.keptResults`.
    private var isEligible: Bool {
        !isDraining && !isSuspect && parked.count + heldLeases < 2 * threads
    }
    var hasIdleThread: Bool { isEligible && ordinary < threads }
    /// One more for each thread, while all are computing.
    var canPrefetch: Bool { isEligible && ordinary >= threads && ordinary < 2 * threads }
    var hasUnstarted: Bool { ordinary > threads }

    func holds(_ index: Int) -> Bool { leases.contains { $0.index == index } }

    mutating func add(_ index: Int, attempt: UInt32, isHeld: Bool, now: Duration) {
        let starts = isHeld || ordinary < threads
        leases.append(
            Lease(
                index: index, attempt: attempt, started: starts ? now : nil, isHeld: isHeld,
                movedAt: now))
        if isHeld { heldLeases += 1 }
    }

    /// The worker has the result and keeps it until it is asked for.
    mutating func postpone(_ index: Int, now: Duration) {
        guard let lease = remove(index, now: now) else { return }
        leases.append(
            Lease(
                index: index, attempt: lease.attempt, started: nil, isHeld: true,
                isPostponed: true, movedAt: now))
        heldLeases += 1
    }

    /// A postponed result is asked for: from here on it can be overdue.
    mutating func recall(_ index: Int, now: Duration) {
        guard let place = leases.firstIndex(where: { $0.index == index }) else { return }
        leases[place].started = now
        leases[place].movedAt = now
    }

    /// Takes a lease away; the next in line gets its thread.
    mutating func remove(_ index: Int, now: Duration) -> Lease? {
        guard let place = leases.firstIndex(where: { $0.index == index }) else { return nil }
        let lease = leases.remove(at: place)
        if lease.isHeld {
            heldLeases -= 1
            return lease
        }
        var line = 0
        for i in leases.indices where !leases[i].isHeld && line < threads {
            line += 1
            if leases[i].started == nil {
                leases[i].started = now
                leases[i].movedAt = now
            }
        }
        return lease
    }

    /// The worker asks for what rebuilds the state from which a lease starts.
    ///
    /// - Returns: how often it has done so; nil if it has no such lease.
    mutating func noteReplay(_ index: Int, now: Duration) -> Int? {
        guard let place = leases.firstIndex(where: { $0.index == index && !$0.isHeld }) else {
            return nil
        }
        leases[place].replays += 1
        // It begins anew.
        leases[place].progress = 0
        leases[place].movedAt = now
        return leases[place].replays
    }

    mutating func removeAll() {
        leases = []
        heldLeases = 0
    }

    /// - Returns: whether something has advanced since it was last heard.
    mutating func note(
        _ progress: [Heartbeat.Progress], round: UInt64, now: Duration
    ) -> Bool {
        guard !progress.isEmpty, !leases.isEmpty else { return false }
        var hasMoved = false
        var done: [UInt32: UInt16] = [:]
        for entry in progress.prefix(Limits.heldWork) where entry.key.round == round {
            done[entry.key.index] = min(entry.thousandths, 1000)
        }
        for i in leases.indices where leases[i].started != nil {
            // A report from before the lease began again must not turn it back.
            guard let thousandths = done[UInt32(leases[i].index)],
                thousandths > leases[i].progress
            else { continue }
            leases[i].progress = thousandths
            leases[i].progressAt = now
            leases[i].movedAt = now
            hasMoved = true
        }
        return hasMoved
    }

    /// Bytes of its parameters or results are on their way.
    mutating func noteMoved(now: Duration) {
        for i in leases.indices where leases[i].started != nil { leases[i].movedAt = now }
    }
}
