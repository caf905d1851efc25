import Foundation
import SkeinBasics
import SkeinLaunch

/// One run of a cluster whose workers are killed and stopped.
struct RecoveryRun {
    private let plan: RecoveryBench.Plan
    private let output: String
    private let firstBlow: Int
    private let io: CommandIO
    private let began: ContinuousClock.Instant
    private let random: AddressedRandom

    private var coordinator: LoggedChild?
    private var workers: [String: LoggedChild] = [:]
    private var address: String?
    private var facts: [ClusterFact] = []
    private var blows: [Blow] = []
    private var step = 0
    /// The coordinator's beginning on this clock: what is read is never older than it says.
    private var coordinatorBegan = Double.infinity
    /// Workers that are in, and those of them that have had a result accepted since.
    private var present: Set<String> = []
    private var settled: Set<String> = []
    private var nextBlow: Double?
    private var stopped: (worker: String, until: Double?)?
    private var lastFact = 0.0

    /// Steps at the end without a blow: who comes back shall find some work.
    private static let quietSteps = 8
    private static let patience = 120.0

    init(
        _ plan: RecoveryBench.Plan, output: String, firstBlow: Int, io: CommandIO,
        began: ContinuousClock.Instant
    ) {
        self.plan = plan
        self.output = output
        self.firstBlow = firstBlow
        self.io = io
        self.began = began
        random = AddressedRandom(seed: plan.seed, purpose: .benchmark)
    }

    private var now: Double { (ContinuousClock.now - began) / .seconds(1) }

    /// Runs to the end of the training.
    ///
    /// - Returns: what happened and what was done to it, on the coordinator's clock.
    /// - Throws: `CommandError` when the coordinator does not come to a good end.
    mutating func run() throws -> (facts: [ClusterFact], blows: [Blow]) {
        defer { endAll() }
        coordinator = try LoggedChild(
            "coordinator",
            [plan.program, "coordinator", "--listen", "127.0.0.1:0", "--output", output]
                + ["--log-format", "json"] + plan.training)
        lastFact = now
        while coordinator?.ending == nil {
            wait()
            for line in coordinator?.read() ?? [] { try take(line) }
            for name in RecoveryBench.Plan.workers { _ = workers[name]?.read() }
            try strikeWhenDue()
            guard now - lastFact < Self.patience, !io.interrupt.isSet else {
                for line in coordinator?.lastLines ?? [] { io.writeError(line + "\n") }
                throw CommandError.benchFailed(
                    what: "nothing happened for \(Int(now - lastFact)) s, or it was interrupted",
                    place: output)
            }
        }
        for line in coordinator?.read() ?? [] { try take(line) }
        try coordinator?.demandSuccess(io)
        return (facts, blows)
    }

    /// Until somebody says something, 5 ms at most.
    private func wait() {
        var descriptors = (workers.values + [coordinator].compactMap { $0 })
            .flatMap(\.descriptors)
        _ = poll(&descriptors, nfds_t(descriptors.count), 5)
    }

    private mutating func take(_ line: String) throws {
        if address == nil, let found = Self.address(in: line) {
            address = found
            for name in RecoveryBench.Plan.workers { try start(name) }
        }
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
            if stopped?.worker == fact.worker, stopped?.until == nil {
                let until = now + fraction(blows.count, 3) * 0.5
                stopped?.until = until
            }
        case .accepted: if present.contains(fact.worker) { settled.insert(fact.worker) }
        case .closed, .leased, .cancelled, .arrived, .refused: break
        }
    }

    private static func address(in line: String) -> String? {
        do {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let message = (object as? [String: Any])?["message"] as? String
            return message.flatMap { ListeningLine.address(in: $0) }
        } catch {
            return nil
        }
    }

    private mutating func start(_ name: String) throws {
        guard let address else { return }
        workers[name] = try LoggedChild(
            name,
            [
                plan.program, "worker", "--coordinator", address, "--model", plan.model, "--name",
                name, "--threads", "1",
            ])
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
            workers[stopped.worker]?.process.send(SIGCONT)
            self.stopped = nil
        }
        let number = firstBlow + blows.count
        guard number < plan.blows, step <= plan.steps - Self.quietSteps,
            settled.count == RecoveryBench.Plan.workers.count
        else { return }
        guard let due = nextBlow else {
            // Up to the length of a step or so: any moment of it.
            nextBlow = now + fraction(blows.count, 0) * 1.5
            return
        }
        guard now >= due else { return }
        nextBlow = nil
        let names = RecoveryBench.Plan.workers
        let victim = names[Int(fraction(blows.count, 2) * Double(names.count))]
        try strike(victim, plan.kind(ofBlow: number))
    }

    private mutating func strike(_ victim: String, _ kind: Blow.Kind) throws {
        blows.append(Blow(kind: kind, worker: victim, seconds: now - coordinatorBegan))
        present.remove(victim)
        settled.remove(victim)
        switch kind {
        case .kill:
            workers[victim]?.kill()
            try start(victim)
        case .stop:
            workers[victim]?.process.send(SIGSTOP)
            stopped = (victim, nil)
        }
    }

    private mutating func endAll() {
        coordinator?.kill()
        for name in RecoveryBench.Plan.workers {
            // One that was on its way back finds nobody any more.
            workers[name]?.kill()
        }
    }
}
