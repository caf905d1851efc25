import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// A run that is killed at any moment and resumed ends with the bytes of an undisturbed run.
@Suite("kills", .ownThreads)
struct KillTests {
    /// Long enough for several kills, even if the test learns late of what it waits for, with
    /// frequent checkpoints.
    private let run = ["--epochs", "40", "--checkpoint-every", "3", "--threads", "2"]
    private let steps = 320

    @Test("killed at random moments and resumed each time, a run gives the same bytes")
    func randomMoments() throws {
        let seed =
            ProcessInfo.processInfo.environment["SKEIN_TEST_SEED"].flatMap { UInt64($0) }
            ?? UInt64(Date().timeIntervalSince1970 * 1000)
        print("kills: replay with SKEIN_TEST_SEED=\(seed)")
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        try Workbench.with { bench in
            try bench.train("whole", run)
            let expected = try bench.result(of: "whole")

            var kills = 0
            while kills < 30 {
                let process = try SkeinProcess(
                    bench.trainWords("killed", run + (kills == 0 ? [] : ["--resume"])))
                let words = random.block(UInt32(kills))
                // A quarter of the kills come before the first step, the others among the steps.
                if words.x % 4 > 0 { try waitForSteps(1 + Int(words.y % 24), of: process) }
                Thread.sleep(forTimeInterval: Double(words.z % 40) / 1000)
                process.send(SIGKILL)
                let ending = try process.wait()
                guard ending.wasKilled else {
                    #expect(ending.status == 0, "seed \(seed): \(ending.error)")
                    break
                }
                kills += 1
            }
            #expect(kills >= 3, "seed \(seed)")
            try bench.train("killed", run + ["--resume"])
            #expect(try bench.result(of: "killed") == expected, "seed \(seed)")
            #expect(
                try bench.metrics(of: "killed") == bench.metrics(of: "whole"), "seed \(seed)")
            try verifyLedger(bench, of: "killed", steps: steps)
            #expect(
                try bench.bytes(bench.path("killed/ledger.jsonl"))
                    == bench.bytes(bench.path("whole/ledger.jsonl")))
        }
    }

    /// Blocks until a process has printed `count` lines of steps, or has ended.
    private func waitForSteps(_ count: Int, of process: SkeinProcess) throws {
        let deadline = ContinuousClock.now + .seconds(SkeinProcess.patience)
        while process.isRunning,
            process.errorText.split(separator: "\n").count(where: { $0.hasPrefix("step ") }) < count
        {
            try #require(ContinuousClock.now < deadline, "\(process.errorText)")
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    /// What a kill can leave on disk, made by hand from a run that was killed in its middle: these
    /// moments are too short for timed kills to hit them all.
    @Test("whatever a kill leaves behind, the resumed run gives the same bytes")
    func leftovers() throws {
        try Workbench.with { bench in
            try bench.train("whole", run)
            let expected = try bench.result(of: "whole")
            let process = try SkeinProcess(bench.trainWords("middle", run))
            try process.waitForError("step 20/")
            process.send(SIGKILL)
            #expect(try process.wait().wasKilled)
            let stages: [(name: String, leave: (String) throws -> Void)] = [
                (
                    "ledger line without metrics line",
                    { run in
                        try append(
                            lastLine(run + "/ledger.jsonl", step: 311), to: run + "/ledger.jsonl")
                    }
                ),
                (
                    "torn ledger line",
                    { try append("{\"step\":312,\"mic", to: $0 + "/ledger.jsonl") }
                ),
                ("torn metrics line", { try append("{\"st", to: $0 + "/metrics.jsonl") }),
                (
                    "half a checkpoint",
                    { run in
                        let writing = run + "/checkpoints/.writing-step-000021"
                        try FileManager.default.createDirectory(
                            atPath: writing, withIntermediateDirectories: true)
                        try append("half", to: writing + "/adapter_model.safetensors.tmp-7")
                    }
                ),
                (
                    "half an adapter",
                    { run in
                        try FileManager.default.createDirectory(
                            atPath: run + "/adapter", withIntermediateDirectories: true)
                        try append("half", to: run + "/adapter/adapter_model.safetensors.tmp-7")
                    }
                ),
                ("half a run file", { try append("{", to: $0 + "/run.json.tmp-7") }),
            ]
            for (name, leave) in stages {
                try FileManager.default.copyItem(
                    atPath: bench.path("middle"), toPath: bench.path(name))
                try leave(bench.path(name))
                try bench.train(name, run + ["--resume"])
                #expect(try bench.result(of: name) == expected, "\(name)")
                try verifyLedger(bench, of: name, steps: steps)
                let names = try FileManager.default.subpathsOfDirectory(atPath: bench.path(name))
                #expect(!names.contains { $0.contains(".tmp-") || $0.contains(".writing") })
            }
        }
    }

    @Test("a damaged checkpoint is named and skipped, and does not outlive the good ones")
    func damagedCheckpoint() throws {
        try Workbench.with { bench in
            try bench.train("whole", run)
            let expected = try bench.result(of: "whole")
            let process = try SkeinProcess(bench.trainWords("run", run))
            try process.waitForError("step 20/")
            process.send(SIGKILL)
            #expect(try process.wait().wasKilled)

            let newest = try #require(try checkpoints(of: "run", bench).last)
            let file = bench.path("run/checkpoints/\(newest)/optimizer.safetensors")
            var bytes = try bench.bytes(file)
            bytes[bytes.count - 1] ^= 1
            try AtomicFile.write(bytes, to: file)
            // Another one is far ahead, where the run gets last. It must not count as the one to
            // keep, or the run has none left when it is killed again.
            try FileManager.default.copyItem(
                atPath: bench.path("run/checkpoints/\(newest)"),
                toPath: bench.path("run/checkpoints/step-000312"))
            let again = try SkeinProcess(
                bench.trainWords(
                    "run", run + ["--resume", "--keep-checkpoints", "1", "--checkpoint-every", "1"])
            )
            try again.waitForError("  checkpoint ")
            again.send(SIGKILL)
            let ending = try again.wait()
            #expect(ending.error.contains("optimizer.safetensors has a different SHA-256"))
            #expect(ending.error.contains(newest))

            let last = try bench.train("run", run + ["--resume"])
            #expect(!last.error.contains("resuming: no checkpoint"), "\(last.error)")
            #expect(try bench.result(of: "run") == expected)
            try verifyLedger(bench, of: "run", steps: steps)
        }
    }

    private func checkpoints(of output: String, _ bench: Workbench) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: bench.path(output + "/checkpoints")
        ).filter { $0.hasPrefix("step-") }.sorted()
    }

    private func append(_ text: String, to path: String) throws {
        let old = FileManager.default.contents(atPath: path) ?? Data()
        try AtomicFile.write(Array(old) + Array(text.utf8), to: path)
    }

    /// The last line of a ledger, changed to another step.
    private func lastLine(_ path: String, step: Int) throws -> String {
        let text = String(
            decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").last)
        let comma = try #require(line.firstIndex(of: ","))
        return "{\"step\":\(step)\(line[comma...])\n"
    }
}

/// Asks `skein inspect` for the proof that each micro-batch of each step was counted exactly once.
func verifyLedger(
    _ bench: Workbench, of output: String, steps: Int,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let ending = try SkeinProcess.run([
        "inspect", bench.path(output), "--verify-ledger", "--json",
    ])
    #expect(ending.status == 0, "\(ending.error)", sourceLocation: sourceLocation)
    let ledger = try Workbench.object(ending.output)["ledger"] as? [String: Any]
    #expect(ledger?["steps"] as? Int == steps, "\(ending.output)", sourceLocation: sourceLocation)
}
