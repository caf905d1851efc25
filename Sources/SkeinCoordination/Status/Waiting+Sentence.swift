import SkeinBasics

// The words for what a run is doing and waiting for. Status, log, errors and the library say the
// same, so this is the only place that has them.

extension Waiting {
    /// What goes on, in few words for as long as nothing is missing, overdue or lost; else `sentence`.
    /// Without a full stop.
    package var brief: String {
        guard isWell else { return sentence }
        let time = "(\(Self.words(seconds)))"
        switch reason {
        case .computingHere: return "computes \(work) \(time)"
        case .closing: return "the coordinator closes \(work) \(time)"
        case .checking: return "the coordinator checks results of \(work) \(time)"
        case .computing(let index, let worker, _, _):
            return "\(worker.name) computes \(piece) \(index) of \(work) \(time)"
        case .untaken(_, let worker, _):
            return "\(worker.name) gets work of \(work) as soon as its results are checked \(time)"
        case .ended, .starting, .betweenRounds, .judging, .workersMissing, .away: return sentence
        }
    }

    /// One sentence without a full stop: who is waited for, since when, what comes next.
    package var sentence: String {
        let time = Self.words(seconds)
        switch reason {
        case .ended: return "the run ended \(time) ago: it waits for nothing"
        case .starting:
            return "the coordinator has been preparing the run for \(time); then it leases the "
                + "first step"
        case .betweenRounds(let activity):
            return "between steps: the coordinator \(activity) (for \(time)); then it leases the "
                + "next step"
        case .computingHere: return "this process has been computing \(work) for \(time)"
        case .closing:
            return "\(beginning) the coordinator: every \(piece) is accepted; it closes the round "
                + "next"
        case .judging(let index, let worker, let suspects):
            return "\(beginning) worker \(worker.words), to tell whether "
                + "\(suspects.joined(separator: " or ")) computes \(piece) \(index) wrongly; then "
                + "the coordinator closes the round"
        case .workersMissing(let shortage): return sentence(of: shortage)
        case .computing(let index, let worker, let outlook, let elsewhere):
            return "\(beginning) \(piece) \(index) on worker \(worker.words); "
                + words(outlook, elsewhere)
        case .checking(let index, let worker, let unchecked):
            return "\(beginning) the coordinator: it checks the result of \(piece) \(index) from "
                + "\(worker), \(unchecked) in all"
        case .untaken(let pieces, let worker, let lost):
            let next =
                lost.map { "it counts as lost in \(Self.words($0))" }
                ?? "it gets work as soon as its results are checked"
            return "\(beginning) worker \(worker.words), to take "
                + "\(round?.pieces(pieces) ?? "work") that nobody computes; " + next
        case .away(let pieces, let worker, let seconds):
            return "\(beginning) worker \(worker), which is gone and has what "
                + "\(round?.pieces(pieces) ?? "work") need; others rebuild it in "
                + Self.words(seconds)
        }
    }

    /// "step 7 has waited 3.1 s for".
    private var beginning: String {
        (round?.description ?? "the run") + " has waited \(Self.words(seconds)) for"
    }

    /// "step 7", "the validation after step 7".
    private var work: String {
        switch round {
        case .step, nil: round?.description ?? "the run"
        case .validation, .references: "the \(round?.description ?? "")"
        }
    }

    private var piece: String { round?.pieceName ?? "piece" }

    private func sentence(of shortage: Shortage) -> String {
        let (missing, present) = (shortage.missing, shortage.present)
        var text =
            "\(beginning) \(Figures.count(missing, "more worker")) ("
            + (shortage.hasBegun
                ? "no worker is left"
                : "\(present) of \(shortage.needed) needed \(present == 1 ? "is" : "are") here")
            + ")"
        if let name = shortage.paused, let seconds = shortage.pausedSeconds {
            text += "; \(name) may return in \(Self.words(seconds))"
        }
        if let preparing = shortage.preparing {
            text +=
                "; \(preparing.name) (\(preparing.address)) is preparing "
                + "(\(preparing.preparedBytes >> 20) MiB of the model done, the last "
                + "\(Self.words(preparing.progressSeconds)) ago)"
            if shortage.othersPreparing > 0 { text += ", and \(shortage.othersPreparing) more" }
        }
        if let left = shortage.givesUpInSeconds {
            text +=
                left > 0
                ? "; the run gives up in \(Self.words(left)), counted again whenever a worker joins "
                    + "or makes progress with its preparation"
                : "; the patience is over"
        }
        return text
    }

    private func words(_ outlook: Outlook, _ elsewhere: Elsewhere) -> String {
        let other =
            switch elsewhere {
            case .computed(let name): "\(name) computes it, too"
            case .anotherWorker: "the \(piece) goes to another worker"
            case .nobody: "the \(piece) waits for another worker to join"
            }
        switch outlook {
        case .lost(let seconds):
            return "it counts as lost in \(Self.words(seconds)), then \(other)"
        case .overdue(let seconds):
            let next =
                if case .computed = elsewhere { other } else { "the next idle worker gets it, too" }
            return "it is \(Self.words(seconds)) past its deadline: \(next)"
        case .expected(let seconds, let overdue):
            return (seconds > 0 ? "expected in \(Self.words(seconds))" : "expected any moment")
                + ", overdue in \(Self.words(overdue))"
        case .unknown(let overdue):
            return "its first, so its pace is unknown; overdue in \(Self.words(overdue))"
        }
    }

    /// "3.1 s"; another process may send any number.
    fileprivate static func words(_ seconds: Double) -> String {
        Duration.seconds(seconds.isFinite ? min(max(seconds, 0), 1e9) : 0).inWords
    }
}

extension Waiting.Peer {
    /// "w3 (10.0.0.7:40112), last heard 0.2 s ago".
    fileprivate var words: String {
        "\(name) (\(address)), last heard \(Waiting.words(lastHeardSeconds)) ago"
    }
}

extension RunSnapshot {
    /// "step 12: 5 of 8 done", or what happens while no round is open.
    package var phase: String {
        if let round { return "\(round.label): \(round.accepted) of \(round.pieces) done" }
        return switch waiting.reason {
        case .ended: "finished"
        case .betweenRounds(let activity): activity
        case .computingHere: "training"
        default: "starting"
        }
    }
}
