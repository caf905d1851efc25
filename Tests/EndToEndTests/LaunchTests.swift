import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// `skein launch --local`: one command, whichever of its children die, and none left behind.
@Suite("launch", .ownThreads)
struct LaunchTests {
    private let run = ["--epochs", "40", "--checkpoint-every", "5"]
    private let steps = 320
    /// A round begins with both, so a killed worker must have come back for it.
    private let both = ["--min-workers", "2"]

    /// A launch and what it started.
    private struct Launch {
        let process: SkeinProcess

        init(_ bench: Workbench, _ output: String, _ options: [String]) throws {
            process = try SkeinProcess(
                [
                    "launch", "--local", "2", "--threads", "1", "--model", bench.model, "--data",
                    bench.data, "--output", bench.path(output),
                ] + TrainingConfiguration.fixedWords + options)
        }

        var children: [Int32] {
            ProcessTree.children(of: process.identifier).map(\.identifier)
        }

        /// The one child whose command line has `word`.
        func child(
            _ word: String, sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> Int32 {
            let found = ProcessTree.children(of: process.identifier).filter {
                $0.words.contains(word)
            }
            try #require(
                found.count == 1, "\(word): \(found)\n\(process.errorText)",
                sourceLocation: sourceLocation)
            return found[0].identifier
        }

        func waitForStep(_ step: Int) throws {
            try process.waitForError("[coordinator] step \(step)/")
            try #require(process.isRunning, "\(process.errorText)")
        }
    }

    /// Blocks until none of these processes is left.
    private func expectGone(
        _ processes: [Int32],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let deadline = ContinuousClock.now + .seconds(SkeinProcess.patience)
        while processes.contains(where: ProcessTree.isAlive), ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.01)
        }
        let left = processes.filter(ProcessTree.isAlive)
        #expect(left.isEmpty, sourceLocation: sourceLocation)
        for process in left { kill(process, SIGKILL) }
    }

    @Test("one command gives the bytes of a run in one process, and leaves no process behind")
    func oneHash() throws {
        try Workbench.with { bench in
            try bench.train("alone", run)
            let launch = try Launch(bench, "launched", run)
            try launch.waitForStep(2)
            let children = launch.children
            #expect(children.count == 3, "\(launch.process.errorText)")
            let ending = try launch.process.wait()
            #expect(ending.status == 0, "\(ending.error)")
            expectGone(children)
            #expect(ending.output.contains("sha256: "))
            #expect(try bench.result(of: "launched") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "launched", steps: steps)
            let token = try FileManager.default.attributesOfItem(
                atPath: bench.path("launched/token"))
            #expect(token[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("one Ctrl-C ends all processes with a checkpoint, and --resume continues")
    func interrupted() throws {
        try Workbench.with { bench in
            try bench.train("alone", run)
            let launch = try Launch(bench, "stopped", run)
            try launch.waitForStep(7)
            let children = launch.children
            launch.process.send(SIGINT)
            let ending = try launch.process.wait()
            Complaint(130, "--resume").check(ending)
            expectGone(children)
            let done = try bench.metrics(of: "stopped").filter { $0.contains("\"loss\"") }.count
            #expect((7..<steps).contains(done))
            let checkpoints = try FileManager.default.contentsOfDirectory(
                atPath: bench.path("stopped/checkpoints"))
            let name = "step-" + String(format: "%06d", done)
            #expect(checkpoints.contains(name), "\(checkpoints) after \(done) steps")

            let again = try Launch(bench, "stopped", run + ["--resume"])
            let last = try again.process.wait()
            #expect(last.status == 0, "\(last.error)")
            #expect(try bench.result(of: "stopped") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "stopped", steps: steps)
        }
    }

    @Test(
        "a killed child is restarted, and the bytes are the same",
        arguments: ["w1", "coordinator"])
    func killedChild(name: String) throws {
        try Workbench.with { bench in
            let run = run + both
            try bench.train("alone", run)
            let launch = try Launch(bench, "killed", run)
            for step in [6, 30] {
                try launch.waitForStep(step)
                kill(try launch.child(name), SIGKILL)
            }
            let ending = try launch.process.wait()
            #expect(ending.status == 0, "\(ending.error)")
            #expect(ending.error.contains("\(name) ended with signal 9; restarting in"))
            #expect(try bench.result(of: "killed") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "killed", steps: steps)
        }
    }

    @Test("a launch whose parent ignores the ends of children sees how its own end")
    func ignoredChildren() throws {
        try Workbench.with { bench in
            // Bash hands it on; not every sh does.
            let process = try SkeinProcess(
                [
                    "launch", "--local", "1", "--model", bench.path("nothing"), "--data",
                    bench.data, "--output", bench.path("refused"),
                ], shell: #"exec bash -c 'trap "" CHLD; exec "$@"' bash "$@""#)
            let ending = try process.wait()
            #expect(ending.error.contains("[coordinator] error: "), "\(ending.error)")
            #expect(ending.status == ExitStatus.badData.rawValue, "\(ending.error)")
        }
    }

    @Test("when launch itself is killed its children end by themselves")
    func killedLaunch() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "100000", "--checkpoint-every", "5"]
            let launch = try Launch(bench, "orphaned", run)
            try launch.process.waitForError("  checkpoint ")
            let children = launch.children
            #expect(children.count == 3)
            launch.process.send(SIGKILL)
            _ = try launch.process.wait()
            expectGone(children)
            // The directory is free: another launch may go on at once.
            let again = try Launch(bench, "orphaned", run + ["--resume"])
            try again.process.waitForError("resuming after step")
            try again.process.waitForError("[coordinator] step ")
            let others = again.children
            again.process.send(SIGINT)
            #expect(try again.process.wait().status == 130)
            expectGone(others)
        }
    }
}
