import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// `skein status` of a real coordinator: what the run waits for, and what each worker does.
@Suite("status", .ownThreads)
struct StatusQueryTests {
    /// Far more steps than a test lasts.
    private let endless = ["--epochs", "100000", "--checkpoint-every", "0"]

    private func ask(_ cluster: ClusterHarness, _ words: String...) throws -> String {
        let ending = try SkeinProcess.run(["status", "--coordinator", cluster.address] + words)
        #expect(ending.status == 0, "\(ending.error)")
        return ending.output
    }

    /// Asks until `isRight` or minutes have passed; returns the last answer.
    private func ask(
        _ cluster: ClusterHarness, _ words: String..., until isRight: (String) -> Bool
    ) throws -> String {
        var answer = ""
        for _ in 0..<3000 {
            let ending = try SkeinProcess.run(["status", "--coordinator", cluster.address] + words)
            answer = ending.output
            if isRight(answer) { break }
            Thread.sleep(forTimeInterval: 0.1)
        }
        return answer
    }

    /// Stops all workers and asks until the answer has `text`, which it has only before their
    /// silence counts as their loss: a slow machine needs more than one attempt. Continues them
    /// afterwards.
    private func askStopped(
        _ cluster: ClusterHarness, _ words: String..., until text: String
    ) throws -> String {
        var answer = ""
        for _ in 0..<60 {
            for worker in cluster.workers { worker.send(SIGSTOP) }
            defer { for worker in cluster.workers { worker.send(SIGCONT) } }
            let deadline = ContinuousClock.now + .seconds(2.5)
            while ContinuousClock.now < deadline {
                let ending = try SkeinProcess.run(
                    ["status", "--coordinator", cluster.address] + words)
                answer = ending.output
                if answer.contains(text) { return answer }
            }
            for worker in cluster.workers { worker.send(SIGCONT) }
            try cluster.waitForSteps(cluster.steps + 1)
        }
        return answer
    }

    @Test("--why says how many workers are missing, and when the coordinator gives up")
    func missing() throws {
        try Workbench.with { bench in
            let cluster = try ClusterHarness(
                bench, "waiting", endless + ["--min-workers", "2", "--patience", "1h"])
            try cluster.startWorker("w1")
            let why = try ask(cluster, "--why") { $0.contains("1 of 2 needed is here") }
            #expect(why.hasPrefix("validation before the first step has waited "), "\(why)")
            #expect(why.contains("for 1 more worker (1 of 2 needed is here); the run gives up in"))
            #expect(why.filter { $0 == "\n" }.count == 1)
        }
    }

    @Test("--why names the silent worker, and what happens next")
    func silent() throws {
        try Workbench.with { bench in
            let cluster = try ClusterHarness(bench, "silent", endless + ["--patience", "1h"])
            try cluster.startWorker("w1")
            try cluster.waitForSteps(3)
            let why = try askStopped(cluster, "--why", until: "it counts as lost in")
            #expect(why.contains("on worker w1 (127.0.0.1:"), "\(why)")
            #expect(why.contains("the micro-batch waits for another worker to join"), "\(why)")
            cluster.workers[0].send(SIGSTOP)
            let alone = try ask(cluster, "--why") { $0.contains("no worker is left") }
            #expect(alone.contains("(no worker is left); the run gives up in"), "\(alone)")
            cluster.workers[0].send(SIGCONT)
            try cluster.waitForSteps(cluster.steps + 3)
        }
    }

    @Test("the table and --json describe the run and each worker")
    func report() throws {
        try Workbench.with { bench in
            let cluster = try ClusterHarness(bench, "run", endless + ["--min-workers", "2"])
            try cluster.startWorker("w1")
            try cluster.startWorker("w2", threads: 2)
            try cluster.waitForSteps(5)
            let report = try Workbench.object(try ask(cluster, "--json"))
            let run = try #require(report["run"] as? [String: Any])
            #expect(run["output"] as? String == bench.path("run"))
            // The first term of a directory is random.
            #expect(try #require(run["term"] as? Int) >= 1)
            #expect(try #require(run["step"] as? Int) >= 5)
            #expect(run["step_count"] as? Int == 800_000)
            #expect(run["phase"] is String && run["loss"] is Double)
            #expect(
                report["why"] is String && report["waiting"] is [String: Any]
                    && report["waiting_seconds"] is Double)
            let workers = try #require(report["workers"] as? [[String: Any]])
            #expect(workers.compactMap { $0["name"] as? String } == ["w1", "w2"])
            #expect(workers.compactMap { $0["threads"] as? Int } == [1, 2])
            #expect(workers.allSatisfy { $0["leases"] is [Any] && $0["lease_count"] is Int })
            #expect(report["worker_count"] as? Int == 2)

            // Stopped workers keep their leases long enough to be seen with them.
            let table = try askStopped(cluster, until: "mb ")
            #expect(table.contains(bench.path("run") + "  step "), "\(table)")
            #expect(table.contains("computes") && table.contains("\nw2 "), "\(table)")
            #expect(table.contains("mb "), "\(table)")
        }
    }

    @Test("a missing coordinator and a wrong token each have their status and remedy")
    func refused() throws {
        try Workbench.with { bench in
            let token = try bench.write("a secret of sixteen bytes or more\n", to: "token")
            let other = try bench.write("another secret of as many bytes\n", to: "other")
            for file in [token, other] { chmod(file, 0o600) }
            let cluster = try ClusterHarness(bench, "run", endless + ["--token-file", token])
            let words = ["status", "--coordinator", cluster.address]
            #expect(try SkeinProcess.run(words + ["--token-file", token]).status == 0)
            for unknown in [["--token-file", other], []] {
                Complaint(65, "--token-file").check(
                    try SkeinProcess.run(words + unknown))
            }
            cluster.coordinator.send(SIGKILL)
            _ = try cluster.coordinator.wait()
            Complaint(69, "check that the coordinator runs there").check(
                try SkeinProcess.run(words + ["--token-file", token]))
        }
    }
}
