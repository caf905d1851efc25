import SkeinBasics

/// Results that differ, and results for which there is no room.
extension CoordinatorState {
    /// At most this many workers are asked about one piece.
    private static let mostVotes = 8

    /// Another result of an accepted piece: the same, or one of the two computes wrongly.
    mutating func vote(_ other: Claim, _ index: Int) {
        guard let open else { return }
        let piece = open.pieces[index]
        if piece.isConfirmed {
            guard piece.digest != other.digest else { return }
            return fail(
                other.name, "its result of \(describe(index)) is not what the run has recorded")
        }
        var dispute = open.disputes[index]
        if dispute == nil {
            let former = open.formerDisputes[index]
            // A worker that has voted cannot reopen it by repeating its vote.
            guard piece.digest != other.digest,
                former?.votes.contains(where: { $0.name == other.name }) != true
            else { return }
            say(.dispute(open.key(index)))
            dispute = Dispute(
                votes: former?.votes ?? [(piece.computedBy, piece.digest)],
                asked: former?.asked ?? [])
        }
        if dispute?.votes.contains(where: { $0.name == other.name }) == false {
            dispute?.votes.append((other.name, other.digest))
        }
        self.open?.disputes[index] = dispute
        if piece.computedBy == other.name, piece.digest != other.digest {
            fail(other.name, "it gave two different results for \(describe(index))")
        }
    }

    /// Ends the disputes that can be ended, and asks another worker about the others.
    mutating func settleDisputes() {
        guard let waiting = open?.disputes, !waiting.isEmpty else { return }
        for index in waiting.keys.sorted() {
            guard let dispute = open?.disputes[index] else { continue }
            if let verdict = verdict(of: dispute) {
                settle(index, dispute, verdict)
                continue
            }
            if let judge = dispute.judge {
                guard isLate(judge, index, since: dispute.askedAt) else { continue }
                dismiss(judge, index)
            }
            if let judge = judge(of: dispute) {
                ask(judge, index, dispute)
            } else {
                endUndecided(index, dispute)
            }
        }
    }

    private mutating func ask(_ judge: Worker, _ index: Int, _ dispute: Dispute) {
        let names = dispute.votes.suffix(2).map(\.name)
        say(
            .log(
                .warning,
                names.joined(separator: " and ")
                    + " gave different results for \(describe(index)): \(judge.name) computes it, too, to tell which is wrong"
            ))
        open?.disputes[index]?.judge = judge.peer
        open?.disputes[index]?.askedAt = clock
        open?.disputes[index]?.asked.append(judge.name)
        grant(index, to: judge.peer, .disputed(names[0], names[names.count - 1]))
    }

    /// Whether a round was held open long enough for a judge's answer, since it had a thread for
    /// it. Bytes that move do not count: a worker that never answers can send some.
    private func isLate(_ judge: PeerID, _ index: Int, since asked: Duration) -> Bool {
        guard let worker = members[judge] else { return true }
        var since = asked
        if let lease = worker.leases.first(where: { $0.index == index }) {
            // Behind earlier work: that ends, or others do it.
            guard let started = lease.started else { return false }
            since = max(since, started)
        }
        return clock - since > max(settings.patience, allowance(worker, index))
    }

    private mutating func dismiss(_ judge: PeerID, _ index: Int) {
        let name = members[judge]?.name ?? ""
        say(.log(.warning, "\(name) has not answered about \(describe(index)): others are asked"))
        cancel(index, at: judge, .late)
    }

    /// No worker is left to ask.
    private mutating func endUndecided(_ index: Int, _ dispute: Dispute) {
        let names = dispute.votes.map(\.name).joined(separator: " and ")
        let what =
            "\(names) gave different results for \(describe(index)): one of them computes wrongly, "
            + "and nobody else is here to tell which; using that of "
        if let word = lastWord(of: dispute) {
            say(.log(.warning, what + "\(word.name), which has given good results before"))
            settle(index, dispute, word.digest)
        } else {
            say(.log(.warning, what + "\(dispute.votes[0].name), which came first"))
            endDispute(index)
        }
    }

    /// The result that two of them agree about. Names are cheap: to overrule a name with good
    /// results takes another one with good results.
    func verdict(of dispute: Dispute) -> [UInt8]? {
        dispute.votes.first { one in
            let same = dispute.votes.filter { $0.digest == one.digest }
            let others = dispute.votes.filter { $0.digest != one.digest }
            return same.count >= 2
                && (same.contains { hasPast($0.name, in: dispute) }
                    || !others.contains { hasPast($0.name, in: dispute) })
        }?.digest
    }

    /// Whether it has good results besides the disputed one, which proves nothing.
    private func hasPast(_ name: String, in dispute: Dispute) -> Bool {
        let accepted = standings[name]?.accepted ?? 0
        return accepted > (name == dispute.votes[0].name ? 1 : 0)
    }

    /// The result that counts when no worker is left to ask: that of names with other good results,
    /// if they all agree and the accepted one comes from a name without any.
    func lastWord(of dispute: Dispute) -> (name: String, digest: [UInt8])? {
        guard !hasPast(dispute.votes[0].name, in: dispute) else { return nil }
        let known = dispute.votes.filter { hasPast($0.name, in: dispute) }
        return known.allSatisfy { $0.digest == known.first?.digest } ? known.first : nil
    }

