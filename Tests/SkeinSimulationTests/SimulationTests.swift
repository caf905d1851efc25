import Foundation
import Testing

@testable import SkeinSimulation

@Suite("a cluster in one thread")
struct SimulationTests {
    /// SKEIN_TEST_SEED replays one seed; SKEIN_TEST_SEEDS=N runs N seeds, from SKEIN_TEST_FIRST_SEED or 1
    /// on.
    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        func number(_ name: String) -> UInt64? {
            guard let text = environment[name] else { return nil }
            guard let number = UInt64(text), number > 0 else {
                Issue.record("\(name)=\(text) is no number of a seed, or of seeds")
                return nil
            }
            return number
        }
        if let one = number("SKEIN_TEST_SEED") { return one...one }
        let first = number("SKEIN_TEST_FIRST_SEED") ?? 1
        return first...(first + (number("SKEIN_TEST_SEEDS") ?? 1000) - 1)
    }

    @Test("the run is the same, whatever goes wrong, and nothing is done twice or left out")
    func gradients() throws {
        try all(
            .gradients,
            [
                "lease recalled", "drop", "lease next",
                "lease given back", "lease of what is held", "lease taken over",
                "lease of the silent", "lease overdue", "lease of a straggler", "answer stale",
                "answer duplicate", "answer refused", "cancel of the draining",
                "disconnect timeout", "disconnect quarantined", "disconnect superseded", "deliver",
                "coordinator died", "died at the disk", "power lost", "resumed",
                "directory restored", "second coordinator refused", "stranger",
                "another version refused", "ended by its disk", "bit rot",
                "reference", "the coordinator's own worker",
                "model fetched", "fetch continued", "fetch interrupted", "fetch waits for its turn",
                "features kept", "features used again", "launch ended",
                "launcher restarts a worker", "launcher restarts its coordinator",
            ],
            rarely: [
                "dispute", "lease disputed", "fetch without a lock", "worker died at its disk",
                "worker ended by its disk", "damaged model fetched anew", "bit rot in a cache",
                "power of a worker lost", "features damaged", "features full",
                "features not written",
                "features begun anew", "bit rot in features", "features wait for another process",
                "launch interrupted", "launcher kills a worker", "launcher gives up on a process",
            ])
    }

    @Test("a run with local steps is the same, whatever goes wrong, and lost states are rebuilt")
    func localSteps() throws {
        try all(
            .local,
            [
                "state rebuilt", "coordinator died", "resumed", "lease given back", "replay",
                "directory restored", "the coordinator's own worker",
            ], rarely: ["dispute"])
    }

    /// Runs all seeds of a recipe on two threads. In a thousand seeds all of `events` must happen;
    /// otherwise they would prove nothing. In the first thousand `rareEvents` must, too, which others
    /// may lack.
    private func all(
        _ recipe: Scenario.Recipe, _ events: [String], rarely rareEvents: [String]
    ) throws {
        let seeds = Self.seeds
        let isOne = seeds.count == 1
        let range = SeedRange(seeds, mostFound: 3, keepsTraces: isOne) {
            Scenario.drawn($0, recipe)
        }
        let tally = try range.run(threads: 2)
        for outcome in isOne ? tally.traced : Array(tally.found.prefix(1)) {
            print(outcome.trace.suffix(120).joined(separator: "\n"))
        }
        for outcome in tally.found {
            Issue.record("\(outcome.scenario.command): \(outcome.violations)")
        }
        guard tally.found.isEmpty else { return }
        let table = tally.counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        print("\(recipe.rawValue), seeds \(seeds); " + table.joined(separator: "; "))
        let bounds = tally.fullness.sorted { $0.key < $1.key }.map { what, part in
            "\(what): \(Int(part * 100)) %"
        }
        print("the most of what is bounded: " + bounds.joined(separator: "; "))
        guard seeds.count >= 1000 else { return }
        let kinds = Set(Fault.What.allCases).subtracting([.version])
        let rare = seeds.lowerBound == 1 ? rareEvents : []
        for event in events + rare + kinds.map({ "fault \($0.rawValue)" }) {
            #expect(tally.counts[event, default: 0] > 0, "\(event) never happened")
        }
        guard recipe == .gradients else { return }
        #expect(
            tally.fullness.count == SimulatedBounds.count,
            "a bound of SimulatedBounds was never looked at: \(bounds)")
        for (what, part) in tally.fullness {
            #expect(part > 0.3, "\(what): a bound that is far from what there is")
        }
    }

    /// A world where nothing goes wrong by itself.
    private func quiet(
        seed: UInt64, workers: Int, job: SimulatedJob, patience: Duration = .seconds(60)
    ) -> SimulatedRun {
        let run = SimulatedRun(seed: seed, workers: workers, of: job)
        run.patience = patience
        return run
    }

    @Test("who joins later gets work, too, where one worker could do all of it")
    func lateJoiner() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = quiet(seed: seed, workers: 4, job: try SimulatedJob.long.get())
            run.workers[3].startsAfter = .seconds(5)
            run.run(limit: .seconds(400))
            #expect(run.violations == [], "seed \(seed)")
            let begun = run.workers.map(\.begun)
            #expect(begun.allSatisfy { $0 > 0 }, "seed \(seed): \(begun)")
        }
    }

    @Test("a worker that lives and gets nowhere is told to go, and the next process goes on")
    func hanging() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = quiet(
                seed: seed, workers: 1, job: try SimulatedJob.narrow.get(),
                patience: .seconds(20))
            run.workers[0].hangs = true
            run.run(limit: .seconds(400))
            #expect(run.violations == [], "seed \(seed)")
            #expect(run.workers[0].life > 1, "seed \(seed)")
            #expect(run.world.counts["disconnect stuck"] == 1, "seed \(seed)")
        }
    }

    @Test("the only worker is back from each of its pauses before the run is given up")
    func pauses() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let run = quiet(
                seed: seed, workers: 1, job: try SimulatedJob.narrow.get(),
                patience: .seconds(10))
            run.workers[0].badResults = 14
            run.run(limit: .seconds(400))
            #expect(run.violations == [], "seed \(seed)")
            let pauses = run.world.counts["disconnect quarantined", default: 0]
            #expect(pauses >= 10, "seed \(seed): \(pauses)")
        }
    }
}
