import SkeinBasics

/// The process that has what a logical worker of a run with local steps starts its next round from:
/// the one whose result of the last round was accepted.
package struct Home: Sendable {
    package let name: String
    let incarnation: [UInt8]
}

// Which worker gets which logical worker. Its home begins at once. Any other gets the state of
// the last round that was saved, and computes the rounds since then again. So logical workers stay
// where they are, unless others would be done sooner all the same. It is a preference alone: a
// worker that lacks a state says so, and gets what rebuilds it.
extension CoordinatorState {
    /// Whether the worker has the state from which a piece starts.
    func isHome(_ index: Int, of worker: Worker) -> Bool {
        homes[index]?.name == worker.name
            && homes[index]?.incarnation == worker.member.incarnation
    }

    /// Whether the worker would have to rebuild the state from which a piece starts.
    func isFar(_ index: Int, _ worker: Worker) -> Bool {
        open?.round.replay != nil && homes[index] != nil && !isHome(index, of: worker)
    }

    /// Tokens that the worker computes for a piece, with those of the rounds that come before it.
    func load(_ worker: Worker, _ index: Int) -> Double {
        guard let open else { return 1 }
        let rounds = isFar(index, worker) ? 1 + (open.round.replay ?? 0) : 1
        return open.cost(index) * Double(rounds)
    }

    /// The result of a piece is accepted: who computed it has the state after it.
    mutating func noteHome(of index: Int, _ candidate: Claim) {
        guard open?.round.replay != nil else { return }
        homes[index] = Home(name: candidate.name, incarnation: candidate.incarnation)
    }

    /// Whether an idle worker may begin with a free piece whose home it is not.
    /// `burdens` are those of the open round, computed when they are first needed.
    func mayCompute(
        _ index: Int, _ worker: Worker, _ replay: Int, _ open: RoundState,
        _ burdens: inout [String: Int]?
    ) -> Bool {
        guard let home = homes[index] else { return true }
        if isHome(index, of: worker) { return true }
        guard let holder = members[name: home.name] else {
            return awayUntil(home, index, replay, open) <= clock
        }
        // A newer process of that name does not have it.
        guard holder.member.incarnation == home.incarnation, !holder.isDraining else { return true }
        if let history = open.histories[index], isAvoided(history, home.name) { return true }
        // Nothing is computed again: any idle worker begins.
        if replay == 0, !holder.hasIdleThread { return true }
        let all = burdens ?? self.burdens(open)
        burdens = all
        let turns = (all[home.name, default: 0] + holder.threads - 1) / holder.threads
        let kind = open.round.label.kind
        let theirs = standings[home.name]?.pace(kind) ?? fleetPace(kind) ?? 1
        let ours = standings[worker.name]?.pace(kind) ?? fleetPace(kind) ?? 1
        return ours * Double(replay + 1) < theirs * Double(turns)
    }

    /// For each worker, how many open pieces it has the states of that no other worker computes.
    private func burdens(_ open: RoundState) -> [String: Int] {
        var burdens: [String: Int] = [:]
        for (index, home) in homes where open.pieces.indices.contains(index) {
            let piece = open.pieces[index]
            guard piece.phase == .open else { continue }
            let isOwn = members[name: home.name].map { piece.holders.contains($0.peer) } ?? false
            if piece.holders.isEmpty || isOwn { burdens[home.name, default: 0] += 1 }
        }
        return burdens
    }

    /// How long others wait for a home that is gone: as long as the rounds take that they would
    /// compute again, and no longer than the patience. So waiting costs at most as much as it could
    /// have saved.
    private func awayUntil(
        _ home: Home, _ index: Int, _ replay: Int, _ open: RoundState
    ) -> Duration {
        // After a goodbye its process has ended.
        guard let standing = standings[home.name], standing.departure?.isLost != false else {
            return .zero
        }
        let kind = open.round.label.kind
        let pace = fleetPace(kind) ?? standing.pace(kind) ?? 0
        let replaying = Duration.seconds(pace * open.cost(index) * Double(replay))
        return standing.lastSeen + min(replaying, settings.patience)
    }

    /// When the next free piece may be given to others than its home; nil: no piece waits.
    var nextHomeless: Duration? {
        guard let open, let replay = open.round.replay, open.begun, open.unleased > 0,
            !members.idle.isEmpty
        else { return nil }
        return awayPieces.compactMap { index in
            guard let home = homes[index] else { return nil }
            let until = awayUntil(home, index, replay, open)
            return until > clock ? until : nil
        }.min()
    }

    /// Free pieces whose home is gone, in order.
    var awayPieces: [Int] {
        homes.compactMap { index, home in
            guard let open, open.pieces.indices.contains(index), open.pieces[index].isUnleased,
                members[name: home.name] == nil
            else { return nil }
            return index
        }.sorted()
    }

    /// Says how long others wait for a worker that was lost.
    mutating func noteAway(_ worker: Worker) {
        guard let open, let replay = open.round.replay, replay > 0 else { return }
        let own = homes.filter { index, home in
            open.pieces.indices.contains(index) && open.pieces[index].phase == .open
                && isHome(index, of: worker)
        }
        let waits = own.map { awayUntil($1, $0, replay, open) - clock }
        guard let longest = waits.max(), longest > .zero else { return }
        say(
            .log(
                .info,
                "\(worker.name) has the state of \(Figures.count(own.count, "logical worker")): "
                    + "others wait \(longest.inWords) for it before they compute "
                    + "\(Figures.count(replay, "round")) again"))
    }

    /// Whether an idle worker should rebuild the state of a lease that its holder does not finish.
    func isWorthReplaying(_ lease: Lease, _ holder: Worker, _ idle: Worker) -> Bool {
        guard let started = lease.started, let own = expectation(idle, lease.index) else {
            return false
        }
        // The holder may be back, or done, before the idle one is where the holder is now.
        return (clock - started).inSeconds > max(1.5 * own, settings.speculationFloor.inSeconds)
    }
}
