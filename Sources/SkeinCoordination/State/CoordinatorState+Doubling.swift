import SkeinBasics

/// How long work takes, and second leases for what takes too long.
extension CoordinatorState {
    /// Looking for second leases costs O(workers); twenty times a second is enough.
    private static let doublingInterval = Duration.milliseconds(50)

    /// Seconds that a piece takes this worker, by its own pace or the fleet's; nil: unknown.
    func expectation(_ worker: Worker, _ index: Int) -> Double? {
        guard let open else { return nil }
        let kind = open.round.label.kind
        let pace = standings[worker.name]?.pace(kind) ?? fleetPace(kind)
        return pace.map { $0 * load(worker, index) }
    }

    /// After how long a lease is overdue: max(floor, 3 own, 2 median); the patience when unknown.
    func allowance(_ worker: Worker, _ index: Int) -> Duration {
        guard let open else { return settings.patience }
        let kind = open.round.label.kind
        let own = standings[worker.name]?.pace(kind).map { 3 * $0 * load(worker, index) }
        let fleet = fleetPace(kind).map { 2 * $0 * load(worker, index) }
        guard own != nil || fleet != nil else { return max(settings.patience, settings.leaseFloor) }
        return max(settings.leaseFloor, .seconds(max(own ?? 0, fleet ?? 0)))
    }

    func fleetPace(_ kind: WorkKind) -> Double? {
        kind == .gradient ? gradientPace : evaluationPace
    }

    /// Computes the medians again, at most once a second.
    mutating func takePace() {
        if let paceTaken, clock - paceTaken < .seconds(1) { return }
        paceTaken = clock
        func median(_ kind: WorkKind) -> Double? {
            let paces = members.all.members.compactMap { peer in
                members[peer].flatMap { standings[$0.name]?.pace(kind) }
            }.sorted()
            return paces.isEmpty ? nil : paces[paces.count / 2]
        }
        gradientPace = median(.gradient) ?? gradientPace
        evaluationPace = median(.evaluation) ?? evaluationPace
    }

    /// Workers by pace; an unknown pace counts as the fleet's median.
    func fastestFirst(_ peers: [PeerID]) -> [PeerID] {
        guard peers.count > 1, let kind = open?.round.label.kind else { return peers }
        let unknown = fleetPace(kind) ?? .infinity
        let paces = peers.map { peer in
            (members[peer].flatMap { standings[$0.name]?.pace(kind) } ?? unknown, peer)
        }
        return paces.sorted { $0 < $1 }.map { $0.1 }
    }

    /// Those with unknown pace, then the others by pace: the order in which new work goes out.
    ///
    /// Otherwise, with less work than workers, the last to join would never get any. At worst an
    /// idle worker computes the work, too.
    func unknownFirst(_ peers: [PeerID]) -> [PeerID] {
        guard peers.count > 1, let open else { return peers }
        let kind = open.round.label.kind
        let paces = peers.map { peer in
            (members[peer].flatMap { knownPace($0, kind, open) } ?? 0, peer)
        }
        return paces.sorted { $0 < $1 }.map { $0.1 }
    }

    /// A worker's pace; nil when it has none, or none measured lately: measuring it takes at most a
    /// hundredth of its time.
    private func knownPace(_ worker: Worker, _ kind: WorkKind, _ open: RoundState) -> Double? {
        guard let standing = standings[worker.name], let pace = standing.pace(kind),
            let tried = standing.tried(kind)
        else { return nil }
        let age = max(settings.paceAge, .seconds(100 * pace * open.meanCost))
        return clock - tried > age ? nil : pace
    }

    /// Seconds that a started lease still needs; infinity: its result should have arrived already.
    func secondsLeft(_ lease: Lease, expected: Double?) -> Double? {
        guard let started = lease.started, let total = lease.seconds(expected: expected) else {
            return nil
        }
        let elapsed = (clock - started).inSeconds
        return elapsed > 1.5 * total ? .infinity : max(0, total - elapsed)
    }

