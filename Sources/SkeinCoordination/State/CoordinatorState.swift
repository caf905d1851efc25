import SkeinBasics

/// Decides who computes what: events and the time in, directives out. No socket, clock or thread.
///
/// Work is leased in order of its index, to workers with an idle thread. The first good result of a
/// piece wins; all results of a piece are the same bytes, so who computes it changes nothing but
/// the time. An event costs O(leases of its peer); a round's end and a silent peer cost O(workers).
package struct CoordinatorState: Sendable {
    package let settings: CoordinatorSettings

    // Internal, not private: the extensions in the files beside this one are parts of it.
    var clock: Duration
    var pending: [Directive] = []
    package internal(set) var members = Membership()
    package internal(set) var standings: [String: Standing] = [:]
    package internal(set) var open: RoundState?
    /// Who has the states of a run with local steps, by logical worker.
    package internal(set) var homes: [Int: Home] = [:]
    var phase = RunPhase.starting
    var phaseSince: Duration
    package internal(set) var counters = RoundCounters()
    /// The counters of the rounds before.
    var earlier = RoundCounters()
    /// The last rounds, for people who look.
    package internal(set) var timeline = RoundTimeline()

    var admits = true
    var hasEverJoined = false
    var hasGivenUp = false
    /// Since when there are too few workers.
    var shortageSince: Duration?
    /// Workers that know the token and have not joined yet.
    package internal(set) var preparations: [PeerID: Preparation] = [:]
    /// How much of its model each worker had that left while it prepared: if it returns with as much,
    /// it has not got on.
    var preparedBefore: [String: UInt64] = [:]
    /// When to look for workers whose preparation stands still.
    var nextUnready: Duration?
    /// When a worker last joined, or got on with its preparation.
    var lastArrival: Duration?
    /// When a worker may have become silent.
    var nextSilence: Duration?
    /// When to look for stuck leases; nil: no round is open.
    var nextStuck: Duration?
    /// When to look for second leases again.
    var nextDoubling = Duration.zero
    /// When to plan the tail of a round again.
    var nextPlanning = Duration.zero
    var nextStall: Duration
    var lastProgress: Duration
    var stalls = 0
    /// Medians over the fleet, by kind of work, and when they were taken.
    var gradientPace: Double?
    var evaluationPace: Double?
    var paceTaken: Duration?

    /// - Parameters:
    ///   - settings: Whom to wait for, and how long.
    ///   - now: The time since an arbitrary start, here and in every call; it never goes back.
    package init(settings: CoordinatorSettings, now: Duration) {
        self.settings = settings
        clock = now
        phaseSince = now
        lastProgress = now
        nextStall = now + settings.stallAfter
    }

    /// Records what happened and returns what to do, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Directive] {
        clock = max(clock, now)
        switch event {
        case .phase(let phase): enter(phase)
        case .opened(let round): opened(round)
        case .closed(let round): closed(round)
        case .preparing(let peer, let name, let address, let bytes):
            preparing(peer, name: name, address: address, bytes: bytes)
        case .joined(let peer, let member): joined(peer, member)
        case .heard(let peer, let progress): heard(peer, progress)
        case .moved(let peer): moved(peer)
        case .arrived(let peer, let key, _, let digest, let computation):
            arrived(peer, key, digest, computation)
        case .checked(let peer, let key, let outcome): checked(peer, key, outcome)
        case .stateWanted(let peer, let key): stateWanted(peer, key)
        case .left(let peer, let departure): left(peer, departure)
        case .draining(let peer): draining(peer)
        case .stopAdmitting: admits = false
        case .tick: tick()
        }
        if !isHeartbeat(event) { dispatch() }
        watchShortage()
        defer { pending = [] }
        return pending
    }

    /// A heartbeat frees no thread and no work, unless it ends a suspicion; that dispatches itself. So
    /// does a request for a state that ends a lease.
    private func isHeartbeat(_ event: Event) -> Bool {
        switch event {
        case .heard, .moved, .preparing, .stateWanted: true
        default: false
        }
    }

    private mutating func tick() {
        watchSilence()
        watchPreparations()
        watchStuck()
        watchStall()
        watchPatience()
    }

    /// When `tick` must come at the latest; nil: nothing depends on time.
    package var nextDeadline: Duration? {
        if hasGivenUp { return nil }
        var deadlines = [nextSilence, nextUnready, nextStuck, giveUpAt, nextHomeless]
            .compactMap { $0 }
        if phase != .finished || open != nil { deadlines.append(nextStall) }
        if mayDouble { deadlines.append(nextDoubling) }
        return deadlines.min()
    }

    /// Workers that have joined.
    package var memberCount: Int { members.count }

    /// Why a worker is not let in; nil if it is.
    package func admission(name: String, incarnation: [UInt8], now: Duration) -> Rejection? {
        if !admits {
            return Rejection(code: .draining, reason: "the coordinator is about to end")
        }
        if name == WorkerName.own, incarnation != settings.ownIncarnation {
            return Rejection(
                code: .nameTaken, reason: "the name \(name) is that of the coordinator's own worker"
            )
        }
        let present = members[name: name]
        if let present, present.member.incarnation != incarnation {
            let silence = now - present.lastHeard
            if silence < settings.lostAfter {
                return Rejection(
                    code: .nameTaken,
                    reason: "\(present.title) has this name and was heard \(silence.inWords) ago",
                    retryMilliseconds: (settings.lostAfter - silence).inMilliseconds)
            }
        }
        if let standing = standings[name], let left = standing.remainingQuarantine(now: now) {
            return Rejection(
                code: .quarantined,
                reason: "\(name) must pause for \(left.inWords): \(standing.quarantineReason)",
                retryMilliseconds: left.inMilliseconds)
        }
        let count = members.count + preparations.count
        if present == nil, count >= settings.maximumWorkers {
            return Rejection(
                code: .full,
                reason:
                    "\(Figures.count(count, "worker")) \(count == 1 ? "is" : "are") here already",
                retryMilliseconds: 5000)
        }
        return nil
    }

    mutating func say(_ directive: Directive) {
        pending.append(directive)
    }

    /// Something has moved: no stall.
    mutating func noteProgress() {
        lastProgress = clock
        stalls = 0
        nextStall = clock + settings.stallAfter
    }
}

