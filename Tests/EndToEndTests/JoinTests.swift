import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// `skein join`: the tasks of a job find each other in a folder, whichever of them is killed and
/// wherever it is started again.
@Suite("join", .ownThreads)
struct JoinTests {
    private static let run = ["--epochs", "40", "--checkpoint-every", "5"]
    private static let steps = 320
    /// For tasks that are left alone: 32 steps.
    private static let quiet = ["--epochs", "4", "--checkpoint-every", "5"]

    private func ranked(
        _ bench: Workbench, _ output: String, _ rank: Int, of count: Int = 3,
        _ options: [String] = JoinTests.run
    ) throws -> SkeinProcess {
        try JoinTask.start(
            bench, output, ["--task-rank", "\(rank)", "--task-count", "\(count)"] + options)
    }

    @Test("three tasks give the bytes of one process; the token is theirs alone")
    func oneHash() throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.quiet)
            let tasks = try [2, 1, 0].map {
                try ranked(bench, "joined", $0, Self.quiet + ["--min-workers", "3"])
            }
            for task in tasks {
                let ending = try task.wait()
                #expect(ending.status == 0, "\(ending.error)")
            }
            #expect(tasks[2].errorText.contains("task 0 of 3 coordinates"))
            #expect(try bench.result(of: "joined") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "joined", steps: 32)
            let token = try FileManager.default.attributesOfItem(
                atPath: bench.path("joined/join/token"))
            #expect(token[.posixPermissions] as? Int == 0o600)

            // A task that comes late is told that there is nothing to do.
            let late = try ranked(bench, "joined", 2, Self.quiet + ["--patience", "3s"])
            let ending = try late.wait()
            #expect(ending.status == 0, "\(ending.error)")
            #expect(ending.error.contains("the run is complete"))
        }
    }

    @Test("killed tasks are started again by the same command, and the bytes are the same")
    func killed() throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.run)
            let options = Self.run + ["--min-workers", "2"]
            var first = try ranked(bench, "killed", 0, of: 2, options)
            var second = try ranked(bench, "killed", 1, of: 2, options)
            try first.waitForError("\nstep 7/")
            second.send(SIGKILL)
            _ = try second.wait()
            second = try ranked(bench, "killed", 1, of: 2, options)
            try first.waitForError("\nstep 40/")
            first.send(SIGKILL)
            _ = try first.wait()
            first = try ranked(bench, "killed", 0, of: 2, options)
            for task in [first, second] {
                let ending = try task.wait()
                #expect(ending.status == 0, "\(ending.error)")
            }
            #expect(first.errorText.contains("resuming after step"))
            #expect(try bench.result(of: "killed") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "killed", steps: Self.steps)
        }
    }

    @Test("SIGTERM ends a worker when its work is handed in, and rank 0 with a checkpoint")
    func terminated() throws {
        try Workbench.with { bench in
            let first = try ranked(bench, "asked", 0)
            let second = try ranked(bench, "asked", 1)
            try first.waitForError("worker task1 (")
            second.send(SIGTERM)
            let left = try second.wait()
            #expect(left.status == 0 && left.error.contains("left the run"), "\(left.error)")
            first.send(SIGTERM)
            Complaint(130, "--resume").check(try first.wait())
            let notice = try String(
                contentsOfFile: bench.path("asked/join/address.json"), encoding: .utf8)
            #expect(notice.contains("\"state\":\"stopped\""))
            // A worker that waits for its return leaves when it is asked.
            let third = try ranked(bench, "asked", 2)
            try third.waitForError("has stopped, and is expected back")
            third.send(SIGTERM)
            #expect(try third.wait().status == 0)
        }
    }

    @Test("a pod of an indexed Job that is stopped has not succeeded: its index would be done")
    func stoppedIndex() throws {
        try Workbench.with { bench in
            let index = {
                try JoinTask.start(
                    bench, "job", environment: ["JOB_COMPLETION_INDEX": $0], Self.run)
            }
            let waiting = try index("1")
            try waiting.waitForError("waiting for the coordinator's address")
            waiting.send(SIGTERM)
            Complaint(130, "left the run").check(try waiting.wait())
            let first = try index("0")
            let second = try index("1")
            try first.waitForError("worker task1 (")
            second.send(SIGTERM)
            Complaint(130, "left the run").check(try second.wait())
            first.send(SIGTERM)
            Complaint(130, "--resume").check(try first.wait())
        }
    }

    @Test("of two tasks that think they are rank 0 the second one ends, and says who the first is")
    func twoCoordinators() throws {
        try Workbench.with { bench in
            let slurm = ["SLURM_PROCID": "0", "SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0"]
            let run = ["--epochs", "100000"]
            let first = try JoinTask.start(bench, "twice", environment: slurm, run)
            try first.waitForError("\nstep 1/")
            let second = try JoinTask.start(bench, "twice", environment: slurm, run)
            Complaint(65, "two tasks say that they are rank 0", "Slurm job 5", "--role worker")
                .check(try second.wait())
            // It is not known of which job these are: the first might be about to end.
            let third = try ranked(bench, "twice", 0, run + ["--patience", "3s"])
            let ending = try third.wait()
            Complaint(74, "two tasks say that they are rank 0").check(ending)
            #expect(ending.error.contains("still coordinates; waiting for its end"))
            // It does not know of the others.
            first.send(SIGTERM)
            #expect(try first.wait().status == 130)
        }
    }

    @Test("a second start with one output leaves the first one's workers alone")
    func secondJob() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "100000", "--min-workers", "2"]
            func of(_ job: String, _ rank: Int) throws -> SkeinProcess {
                try JoinTask.start(
                    bench, "shared",
                    environment: [
                        "SLURM_PROCID": "\(rank)", "SLURM_JOB_ID": job, "SLURM_STEP_ID": "0",
                        "SLURM_STEP_NUM_TASKS": "2",
                    ], run)
            }
            let first = try [of("1", 0), of("1", 1)]
            try first[0].waitForError("\nstep 1/")
            let other = try of("2", 1)
            try other.waitForError("is there, of another job")
            #expect(first[1].isRunning)
            for task in [other] + first { task.send(SIGTERM) }
            #expect(try other.wait().status == 0)
            #expect(try first[0].wait().status == 130)
        }
    }

    @Test("a pipe in place of the address is refused, not waited for")
    func pipe() throws {
        try Workbench.with { bench in
            try AtomicFile.makeDirectory(bench.path("piped/join"))
            #expect(mkfifo(bench.path("piped/join/address.json"), 0o600) == 0)
            Complaint(74, "pipe").check(try ranked(bench, "piped", 0).wait(), isPlaced: true)
            let worker = try ranked(bench, "piped", 1)
            try worker.waitForError("the file cannot be used: ")
            worker.send(SIGTERM)
            #expect(try worker.wait().status == 0)
        }
    }

    @Test("a worker whose coordinator has no address yet leaves when it is asked")
    func unknownName() throws {
        try Workbench.with { bench in
            let token = try bench.write(String(repeating: "k3y", count: 20), to: "token")
            chmod(token, 0o600)
            let worker = try ranked(
                bench, "nobody", 1,
                ["--coordinator", "nobody.invalid:7000", "--token-file", token])
            try worker.waitForError("looking for the coordinator again")
            worker.send(SIGTERM)
            #expect(try worker.wait(seconds: 60).status == 0)
        }
    }

    @Test("a rank that is missing is named, and the run goes on without it")
    func missingRank() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "100000", "--patience", "3s"]
            let first = try ranked(bench, "missing", 0, run)
            let second = try ranked(bench, "missing", 2, run)
            try first.waitForError(" have not joined within 3s: task 1")
            #expect(second.isRunning)
            first.send(SIGTERM)
            #expect(try first.wait().status == 130)
            second.send(SIGTERM)
            _ = try second.wait()
        }
    }

    @Test("a folder that is not shared is suspected by both sides")
    func notShared() throws {
        try Workbench.with { bench in
            let worker = try ranked(
                bench, "here", 1, of: 2,
                ["--rendezvous", bench.path("elsewhere"), "--patience", "2600ms"])
            Complaint(
                69, "no coordinator was found within 26", "elsewhere/address.json",
                "shares with this one"
            ).check(try worker.wait())
        }
    }

    @Test("a worker refuses a token that others can read")
    func readableToken() throws {
        try Workbench.with { bench in
            let first = try ranked(bench, "open", 0, ["--epochs", "100000"])
            try first.waitForError("\nstep 1/")
            chmod(bench.path("open/join/token"), 0o644)
            Complaint(65, "others may use the token file", "chmod 600").check(
                try ranked(bench, "open", 1).wait())
            first.send(SIGTERM)
            #expect(try first.wait().status == 130)
        }
    }

    /// Neither torn bytes, nor an old address, nor times of files that are off by an hour matter.
    @Test(
        "what an earlier start left does not keep the tasks apart",
        arguments: [
            ##"{"version":1,"state":"listen"##,
            ##"{"version":1,"state":"listening","addresses":["127.0.0.1:9"],"local_address":null,"detail":"","rank":0,"host":"gone","process":1,"launcher":null,"job":null,"restarts":0,"network":null}"##,
            ##"{"version":1,"state":"failed","addresses":[],"local_address":null,"detail":"no disk","rank":0,"host":"gone","process":1,"launcher":null,"job":null,"restarts":0,"network":null}"##,
            ##"{"version":1,"state":"complete","addresses":[],"local_address":null,"detail":"","rank":0,"host":"gone","process":1,"launcher":null,"job":null,"restarts":0,"network":null}"##,
        ])
    func leftovers(text: String) throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.quiet)
            try AtomicFile.makeDirectory(bench.path("again/join"))
            let file = try bench.write(text, to: "again/join/address.json")
            for name in [file, file + ".tmp-77"] {
                try AtomicFile.write(text, to: name)
                // An hour behind: a host's clock may be as wrong.
                let hour = timeval(tv_sec: time(nil) - 3600, tv_usec: 0)
                #expect(utimes(name, [hour, hour]) == 0)
            }
            let options = Self.quiet + ["--min-workers", "2"]
            let second = try ranked(bench, "again", 1, of: 2, options)
            // It has looked, and found nothing that it can use.
            try second.waitForError("waiting for the coordinator's address")
            let first = try ranked(bench, "again", 0, of: 2, options)
            for task in [first, second] {
                let ending = try task.wait()
                #expect(ending.status == 0, "\(ending.error)")
            }
            #expect(try bench.result(of: "again") == bench.result(of: "alone"))
        }
    }

    @Test("an address and a token of an earlier start are replaced by those of the next")
    func earlierAddress() throws {
        try Workbench.with { bench in
            let first = try ranked(bench, "kept", 0, ["--epochs", "100000"])
            try first.waitForError("\nstep 1/")
            first.send(SIGKILL)
            _ = try first.wait()
            // The file still says where the coordinator was, which is gone.
            let second = try ranked(bench, "kept", 1)
            try second.waitForError("cannot")
            let again = try ranked(bench, "kept", 0, ["--epochs", "100000"])
            try again.waitForError("worker task1 (")
            for task in [second, again] { task.send(SIGTERM) }
            #expect(try second.wait().status == 0)
            #expect(try again.wait().status == 130)
        }
    }

    @Test("data that cannot be used ends the workers, too, at once")
    func failedCoordinator() throws {
        try Workbench.with { bench in
            try bench.write("{\"prompt\": 1}\n", to: "rows.jsonl")
            // Both are tasks of one job, so that what rank 0 says is not an earlier start's.
            let slurm = ["SLURM_JOB_ID": "6", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2"]
            let worker = try JoinTask.start(
                bench, "bad", environment: slurm.merging(["SLURM_PROCID": "1"]) { $1 }, [])
            let first = try JoinTask.start(
                bench, "bad", environment: slurm.merging(["SLURM_PROCID": "0"]) { $1 }, [])
            #expect(try first.wait().status == 65)
            Complaint(69, "the run has failed: ").check(try worker.wait())
        }
    }

    @Test("RANK=0 that a batch script exports for all tasks of srun makes one coordinator, not two")
    func exportedRank() throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.quiet)
            let tasks = try [1, 0].map { rank in
                try JoinTask.start(
                    bench, "exported",
                    environment: [
                        "RANK": "0", "WORLD_SIZE": "2", "SLURM_PROCID": "\(rank)",
                        "SLURM_JOB_ID": "8", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2",
                    ], Self.quiet + ["--min-workers", "2"])
            }
            for task in tasks {
                let ending = try task.wait()
                #expect(ending.status == 0, "\(ending.error)")
            }
            #expect(tasks[0].errorText.contains("RANK = 0, WORLD_SIZE = 2 is not this task's"))
            #expect(try bench.result(of: "exported") == bench.result(of: "alone"))
        }
    }

    @Test("nothing is written into a directory that belongs to something else")
    func foreign() throws {
        try Workbench.with { bench in
            try AtomicFile.makeDirectory(bench.path("photos"))
            try bench.write("x", to: "photos/goose.jpg")
            Complaint(65, "no run.json").check(try ranked(bench, "photos", 0).wait())
            let worker = try ranked(bench, "photos", 1)
            try worker.waitForError("cannot leave a card for the others")
            worker.send(SIGTERM)
            #expect(try worker.wait().status == 0)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: bench.path("photos"))
            #expect(names == ["goose.jpg"])
        }
    }

    @Test(
        "a coordinator that is queued again on another node is found there",
        .enabled(
            if: NetworkNamespaces.obstacle == nil,
            Comment(rawValue: "needs network namespaces: \(NetworkNamespaces.obstacle ?? "")")))
    func otherNode() throws {
        try Workbench.with { bench in
            try bench.train("alone", Self.run)
            try NetworkNamespaces.with(hosts: 2) { network in
                let options = Self.run + ["--min-workers", "2"]
                func coordinator(on host: Int, restarts: Int) throws -> SkeinProcess {
                    try JoinTask.start(
                        bench, "moved",
                        environment: [
                            "SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2",
                            "SLURM_JOB_ID": "9", "SLURM_RESTART_COUNT": "\(restarts)",
                        ], options, prefix: network.shell(on: host))
                }
                // The middle reaches both hosts, each at an address of its own.
                let worker = try JoinTask.start(
                    bench, "moved", ["--role", "worker", "--name", "w"],
                    prefix: network.shell(on: 0))
                let first = try coordinator(on: 1, restarts: 0)
                try first.waitForError("\nstep 12/")
                #expect(first.errorText.contains("worker w (10.77.1.1:"))
                first.send(SIGKILL)
                _ = try first.wait()
                let second = try coordinator(on: 2, restarts: 1)
                for task in [second, worker] {
                    let ending = try task.wait()
                    #expect(ending.status == 0, "\(ending.error)")
                }
                #expect(second.errorText.contains("worker w (10.77.2.1:"))
            }
            #expect(try bench.result(of: "moved") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "moved", steps: Self.steps)
        }
    }
}
