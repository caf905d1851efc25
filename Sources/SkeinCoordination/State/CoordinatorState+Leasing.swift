import SkeinBasics

/// Which worker gets what.
extension CoordinatorState {
    /// Gives work to all workers that can take it.
    mutating func dispatch() {
        // No local copy of the round here or below: a change would copy all its pieces.
        guard !hasGivenUp, open != nil else { return }
        settleDisputes()
        recall()
        guard open?.isComplete == false else { return }
        if open?.begun == false {
            guard members.active >= settings.minimumWorkers else { return }
            open?.begun = true
            noteProgress()
        }
        fill(members.idle.members) { .next }
        // The tail goes by paces: a worker that has finished its own should find something there.
        while let left = open?.unleased, left > members.activeThreads {
            let before = left
            fill(members.roomy.members, once: true) { .prefetch }
            if open?.unleased == before { break }
        }
        planTail()
        takeOver()
        double()
    }

    /// Gives unleased work to these peers, one piece to each in turn.
    private mutating func fill(
        _ peers: [PeerID], once: Bool = false, _ reason: () -> LeaseReason
    ) {
        guard let left = open?.unleased, left > 0, !peers.isEmpty else { return }
        var line = unknownFirst(peers)
        while !line.isEmpty {
            var again: [PeerID] = []
            for peer in line {
                if once, let left = open?.unleased, left <= members.activeThreads { return }
                guard let name = members[peer]?.name, let index = nextPiece(for: name) else {
                    continue
                }
                grant(index, to: peer, self.reason(for: index, reason()))
                let set = once ? members.roomy : members.idle
                if set.contains(peer) { again.append(peer) }
            }
            line = again
        }
    }

    /// Why a piece is leased: it was given back, or what else there is.
    func reason(for index: Int, _ other: LeaseReason) -> LeaseReason {
        open?.histories[index]?.releasedBy.map { .released(by: $0) } ?? other
    }

    /// The next piece in order that this worker may have; it must be leased at once.
    mutating func nextPiece(for name: String) -> Int? {
        guard var round = open, round.unleased > 0 else { return nil }
        open = nil
        defer { open = round }
        let histories = round.histories
        func isAllowed(_ index: Int) -> Bool {
            guard let history = histories[index] else { return true }
            return !isAvoided(history, name)
        }
        guard let replay = round.round.replay, let worker = members[name: name] else {
            return round.next(where: isAllowed)
        }
        // What it has the state of comes first.
        let open = round
        var burdens: [String: Int]?
        return round.next { isHome($0, of: worker) && isAllowed($0) }
            ?? round.next { mayCompute($0, worker, replay, open, &burdens) && isAllowed($0) }
    }

    /// Whether others should get the piece because this worker's result of it was not used.
    func isAvoided(_ index: Int, _ name: String) -> Bool {
        guard let history = open?.histories[index] else { return false }
        return isAvoided(history, name)
    }

    func isAvoided(_ history: PieceHistory, _ name: String) -> Bool {
        if history.avoided.contains(name) {
            let tried = history.avoided.count { members.isActive(name: $0) }
            return members.active > tried
        }
        // A new name costs nothing: a worker that joins under one after the other must not keep the
        // piece from those with good results.
        guard history.refusals >= settings.refusalsByStrangers,
            standings[name]?.isProven != true
        else { return false }
        return isProvenLeft(without: history.avoided)
    }

    /// Whether a worker with good results is here, besides these.
    func isProvenLeft(without names: [String]) -> Bool {
        members.all.members.contains { peer in
            guard let worker = members[peer], !worker.isDraining else { return false }
            return standings[worker.name]?.isProven == true && !names.contains(worker.name)
        }
    }

    mutating func grant(_ index: Int, to peer: PeerID, _ reason: LeaseReason) {
        guard let before = open?.pieces[index], let name = members[peer]?.name else { return }
        let attempt = before.attempts + 1
        open?.change(index) {
            $0.attempts = attempt
            $0.holders.append(peer)
            if !$0.leased.contains(name) { $0.leased.append(name) }
        }
        members.update(peer) { [clock] in
            $0.add(index, attempt: attempt, isHeld: reason == .held, now: clock)
        }
        counters.leases += 1
        if before.attempts > 0 { counters.again += 1 }
        if reason.isSecond { counters.speculative += 1 }
        noteProgress()
        if let key = open?.key(index) { say(.lease(peer, key, attempt: attempt, reason)) }
    }

    /// Takes a lease from its holder; without another holder the piece is free.
    mutating func release(_ index: Int, of worker: Worker, _ ending: RoundTimeline.Span.Ending) {
        if let lease = worker.leases.first(where: { $0.index == index }), !lease.isHeld {
            timeline.end(lease, of: worker.name, ending, now: clock)
        }
        _ = members.update(worker.peer) { [clock] in $0.remove(index, now: clock) }
        guard open != nil else { return }
        open?.change(index) { $0.holders.removeAll { $0 == worker.peer } }
        if open?.disputes[index]?.judge == worker.peer { open?.disputes[index]?.judge = nil }
        if open?.pieces[index].isUnleased == true {
            open?.histories[index, default: PieceHistory()].releasedBy = worker.name
        }
    }

    /// An idle thread starts what waits behind others at another worker, if it would be first.
    private mutating func takeOver() {
        guard !members.idle.isEmpty, !members.laden.isEmpty else { return }
        for thief in fastestFirst(members.idle.members) {
            while members.idle.contains(thief), let (victim, index) = prey(of: thief) {
                guard let from = members[victim], let to = members[thief],
                    let key = open?.key(index)
                else { break }
                release(index, of: from, .cancelled)
                say(.cancel(victim, key, .takenOver(by: to.name)))
                grant(index, to: thief, .takenOver(from: from.name))
            }
        }
    }

    /// The unstarted lease that would be finished last, among a few; any of them will do.
    private func prey(of thief: PeerID) -> (PeerID, Int)? {
        guard let taker = members[thief] else { return nil }
        var best: (score: Double, victim: PeerID, index: Int)?
        for victim in members.laden.members.prefix(64) where victim != thief {
            guard let holder = members[victim],
                let lease = holder.leases.last(where: { $0.started == nil && !$0.isHeld }),
                let piece = open?.pieces[lease.index], piece.phase == .open,
                piece.holders == [victim], !isAvoided(lease.index, taker.name)
            else { continue }
            let theirs = secondsUntilDone(unstarted: lease.index, by: holder)
            let ours = expectation(taker, lease.index)
            if ours == nil, isFar(lease.index, taker) { continue }
            if let ours, ours >= theirs { continue }
            if theirs > best?.score ?? -1 { best = (theirs, victim, lease.index) }
        }
        return best.map { ($0.victim, $0.index) }
    }
}