extension CoordinatorState {
    /// Everything that `skein status` shows of a cluster; costs O(workers) and is made only on
    /// request.
    package func snapshot(of run: RunSnapshot.Progress, now: Duration) -> RunSnapshot {
        let now = max(now, clock)
        var totals = earlier
        totals.add(counters)
        return RunSnapshot(
            run: run,
            round: open.map { open in
                RunSnapshot.RoundProgress(
                    label: open.round.label, pieces: open.pieces.count,
                    accepted: open.pieces.count - open.remaining, unleased: open.unleased,
                    unchecked: open.unchecked)
            },
            waiting: waiting(now: now),
            workers: members.all.members.compactMap { members[$0].map { row($0, now) } }
                .sorted { $0.name < $1.name },
            paused: Array(paused(now).prefix(RunSnapshot.Paused.most)),
            counters: counters, totals: totals, absent: absent(now))
    }

    /// Workers that have left or were lost, and have not returned: the latest ones, by name.
    private func absent(_ now: Duration) -> [RunSnapshot.Absent] {
        let preparing = Set(preparations.values.map(\.name))
        let gone = standings.compactMap { name, standing -> RunSnapshot.Absent? in
            guard let departure = standing.departure, members[name: name] == nil,
                !preparing.contains(name)
            else { return nil }
            return RunSnapshot.Absent(
                name: name, address: departure.address, isLost: departure.isLost,
                reason: departure.reason, seconds: (now - standing.lastSeen).inSeconds,
                accepted: standing.accepted, refused: standing.refused, losses: standing.losses)
        }
        let latest = gone.sorted { ($0.seconds, $0.name) < ($1.seconds, $1.name) }
        return latest.prefix(RunSnapshot.Absent.most).sorted { $0.name < $1.name }
    }

    private func paused(_ now: Duration) -> [RunSnapshot.Paused] {
        standings.compactMap { name, standing in
            standing.remainingQuarantine(now: now).map {
                RunSnapshot.Paused(
                    name: name, secondsLeft: $0.inSeconds, failures: standing.failures)
            }
        }.sorted { $0.name < $1.name }
    }

    private func row(_ worker: Worker, _ now: Duration) -> RunSnapshot.Worker {
        let standing = standings[worker.name]
        let pace = standing?.pace(.gradient)
        let leases = worker.leases.compactMap { lease in
            lease.started.map {
                RunSnapshot.Lease(
                    round: open?.round.number, microBatch: lease.index,
                    seconds: (now - $0).inSeconds, progress: Double(lease.progress) / 1000)
            }
        }
        return RunSnapshot.Worker(
            name: worker.name, address: worker.member.address,
            state: worker.isDraining
                ? .draining
                : worker.isSuspect ? .suspect : worker.computing > 0 ? .computing : .idle,
            lastHeardSeconds: (now - worker.lastHeard).inSeconds,
            work: RunSnapshot.Work(
                threads: worker.threads, leaseCount: worker.leases.count,
                leases: Array(leases.prefix(RunSnapshot.Work.mostLeases)),
                tokensPerSecond: pace.flatMap { $0 > 0 ? Double(worker.threads) / $0 : nil },
                accepted: standing?.accepted ?? 0, refused: standing?.refused ?? 0,
                losses: standing?.losses ?? 0))
    }
}
