import SkeinTraining
import Testing

@testable import SkeinSimulation

/// A run that becomes longer, where its last step was validated for the former end alone.
@Suite("longer runs of a process that dies")
struct LongerRunDeathTests {
    /// What is left, without what names the options, as they were then.
    private func files(_ disk: SimulatedDisk) throws -> RunFiles {
        var files = try RunFiles(disk, directory: "/run")
        files.ledger = files.ledger.map { line in
            line.hasPrefix("{")
                ? line.replacing(/"inputs_sha256":"[0-9a-f]*"/, with: "")
                : String(line.prefix(upTo: line.lastIndex(of: " ") ?? line.endIndex))
        }
        return files
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
            _ = try lives(simulated, disk.opened(dyingAfter: (count, .change)) { hasDied = true })
        } catch {
            // A death has many names.
            if !hasDied { Issue.record("\(error)") }
        }
        return hasDied
    }

    @Test(
        "wherever the shorter run dies, or the longer one does, twice: what is left is the longer run's",
        arguments: [0, 1])
    func deaths(number: Int) throws {
        let (shorter, longer) = try SimulatedJob.lengthened.get()[number]
        let disk = SimulatedDisk(seed: 0)
        let whole = try lives(longer, disk.opened())
        let expected = try files(disk)
        #expect(whole.step == 14 && whole.isComplete)
        var deaths = 0
        for isShorter in [true, false] {
            var count = 0
            while true {
                let disk = SimulatedDisk(seed: UInt64(count))
                if !isShorter { _ = try lives(shorter, disk.opened()) }
                guard dies(isShorter ? shorter : longer, disk, after: count + 1) else { break }
                count += 1
                if count % 2 == 0 { disk.losePower() }
                _ = dies(longer, disk, after: 1 + count * 7 % 150)
                let outcome = try lives(longer, disk.opened())
                let found = try files(disk)
                let isSame = outcome == whole && found == expected
                #expect(isSame, "death \(count), \(isShorter): \(outcome), \(found.metrics)")
                if !isSame { return }
            }
            deaths += count
        }
        #expect(deaths > 300, "\(deaths) deaths")
    }
}