    /// Seconds until work that waits behind others is done; infinity: unknown.
    func secondsUntilDone(unstarted index: Int, by worker: Worker) -> Double {
        guard !isQuiet(worker), let own = expectation(worker, index) else { return .infinity }
        let starts = worker.leases.compactMap { lease in
            lease.started == nil
                ? nil
                : secondsLeft(lease, expected: expectation(worker, lease.index)) ?? .infinity
        }
        return (starts.min() ?? 0) + own
    }

    /// Whether a heartbeat of the worker is late: it may be stopped or cut off.
    func isQuiet(_ worker: Worker) -> Bool {
        worker.isSuspect || clock - worker.lastHeard >= settings.quietAfter
    }

    /// Whether a second lease could be given at all.
    var mayDouble: Bool {
        guard let open, open.begun, !open.isComplete else { return false }
        return !members.idle.isEmpty && members.count > 1
    }

    private struct Slow {
        var rank: Int
        var left: Double
        var holder: Worker
        var lease: Lease
    }

    /// Leases what takes too long to idle threads, too: first the work of silent workers, then what
    /// is overdue, then what would be finished last.
    mutating func double() {
        guard mayDouble, nextDoubling <= clock else { return }
        nextDoubling = clock + Self.doublingInterval
        takePace()
        var slow = slowLeases()
        // The next ones are slower: a few in a row that find nothing end the search.
        var failures = 0
        for peer in fastestFirst(members.idle.members) where failures < 64 && !slow.isEmpty {
            failures += 1
            while members.idle.contains(peer), let worker = members[peer],
                let place = slow.prefix(64).firstIndex(where: { isWorth($0, worker) })
            {
                let chosen = slow.remove(at: place)
                let name = chosen.holder.name
                let reason: LeaseReason =
                    switch chosen.rank {
                    case 0: .silent(name)
                    case 1: .overdue(name)
                    default: .straggler(name)
                    }
                grant(chosen.lease.index, to: peer, reason)
                failures = 0
            }
        }
    }

    private func slowLeases() -> [Slow] {
        var slow: [Slow] = []
        for peer in members.all.members {
            guard let worker = members[peer] else { continue }
            let isQuiet = isQuiet(worker)
            for lease in worker.leases {
                guard let piece = open?.pieces[lease.index], piece.phase == .open,
                    piece.holders.count == 1
                else { continue }
                guard let started = lease.started else {
                    // A silent worker's queue; a live one's was already offered to the idle.
                    if isQuiet {
                        slow.append(Slow(rank: 0, left: .infinity, holder: worker, lease: lease))
                    }
                    continue
                }
                let isOverdue = clock - started > allowance(worker, lease.index)
                let rank = isQuiet ? 0 : isOverdue ? 1 : 2
                let left = secondsLeft(lease, expected: expectation(worker, lease.index))
                if rank == 2, left == nil { continue }
                slow.append(
                    Slow(rank: rank, left: left ?? .infinity, holder: worker, lease: lease))
            }
        }
        return slow.sorted {
            ($0.rank, -$0.left, $0.lease.index) < ($1.rank, -$1.left, $1.lease.index)
        }
    }

    /// Whether an idle worker should compute this lease's work, too.
    private func isWorth(_ slow: Slow, _ idle: Worker) -> Bool {
        guard idle.peer != slow.holder.peer, !isAvoided(slow.lease.index, idle.name) else {
            return false
        }
        if isFar(slow.lease.index, idle) { return isWorthReplaying(slow.lease, slow.holder, idle) }
        if slow.rank < 2 { return true }
        guard let started = slow.lease.started else { return false }
        let floor = settings.speculationFloor.inSeconds
        if slow.left == .infinity { return (clock - started).inSeconds > floor }
        guard let own = expectation(idle, slow.lease.index) else { return false }
        return slow.left > max(1.5 * own, floor)
    }
}
