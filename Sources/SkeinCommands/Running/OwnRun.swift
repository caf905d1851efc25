import SkeinCoordination
import SkeinNodes
import SkeinTraining

/// What is known about a run in this process, for the snapshot that a cluster's status has, too.
struct OwnRun: Sendable {
    private(set) var run = RunSnapshot.Progress()
    private var phase = Phase.starting

    private enum Phase: Sendable {
        case starting
        /// The step after `run.step` is being computed.
        case computing(since: ContinuousClock.Instant)
        case over(since: ContinuousClock.Instant)
    }

    init(stepCount: Int) {
        run.stepCount = stepCount
    }

    mutating func resumed(after step: Int) { run.step = step }

    /// Call this when the first step begins.
    mutating func began(now: ContinuousClock.Instant) { phase = .computing(since: now) }

    mutating func committed(_ metrics: StepMetrics, now: ContinuousClock.Instant) {
        run.record(metrics)
        phase = .computing(since: now)
    }

    mutating func ended(in directory: String, now: ContinuousClock.Instant) {
        run.output = directory
        phase = .over(since: now)
    }

    func snapshot(now: ContinuousClock.Instant) -> RunSnapshot {
        func waiting(_ reason: Waiting.Reason, since: ContinuousClock.Instant) -> Waiting {
            Waiting(reason: reason, seconds: (now - since) / .seconds(1))
        }
        var snapshot = RunSnapshot(run: run, waiting: Waiting(reason: .starting, seconds: 0))
        switch phase {
        case .starting: break
        case .computing(let since):
            snapshot.waiting = waiting(.computingHere, since: since)
            snapshot.waiting.round = .step(run.step + 1)
        case .over(let since): snapshot.waiting = waiting(.ended, since: since)
        }
        return snapshot
    }
}
