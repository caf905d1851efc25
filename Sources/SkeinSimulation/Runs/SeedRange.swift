import Foundation
import SkeinBasics
import Synchronization

/// Runs the seeds of a range on some threads, and adds up what happens.
package final class SeedRange: Sendable {
    /// What is known so far.
    package struct Tally: Sendable {
        /// All seeds before this one are done.
        package fileprivate(set) var next: UInt64
        package fileprivate(set) var done = 0
        package fileprivate(set) var counts: [String: Int] = [:]
        package fileprivate(set) var fullness: [String: Double] = [:]
        package fileprivate(set) var found: [Simulation.Outcome] = []
        /// Since when the seeds run that run now.
        package fileprivate(set) var running: [UInt64: ContinuousClock.Instant] = [:]
        /// Those whose trace was asked for, the last ten.
        package fileprivate(set) var traced: [Simulation.Outcome] = []
        package fileprivate(set) var seconds = 0.0
        package fileprivate(set) var events = 0
        /// What kept a job from being made.
        package fileprivate(set) var error: (any Error)?
        fileprivate var ahead: Set<UInt64> = []
        fileprivate var begun: UInt64
        fileprivate var isStopped = false
    }

    private let range: ClosedRange<UInt64>
    private let scenario: @Sendable (UInt64) -> Scenario
    private let mostFound: Int
    private let keepsTraces: Bool
    private let tally: Mutex<Tally>

    /// - Parameters:
    ///   - range: seeds.
    ///   - mostFound: it stops when so many have failed.
    ///   - keepsTraces: writes down what happens in each.
    ///   - scenario: of a seed.
    package init(
        _ range: ClosedRange<UInt64>, mostFound: Int = 10, keepsTraces: Bool = false,
        scenario: @escaping @Sendable (UInt64) -> Scenario
    ) {
        self.range = range
        self.mostFound = mostFound
        self.keepsTraces = keepsTraces
        self.scenario = scenario
        tally = Mutex(Tally(next: range.lowerBound, begun: range.lowerBound))
    }

    /// Runs all of them.
    ///
    /// - Parameters:
    ///   - threads: how many run at once; fewer if the system has no more.
    ///   - report: called on the calling thread about once a second; false stops.
    /// - Returns: what was found, in the order of the seeds.
    /// - Throws: what keeps a job from being made.
    package func run(
        threads: Int, report: (Tally) throws -> Bool = { _ in true }
    ) throws -> Tally {
        let ended = Condition(0)
        var started = 0
        for number in 0..<max(1, threads) {
            let isStarted = SystemThread.start("skein-seeds-\(number)", stackBytes: 8 << 20) {
                self.work()
                ended.change { $0 += 1 }
            }
            if isStarted { started += 1 }
        }
        if started == 0 { work() }
        let count = started
        let isOver = { @Sendable (ended: inout Int) in ended == count ? true : nil }
        // However this ends, no thread goes on.
        defer {
            stop()
            _ = ended.wait(isOver)
        }
        while ended.wait(until: .now + .seconds(1), isOver) == nil {
            if try !report(tally.withLock { $0 }) { stop() }
        }
        var all = tally.withLock { $0 }
        if let error = all.error { throw error }
        all.found.sort { $0.scenario.seed < $1.scenario.seed }
        return all
    }

    private func stop() { tally.withLock { $0.isStopped = true } }

    private func work() {
        while let seed = take() {
            do {
                // A run that crashes, or that never ends, is known by its thread.
                Thread.current.name = "seed \(seed)"
                var outcome = try Simulation.run(scenario(seed), keepsTrace: keepsTraces)
                if !keepsTraces, !outcome.violations.isEmpty {
                    // The same once more, and written down.
                    outcome = outcome.unless(
                        try Simulation.run(outcome.scenario, keepsTrace: true))
                }
                note(outcome, seed)
            } catch {
                tally.withLock { ($0.error, $0.isStopped) = (error, true) }
            }
        }
    }

    private func take() -> UInt64? {
        tally.withLock { tally in
            guard !tally.isStopped, tally.found.count < mostFound, tally.begun <= range.upperBound
            else { return nil }
            defer { tally.begun += 1 }
            tally.running[tally.begun] = .now
            return tally.begun
        }
    }

    private func note(_ outcome: Simulation.Outcome, _ seed: UInt64) {
        tally.withLock { tally in
            tally.done += 1
            tally.running[seed] = nil
            tally.seconds += outcome.seconds
            tally.events += outcome.events
            tally.counts.merge(outcome.counts) { $0 + $1 }
            tally.fullness.merge(outcome.fullness) { max($0, $1) }
            if keepsTraces { tally.traced = tally.traced.suffix(9) + [outcome] }
            if !outcome.violations.isEmpty { tally.found.append(outcome) }
            tally.ahead.insert(seed)
            while tally.ahead.remove(tally.next) != nil { tally.next += 1 }
        }
    }
}
