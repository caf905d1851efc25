import SkeinBasics

/// A coordinator's report for people. Pure.
enum StatusText {
    /// The sentence of `--why`.
    static func why(of status: ClusterStatus) -> String {
        status.why ?? "the coordinator does not say what it waits for"
    }

    /// The run, what it waits for, and a line for each worker; ends with a line break.
    static func table(of status: ClusterStatus) -> String {
        var text = run(status) + "\n"
        if let why = status.why {
            let since = status.waitingSeconds.map { " (for \(Figures.seconds($0)))" } ?? ""
            text += why + since + "\n"
        }
        text += "\n"
        if status.workers.isEmpty {
            text += "no workers\n"
        } else {
            text += TextTable.text([heading] + status.workers.map(cells(of:)), leftColumns: 4)
        }
        if !status.counters.isEmpty {
            let counters = status.counters.map { "\($0.name) \(Figures.grouped($0.count))" }
            text += "\n" + counters.joined(separator: "  ") + "\n"
        }
        return text
    }

    private static func run(_ status: ClusterStatus) -> String {
        var parts: [String] = []
        if let output = status.output { parts.append(output) }
        if let step = status.step {
            parts.append("step \(step)" + (status.stepCount.map { "/\($0)" } ?? ""))
        }
        if let phase = status.phase { parts.append(phase) }
        if let loss = status.loss { parts.append("loss \(Figures.fixed(loss, 4))") }
        if let term = status.term { parts.append("term \(term)") }
        return parts.isEmpty ? "a run that says nothing of itself" : parts.joined(separator: "  ")
    }

    private static let heading = [
        "worker", "state", "address", "computes", "threads", "tokens/s", "heard", "accepted",
        "refused",
    ]

    private static func cells(of worker: ClusterStatus.Worker) -> [String] {
        [
            worker.name ?? "?", worker.state ?? "?", worker.address ?? "?",
            leases(of: worker), number(worker.threads),
            worker.tokensPerSecond.map { Figures.significant($0) } ?? "-",
            worker.lastHeardSeconds.map { Figures.seconds($0) + " ago" } ?? "-",
            number(worker.accepted), number(worker.refused),
        ]
    }

    /// The first leases of a worker: `mb 17 (61 %, 2.80 s)`.
    private static func leases(of worker: ClusterStatus.Worker) -> String {
        let leases = worker.leases
        let shown = leases.prefix(2).map { lease in
            let details = [
                lease.progress.map { "\(Figures.fixed(min(max($0, 0), 1) * 100, 0)) %" },
                lease.seconds.map { Figures.seconds($0) },
            ].compactMap { $0 }
            let index = lease.microBatch.map { "mb \($0)" } ?? "mb ?"
            return details.isEmpty ? index : "\(index) (\(details.joined(separator: ", ")))"
        }
        let rest = max(leases.count, worker.leaseCount ?? 0) - shown.count
        return leases.isEmpty
            ? "-" : shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private static func number(_ number: Int?) -> String {
        number.map { Figures.grouped($0) } ?? "-"
    }
}
