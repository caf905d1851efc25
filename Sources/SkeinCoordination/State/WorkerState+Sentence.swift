import SkeinBasics

// The words for what a worker does and waits for, said by itself.

extension WorkerState {
    /// One sentence without a full stop.
    ///
    /// - Parameters:
    ///   - coordinator: the address that the user gave.
    ///   - preparedBytes: how much of the model is done.
    ///   - waitsForOther: whether another process of this host fetches the model.
    ///   - now: the time, as in `handle`.
    /// - Returns: the sentence.
    package func sentence(
        coordinator: String, preparedBytes: UInt64, waitsForOther: Bool = false, now: Duration
    ) -> String {
        if hasFinished { return "the worker has ended" }
        var state = words(coordinator, preparedBytes, max(clock, now))
        if waitsForOther, case .joining = connection {
            state += "; waits for another process of this host that fetches the model"
        }
        return isDraining ? "leaves after its current work: \(state)" : state
    }

    private func words(_ coordinator: String, _ preparedBytes: UInt64, _ now: Duration) -> String {
        switch connection {
        case .none: return "starting"
        case .dialling, .greeting:
            let left = max(.zero, unwelcomeSince + settings.patience - now)
            return "waits for a coordinator at \(coordinator)"
                + (lastFailure.isEmpty ? "" : " (\(lastFailure))")
                + "; gives up in \(left.inWords)"
        case .joining(let since):
            return "prepares for the run at \(coordinator) for \((now - since).inWords): "
                + "\(preparedBytes >> 20) MiB of the model done"
        case .member:
            let count = computing.count
            return "in the run at \(coordinator): "
                + (count == 0
                    ? "waits for work"
                    : "computes " + Figures.count(count, "micro-batch", plural: "micro-batches"))
        }
    }
}
