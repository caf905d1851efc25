import SkeinTraining

/// Runs scenarios: what tests and `skein-lab simulate` call.
package enum Simulation {
    /// What became of a scenario.
    package struct Outcome: Sendable {
        package let scenario: Scenario
        /// What must never be and was; empty: all was well.
        package let violations: [String]
        /// The last of what happened, with times.
        package let trace: [String]
        /// How often what happened.
        package let counts: [String: Int]
        /// The most that there was of each thing with a bound, as a part of the bound.
        package let fullness: [String: Double]
        /// Those of the faults that found something to happen to.
        package let suffered: [Fault]
        /// Seconds of the world's time.
        package let seconds: Double
        package let events: Int

        /// The same scenario with those faults alone, which does the same.
        package var exact: Scenario {
            var scenario = scenario
            scenario.faults = suffered
            return scenario
        }

        /// Whether another run of the scenario did not find the same: then there is none that is smaller.
        package fileprivate(set) var isUnsteady = false

        /// This outcome of a run whose outcome was `other` when it was run again and written down.
        func unless(_ other: Self) -> Self {
            if other.violations == violations { return other }
            var outcome = Self(
                scenario: scenario,
                violations: violations + [
                    "another run of this seed found: \(other.violations)"
                ],
                trace: other.trace, counts: counts, fullness: fullness, suffered: suffered,
                seconds: seconds, events: events)
            outcome.isUnsteady = true
            return outcome
        }
    }

    /// Runs a scenario on the calling thread, in no more real time than its events take.
    ///
    /// - Parameters:
    ///   - scenario: what to run.
    ///   - keepsTrace: writes down what happens.
    /// - Returns: what became of it.
    /// - Throws: what keeps its job from being made.
    package static func run(_ scenario: Scenario, keepsTrace: Bool = false) throws -> Outcome {
        let run = try made(scenario, keepsTrace)
        run.run(limit: .seconds(limit(scenario)))
        let world = run.world
        return Outcome(
            scenario: scenario, violations: world.violations, trace: world.trace,
            counts: world.counts, fullness: world.fullness, suffered: run.suffered,
            seconds: world.now / .seconds(1), events: world.events)
    }

    /// A worker that hangs holds a run up for five patiences, 300 s, and so do two that hang with copies of
    /// one piece; that may happen more than once. A run that diverges needs two that agree; more lives take
    /// more time besides.
    private static func limit(_ scenario: Scenario) -> Double {
        (scenario.faults.last?.at ?? 0) + (scenario.recipe == .local ? 4000 : 2000)
    }

    private static func made(_ scenario: Scenario, _ keepsTrace: Bool) throws -> SimulatedRun {
        var random = SplitMix(state: scenario.seed &* 0x2545_F491_4F6C_DD1D)
        let job = try SimulatedJob.job(scenario.recipe, random.next(), steps: scenario.steps)
        var poison = SimulatedJob.Poison()
        let count = job.job.plan.stepCount
        if random.happens(0.12) {
            poison.step = Int.random(in: 1...count, using: &random)
        } else if scenario.recipe == .gradients, random.happens(0.1) {
            poison.validation = count
        }
        return SimulatedRun(
            seed: scenario.seed, workers: scenario.workers, of: job, poison: poison,
            faults: scenario.faults,
            fetched: scenario.fetches ? try FetchedModel.made.get() : nil,
            keepsFeatures: scenario.keepsFeatures, computes: scenario.computes,
            launches: scenario.launches,
            keepsTrace: keepsTrace)
    }
}
