import Foundation
import TestSupport
import Testing

/// Ctrl-C and SIGTERM: once for an end with a checkpoint, twice for an end at once.
@Suite("interrupts")
struct InterruptTests {
    /// Seconds of steps behind the one that a test waits for, however late it learns of it.
    private let run = ["--epochs", "100", "--checkpoint-every", "0", "--threads", "2"]

    @Test(
        "one signal ends after the step with its checkpoint and status 130",
        arguments: [
            SIGINT, SIGTERM,
        ])
    func once(signal: Int32) throws {
        try Workbench.with { bench in
            try bench.train("whole", run)
            let process = try SkeinProcess(bench.trainWords("run", run))
            try process.waitForError("step 11/")
            #if os(Linux)
                // What `ps` and `pgrep` look for.
                let called = FileManager.default.contents(
                    atPath: "/proc/\(process.identifier)/comm")
                #expect(called == Data("skein\n".utf8))
            #endif
            process.send(signal)
            let ending = try process.wait()
            Complaint(130, "interrupted after step", "--resume").check(ending)
            #expect(ending.error.contains("again to stop at once"))

            let metrics = try bench.metrics(of: "run").filter { $0.contains("\"loss\"") }
            let checkpoints = try FileManager.default.contentsOfDirectory(
                atPath: bench.path("run/checkpoints"))
            let name = "step-" + String(format: "%06d", metrics.count)
            #expect(checkpoints.contains(name), "\(checkpoints) after \(metrics.count) steps")
            #expect((11..<800).contains(metrics.count))
            try verifyLedger(bench, of: "run", steps: metrics.count)

            let last = try bench.train("run", run + ["--resume"])
            #expect(last.error.contains("resuming after step \(metrics.count)"))
            #expect(try bench.result(of: "run") == bench.result(of: "whole"))
        }
    }

    @Test("the second signal ends at once, even while nobody reads what the run writes")
    func twice() throws {
        try Workbench.with { bench in
            // Standard error is a pipe that nobody reads and that is nearly full: after some lines
            // the run hangs in the middle of a step.
            let pipe = bench.path("pipe")
            let shell =
                "mkfifo '\(pipe)'; exec 2<>'\(pipe)'; head -c 58000 /dev/zero >&2; exec \"$@\""
            let endless = ["--epochs", "100000", "--threads", "2"]
            let process = try SkeinProcess(bench.trainWords("run", endless), shell: shell)
            try waitUntilStuck {
                FileManager.default.contents(atPath: bench.path("run/metrics.jsonl"))
            }
            process.send(SIGINT)
            Thread.sleep(forTimeInterval: 0.2)
            #expect(process.isRunning)
            process.send(SIGINT)
            let ending = try process.wait(seconds: 10)
            #expect(ending.status == 130)
            #expect(!ending.wasKilled)

            let again = try SkeinProcess(bench.trainWords("run", endless + ["--resume"]))
            try again.waitForError("/800000")
            #expect(again.errorText.contains("resuming"))
            again.send(SIGKILL)
            let resumed = try again.wait()
            #expect(resumed.wasKilled, "\(resumed.error)")
        }
    }

    /// Blocks until a file is there and has not grown for half a second.
    private func waitUntilStuck(_ contents: () -> Data?) throws {
        var last = contents()
        for _ in 0..<120 {
            Thread.sleep(forTimeInterval: 0.5)
            let now = contents()
            if let now, !now.isEmpty, now == last { return }
            last = now
        }
        Issue.record("the run never got stuck")
    }
}
