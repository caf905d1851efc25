import SkeinBasics

/// What is waited for, in words.
extension CoordinatorState {
    /// What is waited for, in the words of `skein status --why`: who, since when, what comes next.
    package func waiting(now: Duration) -> Waiting {
        let now = max(now, clock)
        guard let open else { return waitingBetweenRounds(now) }
        let label = open.round.label
        if open.isComplete, let waiting = waitingForJudge(now, open) { return waiting }
        if open.isComplete {
            let since = lastProgress
            return Waiting(
                culprit: .coordinator, since: since,
                sentence: "\(label) waits \((now - since).inWords) for the coordinator itself: "
                    + "every \(label.pieceName) is accepted, it closes the round next")
        }
        if missing > 0 { return waitingForWorkers(now, open) }
        let lease = slowestLease(now)
        if let lease, lease.isUrgent { return waiting(for: lease, now, open) }
        if let checking = waitingForCheck(now, open, isOnly: lease == nil) { return checking }
        if let lease { return waiting(for: lease, now, open) }
        return waitingForTakers(now, open)
    }

    /// All results are here, and somebody is asked which of two that do not agree is right.
    private func waitingForJudge(_ now: Duration, _ open: OpenRound) -> Waiting? {
        let first = open.disputes.filter { $0.value.judge != nil }.min { $0.key < $1.key }
        guard let first, let worker = first.value.judge.flatMap({ members[$0] }) else { return nil }
        let lease = worker.leases.first { $0.index == first.key }
        let since = lease?.started ?? lastProgress
        let names = first.value.votes.map(\.name).joined(separator: " or ")
        return Waiting(
            culprit: .worker(worker.name), since: since,
            sentence: "\(open.round.label) waits \((now - since).inWords) for worker "
                + "\(worker.title), last heard \((now - worker.lastHeard).inWords) ago, to tell "
                + "whether \(names) computes \(open.round.label.pieceName) \(first.key) wrongly; "
                + "then the round is closed")
    }

    private func waitingBetweenRounds(_ now: Duration) -> Waiting {
        let time = (now - phaseSince).inWords
        switch phase {
        case .starting:
            return Waiting(
                culprit: .coordinator, since: phaseSince,
                sentence: "starting: the coordinator prepares the run, since \(time); "
                    + "then it leases the first step")
        case .betweenSteps(let activity):
            return Waiting(
                culprit: .coordinator, since: phaseSince,
                sentence: "between steps: the coordinator \(activity), since \(time); "
                    + "then it leases the next step")
        case .finished:
            return Waiting(
                culprit: .nobody, since: phaseSince,
                sentence: "the run ended \(time) ago: nothing is waited for")
        }
    }

    private func waitingForWorkers(_ now: Duration, _ open: OpenRound) -> Waiting {
        let since = shortageSince ?? open.opened
        let wanted = missing
        let here =
            open.begun
            ? "nobody is here to go on"
            : "\(members.active) of --min-workers \(settings.minimumWorkers) "
                + "\(members.active == 1 ? "is" : "are") here"
        var sentence =
            "\(open.round.label) waits \((now - since).inWords) for \(wanted) more "
            + "worker\(wanted == 1 ? "" : "s") (\(here))"
        let paused = standings.compactMap { name, standing in
            standing.remainingQuarantine(now: now).map { ($0, name) }
        }
        if let (left, name) = paused.min(by: { $0 < $1 }) {
            sentence += "; \(name) may come back in \(left.inWords)"
        }
        sentence += preparationSentence(now)
        if let giveUpAt {
            let left = giveUpAt - now
            sentence +=
                left > .zero
                ? "; gives up in \(left.inWords), counted anew when a worker joins or gets on with "
                    + "its preparation"
                : "; its patience is over"
        }
        return Waiting(culprit: .absentees, since: since, sentence: sentence)
    }

    /// The lease that a round waits for longest.
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

    private func waiting(for slow: Slowest, _ now: Duration, _ open: OpenRound) -> Waiting {
        let worker = slow.worker
        let piece = open.round.label.pieceName
        let silence = now - worker.lastHeard
        var sentence =
            "\(open.round.label) waits \((now - slow.started).inWords) for \(piece) "
            + "\(slow.lease.index) on worker \(worker.title), last heard \(silence.inWords) ago"
        let other = open.pieces[slow.lease.index].holders.first { $0 != worker.peer }
        let elsewhere =
            other.flatMap { members[$0] }.map { "\($0.name) computes it, too" }
            ?? (members.active - (worker.isDraining ? 0 : 1) > 0
                ? "the \(piece) goes to another worker"
                : "the \(piece) waits for another worker to come")
        let deadline = slow.started + allowance(worker, slow.lease.index)
        if slow.rank == 2 {
            let left = worker.lastHeard + settings.lostAfter - now
            sentence += "; in \(left.inWords) it counts as lost and \(elsewhere)"
        } else if slow.rank == 1 {
            sentence += "; it is \((now - deadline).inWords) past its deadline: "
            sentence += other == nil ? "the next idle worker gets it, too" : elsewhere
        } else if let expected = expectation(worker, slow.lease.index) {
            let left = slow.started + .seconds(expected) - now
            sentence += left > .zero ? "; expected in \(left.inWords)" : "; expected any moment"
            sentence += ", overdue in \((deadline - now).inWords)"
        } else {
            sentence += "; its first, so nobody knows how long it takes; "
            sentence += "overdue in \((deadline - now).inWords)"
        }
        return Waiting(culprit: .worker(worker.name), since: slow.started, sentence: sentence)
    }

    /// A result in the run's thread's hands: when nothing else is left or when it takes long.
    private func waitingForCheck(
        _ now: Duration, _ open: OpenRound, isOnly: Bool
    ) -> Waiting? {
        guard open.unchecked > 0 else { return nil }
        let checks = open.histories.compactMap { index, history in
            history.checking.map { (since: $0.since, index: index, name: $0.name) }
        }
        guard let oldest = checks.min(by: { ($0.since, $0.index) < ($1.since, $1.index) }),
            isOnly || now - oldest.since > .seconds(1)
        else { return nil }
        return Waiting(
            culprit: .coordinator, since: oldest.since,
            sentence: "\(open.round.label) waits \((now - oldest.since).inWords) for the "
                + "coordinator itself: it checks the result of \(open.round.label.pieceName) "
                + "\(oldest.index) from \(oldest.name), \(open.unchecked) in all")
    }

    /// There is work, and nobody may take it now.
    private func waitingForTakers(_ now: Duration, _ open: OpenRound) -> Waiting {
        let silent = members.all.members.compactMap { members[$0] }
            .min { ($0.lastHeard, $0.name) < ($1.lastHeard, $1.name) }
        guard let silent else { return waitingForWorkers(now, open) }
        let next =
            now - silent.lastHeard >= settings.suspectAfter
            ? "in \((silent.lastHeard + settings.lostAfter - now).inWords) it counts as lost"
            : "it gets work as soon as its results are checked"
        return Waiting(
            culprit: .worker(silent.name), since: lastProgress,
            sentence: "\(open.round.label) waits \((now - lastProgress).inWords) for worker "
                + "\(silent.title), last heard \((now - silent.lastHeard).inWords) ago, "
                + "to take \(open.unleased) that nobody computes; \(next)")
    }
}
