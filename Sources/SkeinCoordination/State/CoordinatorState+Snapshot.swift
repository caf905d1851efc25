import SkeinBasics

extension CoordinatorState {
    /// Everything that `skein status` shows of a cluster; costs O(workers) and is made only on
    /// request.
    package func snapshot(of run: RunSnapshot.Progress, now: Duration) -> RunSnapshot {
        let now = max(now, clock)
        return RunSnapshot(
            run: run,
            round: open.map { open in
                RunSnapshot.Round(
                    label: open.round.label, pieces: open.pieces.count,
                    accepted: open.pieces.count - open.remaining, unleased: open.unleased,
                    unchecked: open.unchecked)
            },
            waiting: waiting(now: now),
            workers: members.all.members.compactMap { members[$0].map { row($0, now) } }
                .sorted { $0.name < $1.name },
            paused: Array(paused(now).prefix(RunSnapshot.Paused.most)),
            counters: counters)
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
                accepted: standing?.accepted ?? 0, refused: standing?.refused ?? 0))
    }
}