    /// A worker that has not voted and was not asked: one with good results, and of those an idle
    /// one, else the one with the least to do.
    private func judge(of dispute: Dispute) -> Worker? {
        let names = Set(dispute.votes.map(\.name) + dispute.asked)
        guard names.count < Self.mostVotes else { return nil }
        return members.all.members.compactMap { members[$0] }.filter {
            !$0.isDraining && !$0.isSuspect && !names.contains($0.name)
        }.min { rank(ofJudge: $0) < rank(ofJudge: $1) }
    }

    private func rank(ofJudge worker: Worker) -> (Int, Double, PeerID) {
        let isProven = standings[worker.name]?.isProven == true
        // Per thread: a worker that claims to have many is not idle because of that.
        let load = Double(worker.leases.count) / Double(worker.threads)
        return (isProven ? 0 : 1, load, worker.peer)
    }

    private mutating func settle(_ index: Int, _ dispute: Dispute, _ verdict: [UInt8]) {
        guard let piece = open?.pieces[index], let number = open?.round.number else { return }
        let right = dispute.votes.filter { $0.digest == verdict }.map(\.name)
        for vote in dispute.votes where vote.digest != verdict {
            let reason =
                "its result of \(describe(index)) is not that of "
                + right.joined(separator: " and ") + ": it computes wrongly"
            fail(vote.name, reason)
        }
        if piece.digest != verdict {
            let label = open?.round.label.description ?? ""
            say(.log(.warning, "\(label) is computed again without the wrong result"))
            say(.spoil(round: number))
        }
        endDispute(index)
    }

    private mutating func endDispute(_ index: Int) {
        let dispute = open?.disputes.removeValue(forKey: index)
        let judge = dispute?.judge
        open?.formerDisputes[index] = dispute
        if let judge, let name = open?.pieces[index].computedBy {
            cancel(index, at: judge, .accepted(from: name))
        }
        if let key = open?.key(index) { say(.settle(key)) }
    }

    // MARK: Results without room

    /// Leaves a finished result with its worker until there is room for it here.
    mutating func postpone(_ worker: Worker, _ key: WorkKey, _ index: Int) {
        guard let lease = worker.leases.first(where: { $0.index == index }) else {
            let sentence = "too many results wait for their check; the work is leased again"
            say(.answer(worker.peer, key, .refused, sentence))
            return
        }
        if let started = lease.started, !lease.isHeld {
            observe(worker, lease, seconds: (clock - started).inSeconds)
        }
        members.update(worker.peer) { [clock] in $0.postpone(index, now: clock) }
        let place = RoundState.Place(peer: worker.peer, index: index)
        if open?.postponed.contains(place) == false { open?.postponed.append(place) }
        say(.drop(worker.peer, key))
    }

    /// Asks again for results that there is room for now.
    mutating func recall() {
        guard let waiting = open?.postponed, !waiting.isEmpty else { return }
        endReservations()
        var taken = 0
        for place in waiting {
            guard let round = open,
                round.unchecked + round.recalled.count < round.room(settings)
            else { break }
            taken += 1
            guard let lease = keptLease(place), lease.started == nil else { continue }
            open?.recalled.append((place, clock))
            members.update(place.peer) { [clock] in $0.recall(place.index, now: clock) }
            say(.lease(place.peer, round.key(place.index), attempt: lease.attempt, .recalled))
        }
        open?.postponed.removeFirst(taken)
    }

    private func keptLease(_ place: RoundState.Place) -> Lease? {
        members[place.peer]?.leases.first { $0.index == place.index && $0.isHeld }
    }

    /// Takes back room that is kept for results that do not come.
    ///
    /// On a slow line a result takes longer than `recallTime`: while bytes move, its room is kept.
    /// But any bytes count as movement, so no room is kept for longer than the patience.
    private mutating func endReservations() {
        for (place, since) in open?.recalled ?? [] {
            guard let lease = keptLease(place) else { continue }
            let isStill = clock - max(since, lease.movedAt) > settings.recallTime
            if isStill || clock - since > settings.patience { takeKept(from: place) }
        }
        let left = open?.recalled.filter { keptLease($0.place) != nil } ?? []
        open?.recalled = left
    }

    /// Gives others all that a worker has finished and keeps: with its next result it would get the
    /// same room again. What it still hands in counts, if there is room then.
    private mutating func takeKept(from place: RoundState.Place) {
        guard let worker = members[place.peer] else { return }
        say(
            .log(
                .warning,
                "\(worker.title) was asked for its result of \(describe(place.index)) and has not "
                    + "sent it: others compute what it keeps"))
        for lease in worker.leases where lease.isPostponed {
            var history = open?.histories[lease.index] ?? PieceHistory()
            history.avoid(worker.name) { members.isActive(name: $0) }
            open?.histories[lease.index] = history
            cancel(lease.index, at: place.peer, .late)
        }
    }
}
