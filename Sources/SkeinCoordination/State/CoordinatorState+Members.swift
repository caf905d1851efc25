import SkeinBasics

/// Who joins, leaves, is silent or must pause.
extension CoordinatorState {
    mutating func joined(_ peer: PeerID, _ member: Member) {
        preparations[peer] = nil
        preparedBefore[member.name] = nil
        if let rejection = admission(
            name: member.name, incarnation: member.incarnation, now: clock)
        {
            say(.disconnect(peer, rejection))
            return
        }
        replace(member)
        var standing = standings[member.name] ?? Standing()
        standing.departure = nil
        standing.lastSeen = clock
        forgetOldStandings()
        standings[member.name] = standing
        // What it holds is of use now and never again: up to 32 KiB.
        var kept = member
        kept.held = []
        members.add(Worker(peer: peer, member: kept, now: clock))
        hasEverJoined = true
        lastArrival = clock
        let silence = clock + settings.suspectAfter
        nextSilence = min(nextSilence ?? silence, silence)
        leaseHeld(member.held, to: peer)
    }

    /// A process keeps its name for as long as it is heard; of its connections the newest one counts.
    private mutating func replace(_ member: Member) {
        guard let old = members[name: member.name] else { return }
        let isSame = old.member.incarnation == member.incarnation
        let reason =
            isSame
            ? "\(member.name) has connected again from \(member.address)"
            : "silent for \((clock - old.lastHeard).inWords), and a process at \(member.address) has its "
                + "name now"
        remove(old.peer, how: isSame ? "it connected again" : reason)
        say(
            .disconnect(
                old.peer, Rejection(code: isSame ? .superseded : .timeout, reason: reason)))
        say(.log(.info, "hung up on \(old.title): \(reason)"))
    }

    /// Work that the worker says it has finished is leased to it first; it sends the kept result.
    private mutating func leaseHeld(_ held: [WorkKey], to peer: PeerID) {
        for key in held.prefix(Limits.heldWork) {
            guard let index = open?.index(key), let piece = open?.pieces[index] else {
                say(.answer(peer, key, .stale, "its round is over"))
                continue
            }
            if piece.phase == .accepted {
                let sentence = "the result of \(piece.computedBy) came first"
                say(.answer(peer, key, .duplicate, sentence))
            } else if isChecked(index, from: members[peer]?.name) {
                // The answer comes when it is checked.
                continue
            } else if let doubt = doubt(of: index, from: members[peer]?.name ?? "") {
                // It was refused while its worker was away. Sent again, it would count as computed twice.
                say(.answer(peer, key, .refused, doubt))
            } else if piece.phase == .open, piece.holders.count < 2, open?.begun == true,
                !piece.holders.contains(peer), piece.leased.contains(members[peer]?.name ?? "")
            {
                grant(index, to: peer, .held)
            }
        }
    }

    private func isChecked(_ index: Int, from name: String?) -> Bool {
        open?.histories[index]?.checking.map { $0.name == name } ?? false
    }

    private func doubt(of index: Int, from name: String) -> String? {
        open?.histories[index]?.doubtful.first { $0.name == name }?.detail
    }

    /// Forgets a name that is long gone; those that are here or must pause stay.
    private mutating func forgetOldStandings() {
        guard standings.count >= 2 * settings.maximumWorkers else { return }
        let idle = standings.filter { name, standing in
            members[name: name] == nil && standing.remainingQuarantine(now: clock) == nil
        }
        if let oldest = idle.min(by: { $0.value.lastSeen < $1.value.lastSeen }) {
            standings[oldest.key] = nil
        }
    }

    mutating func heard(_ peer: PeerID, _ progress: [Heartbeat.Progress]) {
        preparations[peer]?.lastHeard = clock
        let round = open?.round.number
        let found = members.update(peer) { [clock] worker in
            defer { worker.isSuspect = false }
            worker.lastHeard = clock
            let hasMoved = round.map { worker.note(progress, round: $0, now: clock) } ?? false
            return (hasMoved: hasMoved, wasSuspect: worker.isSuspect)
        }
        // A long piece of work that advances is no stall.
        if found?.hasMoved == true { noteProgress() }
        if found?.wasSuspect == true {
            let silence = clock + settings.suspectAfter
            nextSilence = min(nextSilence ?? silence, silence)
            dispatch()
        }
    }

