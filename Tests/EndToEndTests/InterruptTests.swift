import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// Ctrl-C and SIGTERM: one ends the run with a checkpoint, two end it at once.
@Suite("interrupts", .ownThreads)
struct InterruptTests {
    /// Seconds of steps after the one that a test waits for, however late it learns of that.
    private let run = ["--epochs", "100", "--checkpoint-every", "0", "--threads", "2"]

    @Test("one signal ends the run after the step, with a checkpoint and status 130")
    func once() throws {
        try Workbench.with { bench in
            try bench.train("whole", run)
            // The same run, interrupted once by each.
            for (signal, more, text) in [
                (SIGINT, [], "step 11/"), (SIGTERM, ["--resume"], "\nstep "),
            ] {
                let process = try SkeinProcess(bench.trainWords("run", run + more))
                try process.waitForError(text)
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
            }

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

    @Test("a run goes on while its output is not read, and ends at the first signal")
    func unread() throws {
        try Workbench.with { bench in
            // Standard error is a pipe that is not read and that is nearly full.
            let pipe = bench.path("pipe")
            let shell =
                "mkfifo '\(pipe)'; exec 2<>'\(pipe)'; head -c 58000 /dev/zero >&2; exec \"$@\""
            let endless = ["--epochs", "100000", "--threads", "2"]
            let process = try SkeinProcess(bench.trainWords("run", endless), shell: shell)
            // More steps than the pipe has room for lines.
            let metrics = bench.path("run/metrics.jsonl")
            try FaultBench.wait(seconds: 120, for: "500 steps") {
                let data = FileManager.default.contents(atPath: metrics) ?? Data()
                return data.count { $0 == 0x0A } > 500 || !process.isRunning
            }
            process.send(SIGINT)
            let ending = try process.wait(seconds: 60)
            #expect(ending.status == 130)
            #expect(!ending.wasKilled)

            let again = try SkeinProcess(bench.trainWords("run", endless + ["--resume"]))
            try again.waitForError("/800000")
            #expect(again.errorText.contains("resuming after step"))
            again.send(SIGKILL)
            let resumed = try again.wait()
            #expect(resumed.wasKilled, "\(resumed.error)")
        }
    }
}
