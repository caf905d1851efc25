import Foundation
import SkeinBasics

/// One run of a cluster whose workers are killed and stopped.
struct RecoveryRun {
    private let plan: RecoveryBench.Plan
    private let firstBlow: Int
    private let began: ContinuousClock.Instant
    private let random: AddressedRandom

    private let cluster: ClusterHarness
    private var facts: [ClusterFact] = []
    private var blows: [Blow] = []
    private var step = 0
    /// When the coordinator started, on this clock: the least estimate, since lines are read late.
    private var coordinatorBegan = Double.infinity
    /// Workers that have joined, and those of them with a result accepted since.
    private var present: Set<String> = []
    private var settled: Set<String> = []
    private var nextBlow: Double?
    private var stopped: (worker: Int, until: Double?)?
    private var lastFact = 0.0

    /// Steps at the end without a blow, so that a worker that comes back finds some work.
    private static let quietSteps = 8
    private static let patience = 120.0

    /// Starts the cluster.
    init(
        _ work: Workload, _ plan: RecoveryBench.Plan, output: String, firstBlow: Int,
        began: ContinuousClock.Instant
    ) throws {
        self.plan = plan
        self.firstBlow = firstBlow
        self.began = began
        random = AddressedRandom(seed: plan.seed, purpose: .benchmark)
        cluster = try ClusterHarness(work, output, plan.training + ["--log-format", "json"])
        for name in RecoveryBench.Plan.workers { try cluster.startWorker(name) }
    }

    private var now: Double { (ContinuousClock.now - began) / .seconds(1) }

    /// Runs to the end of the training.
    ///
    /// - Returns: the facts and the blows, on the coordinator's clock.
    /// - Throws: `BenchError` when the coordinator fails.
    mutating func run() throws -> (facts: [ClusterFact], blows: [Blow]) {
        lastFact = now
        while cluster.coordinator.isRunning {
            usleep(1000)
            for line in try cluster.coordinator.newLines() { take(line) }
            try strikeWhenDue()
            if cluster.work.program.shouldStop() { throw BenchError.interrupted }
            guard now - lastFact < Self.patience else {
                throw BenchError.deadline(
                    name: cluster.coordinator.name, what: "anything to happen",
                    lines: cluster.coordinator.lastLines)
            }
        }
        for line in try cluster.coordinator.newLines() { take(line) }
        try cluster.coordinator.demandSuccess()
        return (facts, blows)
    }

    private mutating func take(_ line: String) {
        guard let fact = ClusterFact(line: line) else { return }
        facts.append(fact)
        lastFact = now
        coordinatorBegan = min(coordinatorBegan, now - fact.seconds)
        switch fact.kind {
        case .opened: step = fact.step
        case .joined:
            present.insert(fact.worker)
            settled.remove(fact.worker)
        case .lost, .left:
            present.remove(fact.worker)
            settled.remove(fact.worker)
            if let worker = stopped?.worker, cluster.workers[worker].name == fact.worker,
                stopped?.until == nil
            {
                let until = now + fraction(blows.count, 3) * 0.5
                stopped?.until = until
            }
        case .accepted: if present.contains(fact.worker) { settled.insert(fact.worker) }
        case .closed, .leased, .cancelled, .arrived, .refused: break
        }
    }

    /// Uniform in [0, 1), addressed by the blow's number.
    private func fraction(_ blow: Int, _ what: Int) -> Double {
        let words = random.block(UInt32(truncatingIfNeeded: firstBlow + blow))
        return AddressedRandom.unitDouble(words[what], words[(what + 1) % 4])
    }

    private mutating func strikeWhenDue() throws {
        if let stopped {
            guard let until = stopped.until, now >= until else { return }
            blows[blows.count - 1].continued = now - coordinatorBegan
            cluster.workers[stopped.worker].send(SIGCONT)
            self.stopped = nil
        }
        let number = firstBlow + blows.count
        guard number < plan.blows, step <= plan.steps - Self.quietSteps,
            settled.count == RecoveryBench.Plan.workers.count
        else { return }
        guard let due = nextBlow else {
            // Up to about the length of a step: any moment in it.
            nextBlow = now + fraction(blows.count, 0) * 1.5
            return
        }
        guard now >= due else { return }
        nextBlow = nil
        let victim = Int(fraction(blows.count, 2) * Double(cluster.workers.count))
        let (worker, kind) = (cluster.workers[victim], plan.kind(ofBlow: number))
        blows.append(Blow(kind: kind, worker: worker.name, seconds: now - coordinatorBegan))
        present.remove(worker.name)
        settled.remove(worker.name)
        switch kind {
        case .kill: try cluster.restartWorker(victim)
        case .stop:
            worker.send(SIGSTOP)
            stopped = (victim, nil)
        }
    }
}
