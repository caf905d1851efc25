import SkeinBasics

/// Rounds begin and end, and what is done when nothing moves.
extension CoordinatorState {
    mutating func enter(_ phase: RunPhase) {
        self.phase = phase
        phaseSince = clock
        noteProgress()
    }

    mutating func opened(_ round: RoundPlan) {
        if let old = open { closed(old.round.number) }
        phase = .betweenSteps("prepares what comes next")
        phaseSince = clock
        earlier.add(counters)
        counters = RoundCounters()
        open = RoundState(round, now: clock)
        timeline.open(round, now: clock)
        nextStuck = clock + stuckInterval
        shortageSince = nil
        paceTaken = nil
        takePace()
        noteProgress()
    }

    mutating func closed(_ number: UInt64) {
        guard let open, open.round.number == number else { return }
        for peer in members.all.members {
            guard let worker = members[peer] else { continue }
            for lease in worker.leases {
                say(.cancel(peer, open.key(lease.index), .roundClosed))
            }
            for index in worker.parked.sorted() {
                counters.stale += 1
                say(.answer(peer, open.key(index), .stale, "its round is over"))
            }
            members.update(peer) {
                $0.removeAll()
                $0.parked = []
            }
        }
        self.open = nil
        timeline.close(now: clock)
        nextStuck = nil
        shortageSince = nil
        phaseSince = clock
        noteProgress()
    }

    /// Workers that are missing for the open round.
    package var missing: Int {
        guard let open, !open.isComplete else { return 0 }
        return max(0, (open.begun ? 1 : settings.minimumWorkers) - members.active)
    }

    mutating func watchShortage() {
        if missing == 0 {
            shortageSince = nil
        } else if shortageSince == nil {
            shortageSince = clock
        }
    }

    mutating func watchPatience() {
        guard let giveUpAt, giveUpAt <= clock else { return }
        giveUp(waiting(now: clock).sentence)
    }

    mutating func giveUp(_ sentence: String) {
        giveUp(saying: .giveUp(sentence))
    }

    mutating func giveUp(saying directive: Directive) {
        guard !hasGivenUp else { return }
        hasGivenUp = true
        say(directive)
    }

    /// Logs what is waited for when nothing has moved for 5 s, less often after half a minute.
    mutating func watchStall() {
        guard nextStall <= clock, !hasGivenUp else { return }
        stalls += 1
        nextStall = clock + settings.stallAfter * (stalls < 6 ? 1 : 6)
        let waiting = waiting(now: clock)
        switch waiting.culprit {
        case .nobody: break
        case .coordinator, .worker, .absentees:
            say(.log(waiting.isWell ? .info : .warning, waiting.sentence))
        }
    }
}
