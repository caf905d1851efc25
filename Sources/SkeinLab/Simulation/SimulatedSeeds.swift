import Foundation
import SkeinBasics
import SkeinCommands
import SkeinJSON
import SkeinSimulation

/// The seeds of one recipe, and what is printed of them.
struct SimulatedSeeds {
    let options: SimulateCommand.Options
    let recipe: Scenario.Recipe
    let faults: [Fault]?

    /// - Returns: how many have failed, in earlier processes of the same range, too.
    func run(_ progress: inout SeedProgress, _ io: CommandIO) throws -> Int {
        let first = progress.first(recipe, of: options.seeds)
        let before = progress.failures(recipe)
        guard first <= options.seeds.upperBound else {
            io.log.info("\(recipe.rawValue): all seeds of this range are done")
            try remind(before, io)
            return before.count
        }
        let (options, recipe, faults) = (options, recipe, faults)
        let range = SeedRange(
            first...options.seeds.upperBound, mostFound: options.failures,
            keepsTraces: options.trace
        ) {
            Scenario.drawn(
                $0, recipe, workers: options.workers, steps: options.steps, faults: faults)
        }
        let began = ContinuousClock.now
        var told = began
        let seconds = options.minutes.map { Double($0) * 60 / (options.recipe == nil ? 2 : 1) }
        let tally = try range.run(threads: options.threads) { tally in
            if ContinuousClock.now - told >= .seconds(10) {
                told = .now
                tell(tally, ContinuousClock.now - began, io)
                try progress.note(recipe, next: tally.next, failed: before + seeds(tally))
            }
            let isLate = seconds.map { ContinuousClock.now - began >= .seconds($0) } ?? false
            return !io.interrupt.isSet && !isLate
        }
        try progress.note(recipe, next: tally.next, failed: before + seeds(tally))
        for outcome in tally.traced {
            try io.print(outcome.trace.suffix(120).joined(separator: "\n"))
        }
        for outcome in tally.found { try report(outcome, io) }
        try summarize(tally, ContinuousClock.now - began, io)
        if io.interrupt.isSet { throw BenchError.interrupted }
        try remind(before, io)
        return before.count + tally.found.count
    }

    private func seeds(_ tally: SeedRange.Tally) -> [UInt64] {
        tally.found.map(\.scenario.seed)
    }

    /// Seeds that failed in an earlier process of the same range.
    private func remind(_ failed: [UInt64], _ io: CommandIO) throws {
        guard !failed.isEmpty, !options.json else { return }
        try io.print(
            "\(recipe.rawValue): failed before: " + failed.map { "\($0)" }.joined(separator: ", "))
    }

    private func tell(_ tally: SeedRange.Tally, _ time: Duration, _ io: CommandIO) {
        let left = Double(options.seeds.upperBound - tally.next + 1)
        let rate = Double(tally.done) / max(0.001, time / .seconds(1))
        io.log.info(
            "\(recipe.rawValue): \(tally.done) seeds, \(tally.found.count) failed, "
                + "\(Figures.fixed(rate, 1)) a second, \(Int(left / max(0.001, rate))) s left")
        // The longest of 100,000 takes some seconds.
        for (seed, since) in tally.running where .now - since > .seconds(60) {
            io.log.warning("\(recipe.rawValue): seed \(seed) has run for more than 60 s")
        }
    }

    /// What must not be, the last of what happened, and a smaller run that does it, too.
    private func report(_ outcome: Simulation.Outcome, _ io: CommandIO) throws {
        if !options.shrinks || outcome.isUnsteady { return try tell(outcome, io) }
        // Before anything else can fail, or take its time.
        if !options.json { try tell(outcome, io) }
        io.log.info(
            "\(recipe.rawValue): seed \(outcome.scenario.seed) has failed; looking for less")
        var shrinking = Shrinking { scenario in
            try !io.interrupt.isSet && !Simulation.run(scenario).violations.isEmpty
        }
        let smallest = try shrinking.smallest(of: outcome.exact)
        let small = try Simulation.run(smallest, keepsTrace: true)
        let path = "seed-\(outcome.scenario.seed)-\(recipe.rawValue).faults"
        try AtomicFile.write(
            smallest.faults.map { $0.description + "\n" }.joined(), to: path)
        let again = smallest.command + " --faults \(path)"
        if options.json {
            return try io.print(json: [
                ("seed", .integer(Int(outcome.scenario.seed))), ("recipe", .text(recipe.rawValue)),
                ("violations", .list(outcome.violations.map { .text($0) })),
                ("command", .text(outcome.scenario.command)), ("smallest", .text(again)),
                ("faults", .list(smallest.faults.map(\.json))),
            ])
        }
        try io.print("the smallest that fails: \(again)")
        for fault in smallest.faults { try io.print("  \(fault)") }
        for violation in small.violations { try io.print("  \(violation)") }
        try io.print("the last of it:")
        for line in small.trace.suffix(60) { try io.print("  \(line)") }
    }

    /// What must not be.
    private func tell(_ outcome: Simulation.Outcome, _ io: CommandIO) throws {
        if options.json {
            return try io.print(json: [
                ("seed", .integer(Int(outcome.scenario.seed))), ("recipe", .text(recipe.rawValue)),
                ("violations", .list(outcome.violations.map { .text($0) })),
                ("command", .text(outcome.scenario.command)),
            ])
        }
        try io.print("FAILED: \(outcome.scenario.command)")
        for violation in outcome.violations { try io.print("  \(violation)") }
    }

    private func summarize(
        _ tally: SeedRange.Tally, _ time: Duration, _ io: CommandIO
    ) throws {
        let seconds = time / .seconds(1)
        if options.json {
            return try io.print(json: [
                ("recipe", .text(recipe.rawValue)), ("seeds", .integer(tally.done)),
                ("next", .integer(Int(tally.next))), ("failed", .integer(tally.found.count)),
                ("seconds", .decimal(seconds)), ("simulated_seconds", .decimal(tally.seconds)),
                ("events", .integer(tally.events)),
                (
                    "counts",
                    .fields(tally.counts.sorted { $0.key < $1.key }.map { ($0, .integer($1)) })
                ),
                (
                    "fullness",
                    .fields(tally.fullness.sorted { $0.key < $1.key }.map { ($0, .decimal($1)) })
                ),
            ])
        }
        let table = tally.counts.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        try io.print(
            "\(recipe.rawValue): \(tally.done) seeds in \(Figures.fixed(seconds, 1)) s, "
                + "\(Figures.fixed(Double(tally.done) / max(0.001, seconds), 1)) a second, "
                + "\(tally.found.count) failed")
        try io.print("  " + table.joined(separator: "; "))
        let bounds = tally.fullness.sorted { $0.key < $1.key }.map { "\($0): \(Int($1 * 100)) %" }
        try io.print("  the most of what is bounded: " + bounds.joined(separator: "; "))
    }
}
