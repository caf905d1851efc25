import SkeinTraining
import Testing

@testable import SkeinSimulation

/// A run that validates before its first step and between the ends of its epochs, and stops early by
/// accuracy.
@Suite("validations of a process that dies")
struct ValidationDeathTests {
    @Test(
        "wherever the process dies at its disk, twice: each validation stands once, and the best stays",
        arguments: [0, 1])
    func deaths(number: Int) throws {
        let simulated = try SimulatedJob.judged.get()[number]
        let disk = SimulatedDisk(seed: 0)
        let whole = try lives(simulated, disk.opened())
        // Otherwise this would prove little.
        #expect(whole.isComplete && whole.step < simulated.job.plan.stepCount)
        #expect(whole.keptStep < whole.step && whole.keptStep > 2)
        #expect(!simulated.job.validations.endsEpoch(whole.keptStep))
        let expected = try RunFiles(disk, directory: "/run")
        #expect(expected.metrics.filter { $0.hasPrefix("0 0 ") }.count == 1)
        #expect(expected.metrics.filter { $0.contains("\"sample\":\"after 0\"") }.count == 2)
        var deaths = 0
        while true {
            let disk = SimulatedDisk(seed: UInt64(deaths))
            guard dies(simulated, disk, after: deaths + 1) else { break }
            deaths += 1
            if deaths % 2 == 0 { disk.losePower() }
            // The next process dies, too, sooner or later; a third one may have nothing to do.
            _ = dies(simulated, disk, after: 1 + deaths * 7 % 150)
            let outcome = try lives(simulated, disk.opened())
            let found = try RunFiles(disk, directory: "/run")
            let isSame = outcome == whole && found == expected
            #expect(isSame, "death \(deaths): \(outcome), \(found.metrics)")
            if !isSame { return }
        }
        #expect(deaths > 300, "\(deaths) deaths")
    }

    /// One process, to its end.
    private func lives(
        _ simulated: SimulatedJob, _ process: SimulatedProcess
    ) throws -> TrainingLoop.Outcome {
        defer { process.end() }
        return try simulated.straight(in: process)
    }

    /// Whether a process dies that may make `count` calls that change its disk. A death at another call
    /// leaves what one at the next of these does.
    private func dies(_ simulated: SimulatedJob, _ disk: SimulatedDisk, after count: Int) -> Bool {
        var hasDied = false
        do {
            _ = try lives(
                simulated, disk.opened(dyingAfter: (count, .change)) { hasDied = true })
        } catch {
            // A death, as the part that noticed it calls it.
            if !hasDied { Issue.record("\(error)") }
        }
        return hasDied
    }
}
