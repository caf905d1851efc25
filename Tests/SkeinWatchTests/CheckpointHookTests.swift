import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinWatch

@Suite("commands after checkpoints", .ownThreads)
struct CheckpointHookTests {
    private func lines(_ command: String, _ body: (CheckpointHook) throws -> Void) rethrows
        -> [String]
    {
        let said = Condition<[String]>([])
        let log = Log { level, text in
            said.change { $0.append(level == .info ? text : "warning: " + text) }
        }
        let hook = CheckpointHook(command: command, output: "run", log: log)
        try body(hook)
        hook.finish()
        return said.change { $0 }
    }

    @Test("the command sees the step, its checkpoint and the run, and its lines are logged")
    func environment() {
        let said = lines("echo $SKEIN_STEP $SKEIN_CHECKPOINT $SKEIN_OUTPUT; echo oops >&2") {
            $0.run(step: 7, path: "run/checkpoints/step-000007")
        }
        #expect(
            said == ["on-checkpoint: 7 run/checkpoints/step-000007 run", "on-checkpoint: oops"])
    }

    @Test("what floods the log is cut, and what stays in the background is not waited for")
    func flood() {
        #expect(
            lines("printf '\\033[2Jx'") { $0.run(step: 1, path: "p") } == [
                "on-checkpoint: \u{FFFD}[2Jx"
            ])
        let said = lines("i=0; while [ $i -lt 1000 ]; do echo $i; i=$((i+1)); done") {
            $0.run(step: 1, path: "p")
        }
        #expect(said.count == 201 && said.last == "on-checkpoint: (further lines are left out)")
        // The line comes first: what floods beside it might leave no room.
        let background = lines("echo $SKEIN_STEP; yes x &") { hook in
            hook.run(step: 1, path: "p")
        }
        #expect(background.contains("on-checkpoint: 1"))
        #expect(!background.contains { $0.contains("still runs") })
        #expect(background.count <= 201)
    }

    @Test("a failure is a warning")
    func failure() {
        #expect(
            lines("exit 3") { $0.run(step: 1, path: "p") } == [
                "warning: the command of --on-checkpoint for step 1 ended with status 3"
            ])
        let killed = lines("kill -9 $$") { $0.run(step: 1, path: "p") }
        #expect(killed.first?.contains("signal 9") == true)
    }

    @Test("while one runs the newest waits, the others are left out, and the last one is run")
    func newest() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (began, gate) = (directory + "/began", directory + "/gate")
            let command =
                "touch \(began); while [ ! -e \(gate) ]; do sleep 0.02; done; echo $SKEIN_STEP"
            let said = lines(command) { hook in
                hook.run(step: 1, path: "p")
                while !FileManager.default.fileExists(atPath: began) { usleep(10_000) }
                for step in 2...4 { hook.run(step: step, path: "p") }
                #expect(FileManager.default.createFile(atPath: gate, contents: nil))
            }
            #expect(
                said.filter { $0.hasPrefix("on-checkpoint") } == [
                    "on-checkpoint: 1", "on-checkpoint: 4",
                ])
            #expect(said.count { $0.contains("left out") } == 2)
        }
    }

    @Test("long lines are cut, and what stays in the background is not waited for")
    func output() {
        let said = lines("head -c 5000 /dev/zero | tr '\\0' x; echo; sleep 3 & echo done") {
            $0.run(step: 1, path: "p")
        }
        #expect(said.map(\.count) == ["on-checkpoint: ".count + 1000, "on-checkpoint: done".count])
    }
}
