import SkeinBasics

// Workers that lack the state from which their lease starts get what rebuilds it. Whether a state was
// named rightly only they find out.
extension CoordinatorState {
    /// A worker lacks the state from which its lease starts, or what it rebuilds is another one.
    mutating func stateWanted(_ peer: PeerID, _ key: WorkKey) {
        guard let index = open?.index(key), open?.round.replay != nil,
            let count = members.update(peer, { [clock] in $0.noteReplay(index, now: clock) }) ?? nil
        else { return }
        if count <= Limits.replaysOfLease {
            say(.replay(peer, key))
        } else if let worker = members[peer] {
            notRebuilt(index, worker)
            dispatch()
        }
    }

    /// A worker gives up rebuilding the state of its lease: it, or who named the state, is at fault.
    /// Others try.
    private mutating func notRebuilt(_ index: Int, _ worker: Worker) {
        guard let key = open?.key(index), let phase = open?.pieces[index].phase else { return }
        release(index, of: worker, .cancelled)
        say(.cancel(worker.peer, key, .notRebuilt))
        // The judge of a dispute, who is asked once: another one is asked.
        guard phase != .accepted else { return }
        var history = open?.histories[index] ?? PieceHistory()
        if history.notRebuiltSince == nil { history.notRebuiltSince = clock }
        history.releasedBy = worker.name
        // Once for each worker and piece: one that is alone gets it again at once, and asks as fast as it can.
        if !history.notRebuilt.contains(worker.name) {
            say(.log(.warning, "\(worker.name) cannot rebuild \(stateName(index))"))
        }
        history.noteNotRebuilt(worker.name) { members.isActive(name: $0) }
        open?.histories[index] = history
        endIfLost(index)
    }

    private func stateName(_ index: Int) -> String {
        let whose = homes[index].map { ", as \($0.name) named it" } ?? ""
        return "the state from which \(describe(index)) starts\(whose)"
    }

    /// Ends the run if every worker that is here has failed to rebuild a state for as long as the
    /// patience, and its home has been gone for as long: this round would never begin. Blames the
    /// home if it is here, and takes its time.
    private mutating func endIfLost(_ index: Int) {
        guard let history = open?.histories[index], let since = history.notRebuiltSince,
            open?.pieces[index].phase == .open, clock - since >= settings.patience
        else { return }
        let home = homes[index].flatMap { home in
            members[name: home.name].flatMap { isHome(index, of: $0) && !$0.isDraining ? $0 : nil }
        }
        let isTriedByAll = members.all.members.allSatisfy { peer in
            guard let worker = members[peer], !worker.isDraining, worker.peer != home?.peer else {
                return true
            }
            return history.notRebuilt.contains(worker.name)
        }
        guard isTriedByAll, members.active > 0 else { return }
        if let home {
            guard let lease = home.leases.first(where: { $0.index == index }),
                let started = lease.started,
                clock - started > max(settings.patience, allowance(home, index))
            else { return }
            fail(
                home.name,
                "it does not finish \(describe(index)), and nobody else can rebuild the state that it "
                    + "starts from")
        } else if isHomeGoneForGood(index) {
            giveUp(saying: .stateLost("nobody who is here can rebuild \(stateName(index))"))
        }
    }

    /// Whether the process that has a state will not come back, as far as can be known.
    private func isHomeGoneForGood(_ index: Int) -> Bool {
        guard let home = homes[index], let standing = standings[home.name] else { return true }
        // A newer process of that name does not have it.
        if members[name: home.name] != nil { return true }
        guard standing.departure?.isLost != false else { return true }
        return clock - standing.lastSeen >= settings.patience
    }

    /// Looks after states that no worker could rebuild.
    mutating func watchStates() {
        guard let histories = open?.histories, open?.round.replay != nil else { return }
        for index in histories.keys.sorted() where histories[index]?.notRebuiltSince != nil {
            endIfLost(index)
        }
    }
}
