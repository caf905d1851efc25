import SkeinBasics

extension CoordinatorState {
    /// All that `skein status` shows; costs O(workers) and is taken only when somebody asks.
    package func snapshot(now: Duration) -> CoordinatorSnapshot {
        let now = max(now, clock)
        let paused = standings.compactMap { name, standing in
            standing.remainingQuarantine(now: now).map {
                CoordinatorSnapshot.Absentee(
                    name: name, remaining: $0, failures: standing.failures)
            }
        }
        return CoordinatorSnapshot(
            phase: phase,
            round: open.map { open in
                CoordinatorSnapshot.RoundSummary(
                    number: open.round.number, label: open.round.label, since: open.opened,
                    pieces: open.pieces.count, accepted: open.pieces.count - open.remaining,
                    unleased: open.unleased, unchecked: open.unchecked, counters: counters)
            },
            workers: members.all.members.compactMap { members[$0].map { row($0, now) } }
                .sorted { $0.name < $1.name },
            quarantined: paused.sorted { $0.name < $1.name },
            waiting: waiting(now: now))
    }

    private func row(_ worker: Worker, _ now: Duration) -> CoordinatorSnapshot.Worker {
        let standing = standings[worker.name]
        let pace = standing?.pace(.gradient)
        let work = worker.leases.compactMap { lease in
            lease.started.map {
                CoordinatorSnapshot.Work(
                    index: lease.index, age: now - $0, progress: Double(lease.progress) / 1000)
            }
        }
        return CoordinatorSnapshot.Worker(
            name: worker.name, address: worker.member.address, threads: worker.threads,
            condition: worker.isDraining ? .draining : worker.isSuspect ? .suspect : .active,
            leases: worker.leases.count, computing: worker.computing,
            work: Array(work.prefix(CoordinatorSnapshot.Worker.mostWork)),
            tokensPerSecond: pace.flatMap { $0 > 0 ? Double(worker.threads) / $0 : nil },
            silence: now - worker.lastHeard, accepted: standing?.accepted ?? 0,
            refused: standing?.refused ?? 0)
    }
}
