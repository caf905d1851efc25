import SkeinBasics

// What the run waits for. `Waiting.sentence` has the words.
extension CoordinatorState {
    /// Whom the run waits for, since when, and what comes next.
    package func waiting(now: Duration) -> Waiting {
        let now = max(now, clock)
        guard let open else { return waitingBetweenRounds(now) }
        if open.isComplete {
            return waitingForJudge(now, open)
                ?? Waiting(.closing, of: open, since: lastProgress, now)
        }
        if missing > 0 { return waitingForWorkers(now, open) }
        let lease = slowestLease(now)
        if let lease, lease.isUrgent { return waiting(for: lease, now, open) }
        if let checking = waitingForCheck(now, open, isOnly: lease == nil) { return checking }
        if let lease { return waiting(for: lease, now, open) }
        return waitingForTakers(now, open)
    }

    /// All results are here, and a worker was asked which of two different ones is right.
    private func waitingForJudge(_ now: Duration, _ open: RoundState) -> Waiting? {
        let first = open.disputes.filter { $0.value.judge != nil }.min { $0.key < $1.key }
        guard let first, let worker = first.value.judge.flatMap({ members[$0] }) else { return nil }
        let lease = worker.leases.first { $0.index == first.key }
        return Waiting(
            .judging(
                piece: first.key, worker: worker.asPeer(now),
                suspects: first.value.votes.map(\.name)),
            of: open, since: lease?.started ?? lastProgress, now)
    }

    private func waitingBetweenRounds(_ now: Duration) -> Waiting {
        let reason: Waiting.Reason =
            switch phase {
            case .starting: .starting
            case .betweenSteps(let activity): .betweenRounds(activity: activity)
            case .finished: .ended
            }
        return Waiting(reason, of: nil, since: phaseSince, now)
    }

    private func waitingForWorkers(_ now: Duration, _ open: RoundState) -> Waiting {
        let paused = standings.compactMap { name, standing in
            standing.remainingQuarantine(now: now).map { ($0, name) }
        }.min { $0 < $1 }
        let newest = preparations.values.max {
            ($0.progressAt, $1.peer) < ($1.progressAt, $0.peer)
        }
        let shortage = Waiting.Shortage(
            missing: missing, present: members.active, needed: settings.minimumWorkers,
            hasBegun: open.begun, paused: paused?.1, pausedSeconds: paused?.0.inSeconds,
            preparing: newest.map {
                Waiting.Preparing(
                    name: $0.name, address: $0.address, preparedBytes: $0.bytes,
                    progressSeconds: (now - $0.progressAt).inSeconds)
            }, othersPreparing: max(0, preparations.count - 1),
            givesUpInSeconds: giveUpAt.map { ($0 - now).inSeconds })
        return Waiting(
            .workersMissing(shortage: shortage), of: open, since: shortageSince ?? open.opened, now)
    }

    /// The lease that holds up the round most.
    private struct Slowest {
        var worker: Worker
        var lease: Lease
        var started: Duration
        /// 2: its holder is silent; 1: it is overdue; 0: all is well.
        var rank: Int
        var isUrgent: Bool { rank > 0 }
    }

    private func slowestLease(_ now: Duration) -> Slowest? {
        var slowest: Slowest?
        for peer in members.all.members {
            guard let worker = members[peer] else { continue }
            let isSilent = now - worker.lastHeard >= settings.suspectAfter
            for lease in worker.leases {
                guard let started = lease.started,
                    open?.pieces[lease.index].phase == .open
                else { continue }
                let isOverdue = now - started > allowance(worker, lease.index)
                let one = Slowest(
                    worker: worker, lease: lease, started: started,
                    rank: isSilent ? 2 : isOverdue ? 1 : 0)
                guard let best = slowest else {
                    slowest = one
                    continue
                }
                if (one.rank, best.started, best.lease.index)
                    > (best.rank, one.started, one.lease.index)
                {
                    slowest = one
                }
            }
        }
        return slowest
    }

    private func waiting(for slow: Slowest, _ now: Duration, _ open: RoundState) -> Waiting {
        let (worker, index) = (slow.worker, slow.lease.index)
        let other = open.pieces[index].holders.first { $0 != worker.peer }
        let elsewhere: Waiting.Elsewhere =
            other.flatMap { members[$0] }.map { .computed(by: $0.name) }
            ?? (members.active - (worker.isDraining ? 0 : 1) > 0 ? .anotherWorker : .nobody)
        let deadline = slow.started + allowance(worker, index)
        let outlook: Waiting.Outlook
        if slow.rank == 2 {
            let left = worker.lastHeard + settings.lostAfter - now
            outlook = .lost(inSeconds: left.inSeconds)
        } else if slow.rank == 1 {
            outlook = .overdue(bySeconds: (now - deadline).inSeconds)
        } else if let expected = expectation(worker, index) {
            let left = slow.started + .seconds(expected) - now
            outlook = .expected(
                inSeconds: left.inSeconds, overdueInSeconds: (deadline - now).inSeconds)
        } else {
            outlook = .unknown(overdueInSeconds: (deadline - now).inSeconds)
        }
        return Waiting(
            .computing(
                piece: index, worker: worker.asPeer(now), outlook: outlook, elsewhere: elsewhere),
            of: open, since: slow.started, now)
    }

    /// A result that the run's thread checks, if nothing else is left or the check takes long.
    private func waitingForCheck(
        _ now: Duration, _ open: RoundState, isOnly: Bool
    ) -> Waiting? {
        guard open.unchecked > 0 else { return nil }
        let checks = open.histories.compactMap { index, history in
            history.checking.map { (since: $0.since, index: index, name: $0.name) }
        }
        guard let oldest = checks.min(by: { ($0.since, $0.index) < ($1.since, $1.index) }),
            isOnly || now - oldest.since > .seconds(1)
        else { return nil }
        return Waiting(
            .checking(piece: oldest.index, worker: oldest.name, unchecked: open.unchecked),
            of: open, since: oldest.since, now)
    }

    /// There is work, but no worker may take it now.
    private func waitingForTakers(_ now: Duration, _ open: RoundState) -> Waiting {
        let silent = members.all.members.compactMap { members[$0] }
            .min { ($0.lastHeard, $0.name) < ($1.lastHeard, $1.name) }
        guard let silent else { return waitingForWorkers(now, open) }
        if let away = nextHomeless {
            let pieces = awayPieces
            return Waiting(
                .away(
                    pieces: pieces.count, worker: pieces.first.flatMap { homes[$0]?.name } ?? "",
                    rebuiltInSeconds: (away - now).inSeconds),
                of: open, since: lastProgress, now)
        }
        let isSuspect = now - silent.lastHeard >= settings.suspectAfter
        return Waiting(
            .untaken(
                pieces: open.unleased, worker: silent.asPeer(now),
                lostInSeconds: isSuspect
                    ? (silent.lastHeard + settings.lostAfter - now).inSeconds : nil),
            of: open, since: lastProgress, now)
    }
}

extension Worker {
    fileprivate func asPeer(_ now: Duration) -> Waiting.Peer {
        Waiting.Peer(
            name: name, address: member.address, lastHeardSeconds: (now - lastHeard).inSeconds)
    }
}

extension Waiting {
    fileprivate init(_ reason: Reason, of open: RoundState?, since: Duration, _ now: Duration) {
        self.init(round: open?.round.label, reason: reason, seconds: (now - since).inSeconds)
    }
}