    mutating func left(_ peer: PeerID, _ departure: Departure) {
        forgetPreparation(of: peer)
        guard let worker = members[peer] else { return }
        guard case .lost(let how) = departure else { return remove(peer, how: nil) }
        remove(peer, how: how)
        noteLost(worker, how)
    }

    private mutating func noteLost(_ worker: Worker, _ how: String) {
        guard !worker.leases.isEmpty, !worker.isDraining else { return }
        say(
            .log(
                .warning,
                "lost \(worker.title) with \(Figures.count(worker.leases.count, "lease")): \(how); "
                    + "others get them"))
        if standings[worker.name]?.noteLost() == true {
            fail(worker.name, "its connection was lost four times in a row while it held work")
        }
    }

    mutating func draining(_ peer: PeerID) {
        guard let worker = members[peer], !worker.isDraining else { return }
        members.update(peer) { $0.isDraining = true }
        for lease in worker.leases where lease.started == nil && !lease.isHeld {
            release(lease.index, of: worker, .cancelled)
            if let key = open?.key(lease.index) { say(.cancel(peer, key, .draining)) }
        }
    }

    /// Finds silent workers; does something at most every 20 ms.
    mutating func watchSilence() {
        guard let due = nextSilence, due <= clock else { return }
        var next: Duration?
        for peer in members.all.members {
            guard let worker = members[peer] else { continue }
            let silence = clock - worker.lastHeard
            if silence >= settings.lostAfter {
                let reason = "silent for \(silence.inWords)"
                remove(peer, how: reason)
                say(.disconnect(peer, Rejection(code: .timeout, reason: reason)))
                if worker.leases.isEmpty {
                    say(.log(.warning, "lost \(worker.title), which had no work: \(reason)"))
                }
                noteLost(worker, reason)
                continue
            }
            if silence >= settings.suspectAfter, !worker.isSuspect {
                members.update(peer) { $0.isSuspect = true }
                nextDoubling = clock
            }
            let limit =
                silence >= settings.suspectAfter ? settings.lostAfter : settings.suspectAfter
            next = min(next ?? .seconds(1 << 40), worker.lastHeard + limit)
        }
        let heard = watchSilentPreparations()
        next = [next, heard].compactMap { $0 }.min()
        nextSilence = next.map { max($0, clock + .milliseconds(20)) }
    }

    /// How often to look for stuck leases; a look costs O(leases).
    var stuckInterval: Duration { settings.stuckAfter / 20 }

    /// Takes the work from live workers that get nowhere. A slow worker is not one of them.
    mutating func watchStuck() {
        guard let due = nextStuck, due <= clock else { return }
        nextStuck = clock + stuckInterval
        watchStates()
        for peer in members.all.members {
            guard let worker = members[peer],
                let lease = worker.leases.first(where: {
                    $0.started != nil && clock - $0.movedAt >= settings.stuckAfter
                })
            else { continue }
            fail(
                worker.name,
                "\(describe(lease.index)) has made no progress for "
                    + "\((clock - lease.movedAt).inWords), but the worker is alive", code: .stuck)
        }
    }

    /// Counts a failure: the name must pause, and its connection ends.
    mutating func fail(_ name: String, _ reason: String, code: RejectCode = .quarantined) {
        guard var standing = standings[name] else { return }
        let pause = standing.fail(
            // An only worker must be back before the run gives up.
            reason, now: clock, atMost: min(.seconds(60), settings.patience / 2))
        standings[name] = standing
        say(.log(.warning, "\(name) must pause for \(pause.inWords): \(reason)"))
        guard let worker = members[name: name] else { return }
        remove(worker.peer, how: reason)
        let rejection = Rejection(
            code: code, reason: reason, retryMilliseconds: pause.inMilliseconds)
        say(.disconnect(worker.peer, rejection))
    }

    /// Forgets a connection; its leases are free at once. `how` it was lost; nil: it said goodbye.
    private mutating func remove(_ peer: PeerID, how: String?) {
        guard let worker = members[peer] else { return }
        standings[worker.name]?.depart(from: worker.member.address, how: how, now: clock)
        for lease in worker.leases { release(lease.index, of: worker, .lost) }
        for index in worker.parked {
            guard let waiting = open?.histories[index]?.waiting else { continue }
            let left = waiting.filter { $0.peer != peer }
            open?.histories[index]?.waiting = left
            open?.unchecked -= waiting.count - left.count
        }
        _ = members.remove(peer)
        // Workers that come and go while there is no room must not make it longer.
        open?.postponed.removeAll { $0.peer == peer }
        paceTaken = nil
        if how != nil { noteAway(worker) }
    }
}

