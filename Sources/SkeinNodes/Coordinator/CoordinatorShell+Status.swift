import SkeinBasics
import SkeinCoordination

// What `skein status` is told.
extension CoordinatorShell {
    func statusJSON() -> [UInt8] {
        let now = now
        let snapshot = state.snapshot(now: now)
        let preparing = peers.values.filter { $0.stage == .preparing }
        let workers =
            snapshot.workers.map { Self.fields(of: $0, round: snapshot.round?.number) }
            + preparing.sorted { $0.id < $1.id }.map { fields(of: $0, now: now) }
        let counters = state.counters
        return Array(
            JSONLine([
                (
                    "run",
                    .object([
                        ("output", .string(progress.output)),
                        ("term", .integer(Int(identity.offer.term))),
                        ("step", .integer(progress.step)),
                        ("step_count", .integer(progress.stepCount)),
                        ("loss", progress.loss.map { .number($0) } ?? .null),
                        (
                            "tokens_per_second",
                            progress.tokensPerSecond.map { .number($0) } ?? .null
                        ),
                        ("phase", .string(Self.text(of: snapshot))),
                    ])
                ),
                ("why", .string(snapshot.waiting.sentence)),
                ("waiting_seconds", .number((now - snapshot.waiting.since) / .seconds(1))),
                ("worker_count", .integer(workers.count)),
                ("workers", .array(workers.prefix(Limits.statusWorkers).map { .object($0) })),
                (
                    "counters",
                    .object([
                        ("leases", .integer(counters.leases)),
                        ("releases", .integer(counters.again)),
                        ("speculative", .integer(counters.speculative)),
                        ("duplicates", .integer(counters.duplicates)),
                        ("refused", .integer(counters.refused)),
                    ])
                ),
            ]).text.utf8)
    }

    private static func text(of snapshot: CoordinatorSnapshot) -> String {
        if let round = snapshot.round {
            return "\(round.label): \(round.accepted) of \(round.pieces) done"
        }
        switch snapshot.phase {
        case .starting: return "starting"
        case .betweenSteps(let what): return what
        case .finished: return "finished"
        }
    }

    private static func fields(
        of worker: CoordinatorSnapshot.Worker, round: UInt64?
    ) -> [JSONLine.Field] {
        let condition =
            worker.condition == .active
            ? (worker.computing > 0 ? "computing" : "idle") : worker.condition.rawValue
        return [
            ("name", .string(worker.name)), ("address", .string(worker.address)),
            ("threads", .integer(worker.threads)), ("state", .string(condition)),
            ("lease_count", .integer(worker.leases)),
            (
                "leases",
                .array(
                    worker.work.map { work in
                        .object([
                            ("round", round.map { .integer(Int(clamping: $0)) } ?? .null),
                            ("micro_batch", .integer(work.index)),
                            ("seconds", .number(work.age / .seconds(1))),
                            ("progress", .number(work.progress)),
                        ])
                    })
            ),
            ("tokens_per_second", worker.tokensPerSecond.map { .number($0) } ?? .null),
            ("last_heard_seconds", .number(worker.silence / .seconds(1))),
            ("accepted", .integer(worker.accepted)), ("refused", .integer(worker.refused)),
        ]
    }

    private func fields(of peer: Peer, now: Duration) -> [JSONLine.Field] {
        [
            ("name", .string(peer.name)), ("address", .string(peer.address)),
            ("state", .string("preparing")),
            ("prepared_bytes", .integer(Int(clamping: peer.preparedBytes))),
            ("last_heard_seconds", .number((now - peer.lastHeard) / .seconds(1))),
        ]
    }
}
