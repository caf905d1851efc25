import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLaunch

/// Says which tasks have not joined a run after its patience: the run goes on without them, which
/// could go unnoticed.
final class RollCall: Sendable {
    private let plan: JoinPlan
    private let patience: Duration
    private let log: Log
    private let isOver = Condition(false)
    /// At most this many ranks are named.
    private static let mostNamed = 8

    init(plan: JoinPlan, patience: Duration, log: Log) {
        self.plan = plan
        self.patience = patience
        self.log = log
    }

    /// Begins to wait, on a thread of its own.
    func begin(_ board: RunBoard) {
        // Others' names say nothing of their ranks.
        guard plan.hasRankNames, let count = plan.place?.count, count > 1 else { return }
        let deadline = ContinuousClock.now + patience
        let isStarted = SystemThread.start("skein-roll-call") { [self] in
            let isOver: Void? = isOver.wait(until: deadline) { $0 ? () : nil }
            guard isOver == nil else { return }
            let present = Set(board.view().snapshot.workers.map(\.name))
            let missing = (1..<count).filter { !present.contains("task\($0)") }
            if let sentence = sentence(missing, count: count) { log.warning(sentence) }
        }
        if !isStarted { log.warning("no thread to watch for missing tasks") }
    }

    func end() {
        isOver.change { $0 = true }
    }

    /// nil if all are there.
    private func sentence(_ missing: [Int], count: Int) -> String? {
        guard !missing.isEmpty else { return nil }
        let named = missing.prefix(Self.mostNamed).map { rank -> String in
            guard let card = plan.rendezvous?.card(ofRank: rank) else { return "task \(rank)" }
            return card.title + " (it has found the folder)"
        }
        let more = missing.count > named.count ? " and \(missing.count - named.count) more" : ""
        var text =
            "of \(count) tasks, \(missing.count) have not joined within "
            + "\(DurationText.text(of: patience)): \(named.joined(separator: "; "))\(more); "
            + "the run goes on without them, and they may still join"
        if let rendezvous = plan.rendezvous {
            text += "; were they started, and do their hosts share \(rendezvous.directory)?"
        }
        return text
    }
}
