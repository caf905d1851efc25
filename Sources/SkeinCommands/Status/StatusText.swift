import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// Renders a run's snapshot for people. Pure.
enum StatusText {
    /// The sentence of `--why`.
    static func why(of snapshot: RunSnapshot) -> String { printable(snapshot.waiting.sentence) }

    /// The run, what goes on, and a line for each worker; ends with a line break.
    static func table(of snapshot: RunSnapshot) -> String {
        var text = "\(run(snapshot))\n\(printable(snapshot.waiting.brief))\n"
        if let step = snapshot.run.otherEnginesFromStep {
            text += RunFile.otherEngines(from: step) + "\n"
        }
        if let doubt = doubt(snapshot.run) { text += doubt + "\n" }
        // One process that trains alone has no workers, and leases nothing.
        guard snapshot.run.term != nil else { return text }
        text += "\n"
        let shown = snapshot.workers.prefix(mostWorkers)
        let absent = snapshot.absent.prefix(mostWorkers)
        if shown.isEmpty, absent.isEmpty {
            text += "no workers\n"
        } else {
            text += TextTable.text(
                [heading] + shown.map(cells(of:)) + absent.map(cells(of:)), leftColumns: 4)
        }
        let (rest, overflows) = snapshot.workerCount.subtractingReportingOverflow(shown.count)
        if rest > 0, !overflows { text += "and \(Figures.grouped(rest)) more\n" }
        text += "\n" + counters(snapshot.counters) + "\n"
        return text
    }

    /// The run in one line.
    static func line(of snapshot: RunSnapshot) -> String { run(snapshot) }

    private static func run(_ snapshot: RunSnapshot) -> String {
        let run = snapshot.run
        var parts = [
            printable(run.output), "step \(run.step)/\(run.stepCount)", printable(snapshot.phase),
        ]
        if let loss = run.loss { parts.append("loss \(Figures.fixed(loss, 4))") }
        if let term = run.term { parts.append("term \(term)") }
        return parts.joined(separator: "  ")
    }

    /// What is said of a run whose best adapter so far is no better than what the run began with.
    private static func doubt(_ run: RunSnapshot.Progress) -> String? {
        guard run.isImprovement == false, let step = run.bestStep,
            let best = run.bestValidationLoss, let start = run.startValidationLoss
        else { return nil }
        return
            "the best adapter so far is no better than the model before the first step: validation loss "
            + "\(Figures.fixed(best, 4)) after step \(step), \(Figures.fixed(start, 4)) before"
    }

    private static func counters(_ counters: RoundCounters) -> String {
        [
            ("leases", counters.leases), ("releases", counters.again),
            ("speculative", counters.speculative), ("duplicates", counters.duplicates),
            ("refused", counters.refused),
        ].map { "\($0) \(Figures.grouped($1))" }.joined(separator: "  ")
    }

    private static let heading = [
        "worker", "state", "address", "computes", "threads", "tokens/s", "heard", "accepted",
        "refused",
    ]

    private static func cells(of worker: RunSnapshot.Worker) -> [String] {
        let heard = Figures.seconds(worker.lastHeardSeconds) + " ago"
        let start = [printable(worker.name), worker.state.rawValue, printable(worker.address)]
        guard let work = worker.work else {
            let bytes = worker.preparedBytes.map { "\($0 >> 20) MiB" } ?? "-"
            return start + [bytes, "-", "-", heard, "-", "-"]
        }
        return start + [
            leases(of: work), Figures.grouped(work.threads),
            work.tokensPerSecond.map { Figures.significant($0) } ?? "-", heard,
            Figures.grouped(work.accepted), Figures.grouped(work.refused),
        ]
    }

    private static func cells(of absent: RunSnapshot.Absent) -> [String] {
        [
            printable(absent.name), absent.isLost ? "lost" : "left", printable(absent.address),
            printable(absent.reason), "-", "-", Figures.seconds(absent.seconds) + " ago",
            Figures.grouped(absent.accepted), Figures.grouped(absent.refused),
        ]
    }

    /// The first leases of a worker: `mb 17 (61 %, 2.80 s)`.
    private static func leases(of work: RunSnapshot.Work) -> String {
        let shown = work.leases.prefix(2).map { lease in
            "mb \(lease.microBatch) (\(Figures.fixed(min(max(lease.progress, 0), 1) * 100, 0)) %, "
                + "\(Figures.seconds(lease.seconds)))"
        }
        guard !shown.isEmpty else { return "-" }
        let (rest, overflows) = work.leaseCount.subtractingReportingOverflow(shown.count)
        return shown.joined(separator: ", ") + (rest > 0 && !overflows ? " and \(rest) more" : "")
    }

    /// The most that a coordinator sends; another process may send anything.
    private static let mostWorkers = 1500
    /// Limit of one text, which a table repeats as blanks in every row.
    private static let mostCharacters = 1000

    /// Without control characters, which a terminal would obey, and of bounded length.
    private static func printable(_ text: String) -> String {
        ForeignText.withoutControls(text, limit: mostCharacters)
    }
}
