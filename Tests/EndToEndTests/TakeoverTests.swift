import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// A process that was stopped while another one took its run over: a network file system forgets
/// the locks of a host that does not answer.
@Suite("takeovers", .ownThreads)
struct TakeoverTests {
    /// Seconds of steps after the one that a test waits for, however late it learns of that.
    private static let run = [
        "--epochs", "40", "--micro-batch-tokens", "1", "--checkpoint-every", "5",
    ]
    private static let steps = 320
    private static let sentence = "has taken over this directory: its term is "

    private func coordinator(
        _ bench: Workbench, _ output: String, _ more: [String] = []
    ) throws -> SkeinProcess {
        let words = bench.trainWords(output, Self.run + more).dropFirst()
        return try SkeinProcess(
            ["coordinator", "--listen", "127.0.0.1:0", "--local-workers", "1"] + words,
            isHeld: true)
    }

    private func steps(_ bench: Workbench, _ output: String) -> Int {
        let data = FileManager.default.contents(atPath: bench.path(output) + "/metrics.jsonl")
        return (data ?? Data()).split(separator: 0x0A).count {
            $0.contains("\"loss_tokens\"".utf8)
        }
    }

    /// Stops `first` after some steps, takes its lock away, and has `second` finish the run; the first
    /// one then goes on.
    private func takeOver(
        _ bench: Workbench, _ output: String, from first: SkeinProcess,
        by second: () throws -> SkeinProcess
    ) throws {
        try first.wait(SkeinProcess.patience, for: "steps") { steps(bench, output) >= 7 }
        first.send(SIGSTOP)
        let lock = bench.path(output) + "/.lock"
        try FileManager.default.moveItem(atPath: lock, toPath: lock + "-lost")
        let newcomer = try second()
        let ending = try newcomer.wait()
        #expect(ending.status == 0, "\(ending.error)")
        let done = try bench.digests(of: output)
        first.send(SIGCONT)
        let woken = try first.wait()
        Complaint(69, Self.sentence, "writes nothing more").check(woken)
        // The files are the second's alone, and so is the lock.
        #expect(try bench.digests(of: output) == done)
        #expect(try bench.result(of: output) == bench.result(of: "quiet"))
        try verifyLedger(bench, of: output, steps: Self.steps)
        // The run is over, and can be looked at and resumed as any other.
        #expect(try SkeinProcess.run(bench.trainWords(output, Self.run + ["--resume"])).status == 0)
    }

    @Test("a coordinator that was stopped while another took over writes nothing more, and says so")
    func coordinators() throws {
        try Workbench.with { bench in
            try bench.train("quiet", Self.run)
            try takeOver(bench, "run", from: coordinator(bench, "run")) {
                try coordinator(bench, "run", ["--resume"])
            }
        }
    }

    @Test("the same of train, beside a coordinator, and the other way round")
    func train() throws {
        try Workbench.with { bench in
            try bench.train("quiet", Self.run)
            try takeOver(
                bench, "one", from: try SkeinProcess(bench.trainWords("one", Self.run))
            ) { try coordinator(bench, "one", ["--resume"]) }
            try takeOver(bench, "two", from: coordinator(bench, "two")) {
                try SkeinProcess(bench.trainWords("two", Self.run + ["--resume"]))
            }
        }
    }

    @Test("a rank 0 that wakes up leaves the other one's address alone")
    func joined() throws {
        try Workbench.with { bench in
            func task(_ more: [String] = []) throws -> SkeinProcess {
                try SkeinProcess(
                    [
                        "join", "--task-rank", "0", "--task-count", "1", "--threads", "1",
                    ] + bench.trainWords("run", Self.run + more).dropFirst(), isHeld: true)
            }
            try bench.train("quiet", Self.run)
            let first = try task()
            try takeOver(bench, "run", from: first) {
                let lock = bench.path("run/join/.lock")
                try FileManager.default.moveItem(atPath: lock, toPath: lock + "-lost")
                return try task()
            }
            #expect(try bench.text(bench.path("run/join/address.json")).contains("complete"))
        }
    }
}
