import Foundation
import SkeinBasics
import SkeinTraining
import Testing

@testable import SkeinSimulation

/// Whole runs in one process after the other, on a disk that fails.
@Suite("runs on a disk that fails")
struct FailingDiskTests {
    private struct Case {
        let simulated: SimulatedJob
        let outcome: TrainingLoop.Outcome
        let files: RunFiles

        init(_ number: Int) throws {
            simulated = try SimulatedJob.judged.get()[number]
            let disk = SimulatedDisk(seed: 0)
            outcome = try simulated.straight(in: disk.opened())
            files = try RunFiles(disk, directory: "/run")
        }

        /// One process, to its end.
        func lives(on disk: SimulatedDisk) throws -> TrainingLoop.Outcome {
            let process = disk.opened()
            defer { process.end() }
            return try simulated.straight(in: process)
        }
    }

    @Test(
        "an error of the disk ends the process with one that says so, and the next ones finish the run",
        arguments: [0, 1])
    func errors(number: Int) throws {
        let run = try Case(number)
        var failures: [String: Int] = [:]
        var counts: [DiskFaults.Kind: Int] = [:]
        for seed in 1...100 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            var outcome: TrainingLoop.Outcome?
            var last = ""
            for life in 0..<24 where outcome == nil {
                disk.faults.chances = [.shortWrite: 0.1, .shortRead: 0.1, .interruption: 0.05]
                // A process ends at the first call that finds none; the last ones find some.
                disk.faults.callsWithoutSpace = life < 8 ? disk.faults.callsWithoutSpace : 0
                if life < 8 {
                    let kinds: [DiskFaults.Kind] = [.noSpace, .writeError, .flushError, .readError]
                    disk.faults.chances[kinds[life % kinds.count]] = 0.01
                }
                do {
                    outcome = try run.lives(on: disk)
                } catch let error as any Explained {
                    failures["\(error.explanation.what)", default: 0] += 1
                    last = "\(error)"
                }
                // After a flush that failed, what it was to write is lost with the power.
                if seed % 2 == 0, disk.faults.counts[.flushError] == nil { disk.losePower() }
            }
            disk.faults.chances = [:]
            let found = try RunFiles(disk, directory: "/run")
            let isSame = outcome == run.outcome && found == run.files
            #expect(isSame, "seed \(seed): \(outcome == run.outcome), \(last)")
            counts.merge(disk.faults.counts) { $0 + $1 }
        }
        for kind in [
            DiskFaults.Kind.noSpace, .writeError, .flushError, .readError, .shortWrite,
        ] {
            #expect(counts[kind, default: 0] > 5, "\(kind)")
        }
        #expect(failures.values.reduce(0, +) > 100, "\(failures)")
    }

    @Test(
        "where flushes lied until power was lost, the run is the same, or a typed error says why not",
        arguments: [0, 1])
    func lies(number: Int) throws {
        let run = try Case(number)
        var (same, refused) = (0, 0)
        for seed in 1...200 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            disk.faults.liesAboutFlushes = seed % 2 == 0
            disk.faults.chances[.lostFlush] = 0.3
            let process = disk.opened(dyingAfter: (Int(seed) * 3, .change))
            do {
                _ = try run.simulated.straight(in: process)
            } catch is ProcessDied {
            } catch {
                // It died while it read, as the part that noticed it calls it.
                #expect(process.isDead, "\(error)")
            }
            process.end()
            disk.losePower()
            disk.faults = DiskFaults()
            do {
                let outcome = try run.lives(on: disk)
                let found = try RunFiles(disk, directory: "/run")
                // What of the ledger is lost behind a checkpoint is told, and is not computed again.
                let isTold =
                    try Ledger.verify(
                        ledger: "/run/ledger.jsonl", metrics: "/run/metrics.jsonl",
                        in: disk.opened().store
                    ).findingCount > 0
                let isSame =
                    outcome == run.outcome && found.adapter == run.files.adapter
                    && (isTold || found == run.files)
                let differences = [
                    outcome == run.outcome, found.adapter == run.files.adapter,
                    found.ledger == run.files.ledger, found.metrics == run.files.metrics,
                ]
                let lost = run.files.metrics.filter { !found.metrics.contains($0) }
                let more = found.metrics.filter { !run.files.metrics.contains($0) }
                #expect(
                    isSame,
                    """
                    seed \(seed): outcome, adapter, ledger, metrics are the same: \(differences); \
                    lost \(lost), more \(more)
                    ledger \(found.ledger.count) \(run.files.ledger.count) \
                    \(Set(found.ledger).count) metrics \(found.metrics.count) \
                    \(run.files.metrics.count)
                    """)
                same += 1
            } catch is any Explained {
                refused += 1
            }
        }
        #expect(same > 50, "\(same) the same, \(refused) refused")
    }

    @Test(
        "a bad sector in the best step's checkpoint does not end a resume while the adapter is there",
        arguments: [0, 1])
    func badSector(number: Int) throws {
        let run = try Case(number)
        let disk = SimulatedDisk(seed: 1)
        #expect(try run.lives(on: disk) == run.outcome)
        #expect(run.outcome.keptStep < run.outcome.step)
        let step = String(run.outcome.keptStep)
        let path = "/run/checkpoints/step-" + String(repeating: "0", count: 6 - step.count) + step
        disk.spoil(path + "/optimizer.safetensors")
        #expect(try run.lives(on: disk) == run.outcome)
        #expect(try RunFiles(disk, directory: "/run") == run.files)
        let store = disk.opened().store
        try store.remove("/run/adapter")
        let error = TrainingError.unreadableCheckpoint(
            path: path, file: "optimizer.safetensors", code: EIO)
        #expect(throws: error) { try run.lives(on: disk) }
        // The newest one, without which the run would go back: not by itself.
        disk.spoil(
            "/run/checkpoints/" + (try #require(store.names(in: "/run/checkpoints").max()))
                + "/state.json")
        let newest = #expect(throws: TrainingError.self) { try run.lives(on: disk) }
        guard case .unreadableCheckpoint(_, "state.json", _)? = newest else {
            Issue.record("\(String(describing: newest))")
            return
        }
    }

    @Test("an adapter with other bytes than were written is written again", arguments: [0, 1])
    func rot(number: Int) throws {
        let run = try Case(number)
        let disk = SimulatedDisk(seed: 1)
        #expect(try run.lives(on: disk) == run.outcome)
        var paths: Set<String> = []
        while !paths.contains("/run/adapter/adapter_model.safetensors") {
            paths.insert(try #require(disk.rot(below: "/run/adapter")))
        }
        #expect(try RunFiles(disk, directory: "/run").adapter != run.files.adapter)
        #expect(try run.lives(on: disk) == run.outcome)
        #expect(try RunFiles(disk, directory: "/run") == run.files)
    }
}
