import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinLaunch

/// Collects what a launch writes.
private final class Captured: Sendable {
    private struct Streams {
        var results: [UInt8] = []
        var errors = ""
    }

    private let streams = Mutex(Streams())

    var results: String { streams.withLock { String(decoding: $0.results, as: UTF8.self) } }
    var errors: String { streams.withLock { $0.errors } }

    var output: Launcher.Output {
        Launcher.Output(
            write: { bytes in self.streams.withLock { $0.results += bytes } },
            writeError: { text in self.streams.withLock { $0.errors += text } })
    }
}

/// Launch with shell scripts in place of `skein` and `ssh`.
@Suite struct LauncherTests {
    /// A plan to launch `workers` local workers, with the script `skein` in `directory`.
    private static func plan(_ directory: String, skein: String, workers: Int) throws -> LaunchPlan
    {
        let program = directory + "/skein"
        try ShellScript.write("cd '\(directory)'\n" + skein, at: program)
        return LaunchPlan(
            program: program, listen: "127.0.0.1:0", tokenFile: directory + "/token",
            coordinatorWords: [], resumes: false,
            workers: (0..<workers).map {
                LaunchPlan.Worker(
                    name: "w\($0 + 1)", program: program,
                    backend: LocalBackend(tokenFile: directory + "/token"))
            }, workerWords: [])
    }

