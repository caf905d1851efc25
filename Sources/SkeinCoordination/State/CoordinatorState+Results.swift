import SkeinBasics

/// What happens to results.
extension CoordinatorState {
    mutating func arrived(
        _ peer: PeerID, _ key: WorkKey, _ digest: [UInt8], _ computation: UInt32?
    ) {
        guard let worker = members[peer] else { return }
        heard(peer, [])
        guard let index = open?.index(key), let phase = open?.pieces[index].phase else {
            foreign(worker, key)
            return
        }
        if worker.parked.contains(index) { return }
        guard open?.pieces[index].leased.contains(worker.name) == true else {
            discard(worker, key, index)
            return
        }
        noteProgress()
        open?.recalled.removeAll { $0.place == RoundState.Place(peer: peer, index: index) }
        let lease = worker.leases.first { $0.index == index }
        // A result whose lease was taken away while it came cannot be sent later. It gets the room
        // of results that have not begun to come, or slow lines would send in vain again and again.
        if phase != .accepted, let open,
            open.unchecked + (lease == nil ? 0 : open.recalled.count) >= open.room(settings)
        {
            postpone(worker, key, index)
            return
        }
        if let lease {
            if let started = lease.started, !lease.isHeld {
                observe(worker, lease, seconds: (clock - started).inSeconds)
            }
            release(index, of: worker, .arrived)
        }
        let candidate = Claim(
            peer: peer, name: worker.name, incarnation: worker.member.incarnation, digest: digest,
            computation: computation, since: clock)
        if phase == .accepted {
            reject(duplicate: candidate, index)
            return
        }
        if worker.parked.count >= 4 * worker.threads + 4 {
            say(.answer(peer, key, .refused, "too many results at once; the work is leased again"))
            return
        }
        members.update(peer) { _ = $0.parked.insert(index) }
        open?.unchecked += 1
        if phase == .checking {
            open?.histories[index, default: PieceHistory()].waiting.append(candidate)
        } else {
            check(candidate, index)
        }
    }

    /// A result of another round, or of work that does not exist.
    private mutating func foreign(_ worker: Worker, _ key: WorkKey) {
        guard let open, key.round == open.round.number else {
            counters.stale += 1
            let sentence = open.map { "\($0.round.label) is computed now" } ?? "its round is over"
            say(.answer(worker.peer, key, .stale, sentence))
            return
        }
        let sentence = "there is no work number \(key.index) in \(open.round.label)"
        counters.refused += 1
        standings[worker.name]?.noteRefused()
        say(.answer(worker.peer, key, .refused, sentence))
        fail(worker.name, sentence)
    }

    /// This worker was not asked for it, so it is not looked at.
    private mutating func discard(_ worker: Worker, _ key: WorkKey, _ index: Int) {
        counters.refused += 1
        standings[worker.name]?.noteRefused()
        say(
            .answer(
                worker.peer, key, .refused,
                "\(describe(index)) was never leased to \(worker.name)"))
    }

    private mutating func check(_ candidate: Claim, _ index: Int) {
        open?.change(index) { $0.phase = .checking }
        open?.histories[index, default: PieceHistory()].checking = candidate
        if let key = open?.key(index) { say(.check(candidate.peer, key)) }
    }

    /// Records how long a lease took, or has taken so far. One that rebuilt a state says nothing: it
    /// waited for what rebuilds it.
    mutating func observe(
        _ worker: Worker, _ lease: Lease, seconds: Double, atLeast: Bool = false
    ) {
        guard let open, lease.replays == 0 else { return }
        let kind = open.round.label.kind
        let load = open.cost(lease.index)
        standings[worker.name]?.observe(
            seconds / load, kind, now: clock, atLeast: atLeast)
        if fleetPace(kind) == nil { paceTaken = nil }
        takePace()
    }

    mutating func checked(_ peer: PeerID, _ key: WorkKey, _ outcome: CheckOutcome) {
        guard let index = open?.index(key),
            let candidate = open?.histories[index]?.checking, candidate.peer == peer
        else { return }
        open?.histories[index]?.checking = nil
        open?.unchecked -= 1
        members.update(peer) { _ = $0.parked.remove(index) }
        switch outcome {
        case .accepted: accept(candidate, index)
        case .confirmed:
            open?.change(index) { $0.isConfirmed = true }
            accept(candidate, index)
        case .doubtful(let detail): judge(doubtful: candidate, index, detail)
        case .refused(let detail): refuse(candidate, index, detail, counts: true)
        }
    }

    private mutating func accept(_ candidate: Claim, _ index: Int, isDoubtful: Bool = false) {
        guard let key = open?.key(index), let holders = open?.pieces[index].holders else { return }
        noteProgress()
        let history = open?.histories[index] ?? PieceHistory()
        open?.histories[index] = nil
        open?.remaining -= 1
        open?.change(index) {
            $0.phase = .accepted
            $0.digest = candidate.digest
            $0.computedBy = candidate.name
        }
        standings[candidate.name]?.noteAccepted()
        noteHome(of: index, candidate)
        timeline.answer(index, of: candidate.name, .accepted, now: clock)
        // A worker that has reconnected meanwhile still holds it.
        if let worker = members[candidate.peer] ?? members[name: candidate.name] {
            say(.answer(worker.peer, key, .accepted, ""))
        }
        for holder in holders { cancel(index, at: holder, .accepted(from: candidate.name)) }
        for other in history.waiting {
            open?.unchecked -= 1
            members.update(other.peer) { _ = $0.parked.remove(index) }
            reject(duplicate: other, index)
        }
        for other in history.doubtful
        where other.name != candidate.name && other.digest != candidate.digest {
            fail(
                other.name,
                "its result of \(describe(index)) was not used: \(other.detail); that of "
                    + "\(candidate.name) is \(isDoubtful ? "another one, and came twice" : "good")"
            )
        }
    }