/// A worker that has proved the token and prepares its model.
package struct Preparation: Sendable {
    let peer: PeerID
    let name: String
    let address: String
    /// Bytes of the model fetched, hashed and loaded so far, as last reported.
    var bytes: UInt64 = 0
    /// When that last changed; at first, when it got the offer.
    var progressAt: Duration
    /// The same, and when pieces of the model last moved to it.
    var movedAt: Duration
    /// When anything last came from it.
    var lastHeard: Duration
    /// What it had when it last left without having joined.
    var before: UInt64?
}

// Workers that prepare. Being alive is not enough: one whose disk hangs sends heartbeats, too, and
// must not delay the end of a run that no worker joins.
extension CoordinatorState {
    mutating func preparing(_ peer: PeerID, name: String, address: String, bytes: UInt64) {
        guard members[peer] == nil else { return }
        guard let known = preparations[peer] else {
            preparations[peer] = Preparation(
                peer: peer, name: name, address: address, bytes: bytes, progressAt: clock,
                movedAt: clock, lastHeard: clock, before: preparedBefore[name])
            let silence = clock + settings.lostAfter
            nextSilence = min(nextSilence ?? silence, silence)
            nextUnready = min(nextUnready ?? .seconds(1 << 40), clock + settings.stuckAfter)
            return
        }
        preparations[peer]?.lastHeard = clock
        guard bytes != known.bytes else { return }
        preparations[peer]?.bytes = bytes
        // One that is back with what it had says nothing new.
        guard bytes != known.before else { return }
        preparations[peer]?.progressAt = clock
        preparations[peer]?.movedAt = clock
        lastArrival = clock
    }

    mutating func moved(_ peer: PeerID) {
        preparations[peer]?.movedAt = clock
        members.update(peer) { [clock] in $0.noteMoved(now: clock) }
    }

    mutating func forgetPreparation(of peer: PeerID) {
        guard let known = preparations.removeValue(forKey: peer) else { return }
        if preparedBefore.count >= 2 * settings.maximumWorkers { preparedBefore = [:] }
        // A connection that ended before its first heartbeat says nothing.
        if known.bytes > 0 { preparedBefore[known.name] = known.bytes }
    }

    /// Sends workers away that prepare and are silent.
    ///
    /// - Returns: when the next of them may be; nil: no peer prepares.
    mutating func watchSilentPreparations() -> Duration? {
        let silent = preparations.values.filter { clock - $0.lastHeard >= settings.lostAfter }
        for worker in silent.sorted(by: { $0.peer < $1.peer }) {
            let reason = "silent for \((clock - worker.lastHeard).inWords) while it prepared"
            forgetPreparation(of: worker.peer)
            say(.log(.warning, "hung up on \(worker.name) (\(worker.address)): \(reason)"))
            say(.disconnect(worker.peer, Rejection(code: .timeout, reason: reason)))
        }
        return preparations.values.map(\.lastHeard).min().map { $0 + settings.lostAfter }
    }

    /// Sends workers away whose preparation stands still though they live: a disk may hang, or another
    /// process that fetches the model. They may come again.
    mutating func watchPreparations() {
        guard let due = nextUnready, due <= clock else { return }
        let stuck = preparations.values.filter { clock - $0.movedAt >= settings.stuckAfter }
        for worker in stuck.sorted(by: { $0.peer < $1.peer }) {
            let reason =
                "no progress with its model for \((clock - worker.movedAt).inWords), though it is "
                + "alive; \(worker.bytes >> 20) MiB are done"
            forgetPreparation(of: worker.peer)
            say(.log(.warning, "hung up on \(worker.name) (\(worker.address)): \(reason)"))
            say(.disconnect(worker.peer, Rejection(code: .timeout, reason: reason)))
        }
        nextUnready = preparations.values.map(\.movedAt).min().map { $0 + settings.stuckAfter }
    }

    /// When the patience with too small a fleet ends; nil: the fleet is large enough.
    ///
    /// It restarts with every worker that joins or gets on with its preparation.
    var giveUpAt: Duration? {
        shortageSince.map {
            max($0, lastArrival ?? $0) + settings.patience * (hasEverJoined ? 1 : 10)
        }
    }
}