    private static func run(
        _ plan: LaunchPlan, _ process: Captured, interrupts: @escaping () -> Int = { 0 }
    ) throws -> Supervision.Verdict {
        var launcher = Launcher(
            plan, computesLocally: false, output: process.output, interruptCount: interrupts)
        return try launcher.run()
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    @Test("results are passed on, lines get names, and workers learn the address")
    func passesOn() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plan = try Self.plan(
                directory,
                skein: """
                    if [ "$1" = coordinator ]; then
                        echo 'listening on 127.0.0.1:40011' >&2
                        while [ ! -e w1 ] || [ ! -e w2 ]; do sleep 0.02; done
                        echo 'sha256: abc'; printf 'no end' >&2
                    else
                        shift 2; echo "dials $1"; echo is "$3" >&2; : >"$3"
                    fi
                    """, workers: 2)
            let process = Captured()
            #expect(try Self.run(plan, process) == .coordinator(.exited(0)))
            #expect(process.results == "sha256: abc\n")
            let lines = Set(process.errors.split(separator: "\n").map(String.init))
            #expect(
                lines == [
                    "[coordinator] listening on 127.0.0.1:40011", "[w1] dials 127.0.0.1:40011",
                    "[w2] dials 127.0.0.1:40011", "[w1] is w1", "[w2] is w2",
                    "[coordinator] no end",
                ])
        }
    }

    @Test("dead children are restarted; the coordinator on its old port, with --resume")
    func comeBack() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plan = try Self.plan(
                directory,
                skein: """
                    echo "$@" >>log
                    if [ "$1" = worker ]; then
                        [ -e worker ] || { : >worker; kill -9 $$; }
                        : >worked; while [ ! -e done ]; do sleep 0.02; done; exit 0
                    fi
                    echo 'listening on 127.0.0.1:40012' >&2
                    while [ ! -e worked ]; do sleep 0.02; done
                    [ -e coordinator ] || { : >coordinator; kill -9 $$; }
                    : >done
                    """, workers: 1)
            let process = Captured()
            #expect(try Self.run(plan, process) == .coordinator(.exited(0)))
            let token = "--token-file \(directory)/token"
            let worker = "worker --coordinator 127.0.0.1:40012 --name w1 \(token)"
            #expect(
                Self.text(directory + "/log") == """
                    coordinator --listen 127.0.0.1:0 \(token)
                    \(worker)
                    \(worker)
                    coordinator --listen 127.0.0.1:40012 \(token) --resume

                    """)
            #expect(
                process.errors.contains(
                    "[launch] w1 ended with signal 9; restarting in 500 ms (1 of 5)\n"))
        }
    }

    @Test("a worker that never joined is given up with its error; one that did is restarted")
    func givesUp() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plan = try Self.plan(
                directory,
                skein: """
                    if [ "$5" = w1 ]; then
                        printf 'error: no such model\\n  at: m\\n  fix: give one\\n' >&2; exit 65
                    elif [ "$5" = w2 ]; then
                        [ -e joined ] || { : >joined; sleep 0.05; }
                        [ -e died ] || { while [ ! -e told ]; do sleep 0.02; done; : >died; exit 127; }
                        : >back; exit 0
                    fi
                    echo 'listening on 127.0.0.1:40016' >&2
                    while [ ! -e joined ]; do sleep 0.02; done
                    echo 'worker w2 (127.0.0.1:5) joins with 1 thread' >&2
                    : >told
                    while [ ! -e back ]; do sleep 0.02; done
                    """, workers: 2)
            let process = Captured()
            #expect(try Self.run(plan, process) == .coordinator(.exited(0)))
            let error = process.errors
            #expect(
                error.contains(
                    "[launch] w1 ended with status 65 and is not restarted; its last words: "
                        + "error: no such model\n"), "\(error)")
            #expect(
                error.contains(
                    "[launch] w2 ended with status 127; restarting in 500 ms (attempt 1, "
                        + "no limit)\n"), "\(error)")
        }
    }

    @Test("a worker whose program is away for a while is tried again, and the others go on")
    func programAway() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var plan = try Self.plan(
                directory,
                skein: """
                    echo 'listening on 127.0.0.1:40017' >&2
                    while [ ! -e joined ]; do sleep 0.02; done
                    echo 'worker w1 (127.0.0.1:5) joins with 1 thread' >&2
                    : >told
                    while [ ! -e back ]; do sleep 0.02; done
                    """, workers: 0)
            let program = directory + "/worker"
            try ShellScript.write(
                """
                cd '\(directory)'
                if [ -e joined ]; then : >back; exit 0; fi
                : >joined
                while [ ! -e told ]; do sleep 0.02; done
                mv worker away; kill -9 $$
                """, at: program)
            plan.workers = [
                LaunchPlan.Worker(
                    name: "w1", program: program,
                    backend: LocalBackend(tokenFile: directory + "/token"))
            ]
            let process = Captured()
            let verdict = try Self.run(plan, process) {
                // Back once it was missed; nothing is there to be moved a second time.
                if process.errors.contains("w1 ended with status 127") {
                    rename(directory + "/away", program)
                }
                return 0
            }
            #expect(verdict == .coordinator(.exited(0)))
            for line in [
                "[launch] w1 ended with signal 9; restarting in 500 ms (attempt 1, no limit)",
                "[launch] w1 ended with status 127; restarting in 1.00 s (attempt 2, no limit)",
            ] {
                #expect(process.errors.contains(line + "\n"), "\(process.errors)")
            }
        }
    }

    @Test("a child that the system has forgotten counts as ended")
    func forgottenChild() throws {
        let child = try ChildProcess.start(["true"])
        defer { child.closeStreams() }
        // What the system does by itself where SIGCHLD is ignored.
        var status: Int32 = 0
        #expect(waitpid(child.identifier, &status, 0) == child.identifier)
        #expect(child.ending() == .exited(ExitStatus.internalError.rawValue))
    }

    @Test("one Ctrl-C stops the coordinator in good order and reaps all; its status is reported")
    func interrupt() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plan = try Self.plan(
                directory,
                skein: """
                    echo $$ >>identifiers
                    if [ "$1" = worker ]; then
                        trap 'exit 0' TERM
                        : >working; while [ ! -e goodbye ]; do sleep 0.02; done; exit 69
                    fi
                    trap 'echo checkpoint; : >goodbye; exit 130' TERM
                    echo 'listening on 127.0.0.1:40013' >&2
                    while :; do sleep 0.02; done
                    """, workers: 1)
            let process = Captured()
            let verdict = try Self.run(plan, process) {
                FileManager.default.fileExists(atPath: directory + "/working") ? 1 : 0
            }
            #expect(verdict == .coordinator(.exited(130)))
            #expect(process.results == "checkpoint\n")
            #expect(throws: LaunchError.interrupted(directory: "run")) {
                try plan.check(verdict, directory: "run")
            }
            let identifiers = Self.text(directory + "/identifiers").split(separator: "\n")
            #expect(identifiers.count == 2)
            for identifier in identifiers {
                #expect(kill(try #require(Int32(identifier)), 0) != 0)
            }
        }
    }

    @Test("a second Ctrl-C kills children that ignore the first")
    func kills() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let plan = try Self.plan(
                directory,
                skein: """
                    trap '' TERM INT
                    echo 'listening on 127.0.0.1:40014' >&2
                    [ "$1" = worker ] && : >working
                    while :; do sleep 0.02; done
                    """, workers: 2)
            let process = Captured()
            let verdict = try Self.run(plan, process) {
                FileManager.default.fileExists(atPath: directory + "/working") ? 2 : 0
            }
            #expect(verdict == .interrupted)
            #expect(process.errors.contains("[launch] killing all processes\n"))
        }
    }

    @Test("a child has its own process group, and its input ends when its streams are closed")
    func childProcess() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let child = try ChildProcess.start(
                [
                    "sh", "-c",
                    "cd '\(directory)'; echo $SKEIN_PARENT_PIPE >open; cat >given; : >ended",
                ], input: [104, 105])
            #expect(getpgid(child.identifier) == child.identifier)
            try Deadline.wait { Self.text(directory + "/given") == "hi" }
            #expect(Self.text(directory + "/open") == "0\n")
            #expect(child.ending() == nil)
            child.closeStreams()
            try Deadline.wait { child.ending() == .exited(0) }
            #expect(FileManager.default.fileExists(atPath: directory + "/ended"))
        }
        #expect(throws: LaunchError.notStarted(program: "/nowhere/skein", code: ENOENT)) {
            try ChildProcess.start(["/nowhere/skein"])
        }
    }

    @Test("watching the parent's pipe notices its end and ignores bytes in it")
    func parentPipe() throws {
        let pipe = ClosingDescriptors.pipe()
        let flag = Flag()
        ParentPipe.watch(pipe.reading) { flag.set() }
        #expect(write(pipe.writing, "x", 1) == 1)
        usleep(50_000)
        #expect(!flag.isSet)
        close(pipe.writing)
        try Deadline.wait { flag.isSet }
        close(pipe.reading)
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    @Test("over ssh the token arrives on standard input, in a private file that is removed later")
    func ssh() throws {
        try TestPaths.withTemporaryDirectory { directory in
            // Does what sshd does: passes the words after the destination, joined, to a shell.
            try ShellScript.write(
                """
                cd '\(directory)'; echo "$@" >ssh.log
                while [ "$1" != me@h1 ]; do shift; done; shift
                exec sh -c "$*"
                """, at: directory + "/ssh")
            let remote = directory + "/remote skein"
            try ShellScript.write(
                """
                cd '\(directory)'; echo "$@" >remote.log
                while [ "$1" != --token-file ]; do shift; done
                stat -c %a "$2" >mode; cat "$2" >token.copy; echo "$2" >token.path
                cat >>token.copy; echo "$SKEIN_PARENT_PIPE" >pipe
                """, at: remote)
            var plan = try Self.plan(
                directory,
                skein: """
                    echo 'listening on 127.0.0.1:40015' >&2
                    while [ ! -e token.path ]; do sleep 0.02; done
                    """, workers: 0)
            let token = Array("0123 secret\nof two lines\n".utf8)
            plan.workers = [
                LaunchPlan.Worker(
                    name: "h1", threads: 3, model: "/m 'x'.gguf", program: remote,
                    backend: SSHBackend(
                        destination: "me@h1", token: token, ssh: directory + "/ssh"))
            ]
            let process = Captured()
            #expect(try Self.run(plan, process) == .coordinator(.exited(0)))
            #expect(Self.text(directory + "/mode") == "600\n")
            #expect(!Self.text(directory + "/ssh.log").contains("secret"))
            #expect(Self.text(directory + "/ssh.log").contains("-o BatchMode=yes"))
            let path = Self.text(directory + "/token.path").dropLast()
            #expect(
                Self.text(directory + "/remote.log")
                    == "worker --coordinator 127.0.0.1:40015 --name h1 --threads 3 "
                    + "--model /m 'x'.gguf --token-file \(path)\n")
            #expect(Array(Self.text(directory + "/token.copy").utf8) == token)
            // The remote shell does this last, and nothing else waits for it: it must be done
            // before the directory is removed.
            try Deadline.wait { Self.text(directory + "/pipe") == "0\n" }
            try Deadline.wait { !FileManager.default.fileExists(atPath: String(path)) }
        }
    }
}