    /// Ends a lease; the time that it has taken so far still counts against its holder's pace.
    mutating func cancel(_ index: Int, at peer: PeerID, _ reason: CancelReason) {
        guard let worker = members[peer], let key = open?.key(index) else { return }
        if let lease = worker.leases.first(where: { $0.index == index }), !lease.isHeld,
            let started = lease.started
        {
            observe(worker, lease, seconds: (clock - started).inSeconds, atLeast: true)
        }
        release(index, of: worker, .cancelled)
        say(.cancel(peer, key, reason))
    }

    private mutating func reject(duplicate: Claim, _ index: Int) {
        guard let open else { return }
        counters.duplicates += 1
        timeline.answer(index, of: duplicate.name, .duplicate, now: clock)
        let piece = open.pieces[index]
        defer { vote(duplicate, index) }
        guard members[duplicate.peer] != nil else { return }
        let sentence = "the result of \(piece.computedBy) came first"
        say(.answer(duplicate.peer, open.key(index), .duplicate, sentence))
    }

    /// A doubtful result: one worker's fault, unless another one gives the same, or the only one again.
    private mutating func judge(doubtful candidate: Claim, _ index: Int, _ detail: String) {
        guard let key = open?.key(index) else { return }
        var history = open?.histories[index] ?? PieceHistory()
        let own = history.doubtful.first { $0.name == candidate.name }
        if let own, let computation = candidate.computation, own.computation == computation,
            own.digest == candidate.digest
        {
            // A worker that has connected again sends what it has, and once more when that is leased to it.
            return refuse(candidate, index, detail, counts: false)
        }
        let others = history.doubtful.filter {
            $0.name != candidate.name && $0.digest == candidate.digest
        }
        let tried = Set(history.doubtful.map(\.name)).union([candidate.name])
        let isEverybodyDone = tried.count { members.isActive(name: $0) } >= members.active
        // Two names may be one process: a worker with good results is heard first.
        let isProven = (others.map(\.name) + [candidate.name]).contains {
            standings[$0]?.isProven == true
        }
        let isSeenElsewhere =
            !others.isEmpty && (isProven || !isProvenLeft(without: Array(tried)))
        if isSeenElsewhere || (own?.digest == candidate.digest && isEverybodyDone) {
            say(
                .log(
                    .warning,
                    "\(candidate.name) gives the same result of \(describe(index)) again: \(detail)"
                )
            )
            say(.deliver(candidate.peer, key))
            accept(candidate, index, isDoubtful: true)
            return
        }
        history.doubtful.removeAll { $0.name == candidate.name }
        history.doubtful.append(
            (candidate.name, candidate.digest, detail, candidate.computation))
        if history.doubtful.count > settings.maximumRefusals { history.doubtful.removeFirst() }
        open?.histories[index] = history
        // Two different results of one worker are its fault; one may be the run's.
        let changed = own.map { $0.digest != candidate.digest } ?? false
        refuse(candidate, index, detail, counts: changed)
    }

    private mutating func refuse(
        _ candidate: Claim, _ index: Int, _ detail: String, counts: Bool
    ) {
        guard let key = open?.key(index) else { return }
        noteProgress()
        counters.refused += 1
        standings[candidate.name]?.noteRefused()
        timeline.answer(index, of: candidate.name, .refused, now: clock)
        var history = open?.histories[index] ?? PieceHistory()
        history.refusals += 1
        let since = history.refusedSince ?? clock
        history.refusedSince = since
        history.releasedBy = candidate.name
        history.avoid(candidate.name) { members.isActive(name: $0) }
        let next = history.waiting.isEmpty ? nil : history.waiting.removeFirst()
        open?.histories[index] = history
        // A worker that has reconnected meanwhile still holds it.
        if let worker = members[candidate.peer] ?? members[name: candidate.name] {
            say(.answer(worker.peer, key, .refused, detail))
        }
        say(
            .log(
                .warning,
                "refused the result of \(describe(index)) from \(candidate.name): \(detail)"))
        if let next {
            check(next, index)
        } else {
            open?.change(index) { $0.phase = .open }
        }
        if counts {
            fail(candidate.name, "its result of \(describe(index)) was refused: \(detail)")
        }
        // A peer may join under sixteen names: it is the work's fault once no worker is left to
        // try.
        let isLeft =
            open?.pieces[index].isUnleased == false
            || members.active > history.avoided.count { members.isActive(name: $0) }
        if history.refusals >= settings.maximumRefusals, clock - since >= settings.patience, !isLeft
        {
            giveUp(
                "\(describe(index)) was refused \(history.refusals) times in "
                    + "\((clock - since).inWords), by everybody who is here, last from "
                    + "\(candidate.name): \(detail)")
        }
    }

    /// "micro-batch 17 of step 412".
    func describe(_ index: Int) -> String {
        guard let label = open?.round.label else { return "work \(index)" }
        return "\(label.pieceName) \(index) of \(label)"
    }
}
