import Foundation
import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("a cluster in one thread")
struct SimulationTests {
    /// SKEIN_TEST_SEED replays one seed.
    static var seeds: [UInt64] {
        let one = ProcessInfo.processInfo.environment["SKEIN_TEST_SEED"].flatMap { UInt64($0) }
        return one.map { [$0] } ?? Array(1...320)
    }

    @Test("every piece is accepted once, whoever dies, stops, drains or computes wrongly")
    func everyPieceOnce() {
        var counts: [String: Int] = [:]
        for seed in Self.seeds {
            let simulation = Simulation(seed: seed, workers: 2 + Int(seed % 6))
            simulation.run(limit: .seconds(400))
            counts.merge(simulation.counts) { $0 + $1 }
            guard !simulation.violations.isEmpty else { continue }
            print(simulation.trace.suffix(120).joined(separator: "\n"))
            Issue.record("SKEIN_TEST_SEED=\(seed): \(simulation.violations)")
            return
        }
        let table = counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        print("\(Self.seeds.count) seeds; " + table.joined(separator: "; "))
        guard Self.seeds.count > 1 else { return }
        // All of it does happen; otherwise the test would prove nothing.
        for event in [
            "lease there is room for its result now", "drop", "dispute",
            "lease w and w gave different results",
            "lease next in order", "lease given back by w",
            "lease the worker has finished it already",
            "lease it waited behind other work at w", "lease w is silent",
            "lease w is past its deadline",
            "lease w would finish last", "answer stale", "answer duplicate", "answer refused",
            "cancel the worker drains", "disconnect timeout", "disconnect quarantined",
            "disconnect superseded", "deliver",
        ] {
            #expect(counts[event, default: 0] > 0, "\(event) never happened")
        }
    }

    /// A world without faults, in which steps have less work than there are workers.
    private func quiet(
        seed: UInt64, workers: Int, rounds: Int, patience: Duration = .seconds(60)
    ) -> Simulation {
        let simulation = Simulation(seed: seed, workers: workers)
        simulation.patience = patience
        simulation.faultsUntil = .zero
        for worker in simulation.workers { worker.badness = 0 }
        simulation.coordinator.rounds = Array(repeating: [200], count: rounds)
        return simulation
    }

    @Test("a worker that joins late gets work, even where another could do all of it")
    func lateJoiner() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let simulation = quiet(seed: seed, workers: 4, rounds: 80)
            simulation.workers[3].startsAfter = .seconds(5)
            simulation.run(limit: .seconds(400))
            #expect(simulation.violations == [], "SKEIN_TEST_SEED=\(seed)")
            let begun = simulation.workers.map(\.begun)
            #expect(begun.allSatisfy { $0 > 0 }, "SKEIN_TEST_SEED=\(seed): \(begun)")
        }
    }

    @Test("a live worker that gets nowhere is rejected, and its next process continues")
    func hanging() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let simulation = quiet(
                seed: seed, workers: 1, rounds: 3, patience: .seconds(20))
            simulation.workers[0].hangs = true
            simulation.run(limit: .seconds(400))
            #expect(simulation.violations == [], "SKEIN_TEST_SEED=\(seed)")
            #expect(simulation.workers[0].life > 1, "SKEIN_TEST_SEED=\(seed)")
            #expect(simulation.counts["disconnect stuck"] == 1, "SKEIN_TEST_SEED=\(seed)")
        }
    }

    @Test("the only worker is back from each of its pauses before the run is given up")
    func pauses() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let simulation = quiet(seed: seed, workers: 1, rounds: 3, patience: .seconds(10))
            simulation.workers[0].badResults = 14
            simulation.run(limit: .seconds(400))
            #expect(simulation.violations == [], "SKEIN_TEST_SEED=\(seed)")
            let pauses = simulation.counts["disconnect quarantined", default: 0]
            #expect(pauses >= 10, "SKEIN_TEST_SEED=\(seed): \(pauses)")
        }
    }
}
