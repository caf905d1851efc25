import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// Real processes under a service manager that the test plays: what they tell it, and when.
@Suite("service manager", .ownThreads)
struct ServiceTests {
    /// The line of `sh` that sets what a manager sets.
    private func shell(_ listener: NotifyListener, watchdog: Int? = nil) -> String {
        "export NOTIFY_SOCKET='\(listener.address)'; "
            + (watchdog.map { "export WATCHDOG_USEC=\($0) WATCHDOG_PID=$$; " } ?? "")
            + #"exec "$@""#
    }

    private func listener() throws -> NotifyListener {
        try NotifyListener("@skein-test-\(UUID().uuidString)")
    }

    @Test("coordinator and worker say when they are ready, what they do, that they live and stop")
    func cluster() throws {
        try Workbench.with { bench in
            let (forCoordinator, forWorker) = (try listener(), try listener())
            // The hook is a child: it must not be able to speak for the coordinator.
            let coordinator = try SkeinProcess(
                [
                    "coordinator", "--listen", "127.0.0.1:0", "--model", bench.model, "--data",
                    bench.data, "--output", bench.path("run"), "--epochs", "100000",
                    "--checkpoint-every", "2", "--on-checkpoint",
                    "env >'\(bench.path("hook"))'",
                ], shell: shell(forCoordinator, watchdog: 200_000))
            try forCoordinator.wait { $0 == "READY=1" }
            try coordinator.waitForError("listening on ")
            let line = try #require(
                coordinator.errorText.split(separator: "\n").first { $0.contains("listening on ") })
            let address = String(try #require(line.split(separator: " ").last))
            try forCoordinator.wait { $0.hasPrefix("STATUS=") && $0.contains("1 more worker") }

            let worker = try SkeinProcess(
                ["worker", "--coordinator", address, "--model", bench.model, "--threads", "1"],
                shell: shell(forWorker, watchdog: 200_000))
            try forWorker.wait { $0 == "READY=1" }
            try forWorker.wait { $0.hasPrefix("STATUS=in the run at \(address): ") }
            for listener in [forCoordinator, forWorker] {
                try Deadline.wait(seconds: 300) {
                    listener.hear()
                    return listener.lines.count { $0 == "WATCHDOG=1" } >= 10
                }
                #expect(listener.lines.count { $0 == "READY=1" } == 1)
            }
            // A manager always listens: a queue of a few messages that is full takes no more.
            func hearing(until isDone: () -> Bool) throws {
                try Deadline.wait(seconds: 300) {
                    forCoordinator.hear()
                    forWorker.hear()
                    return isDone()
                }
            }
            try hearing {
                (try? bench.text(bench.path("hook")))?.contains("SKEIN_STEP=") == true
            }
            let seen = try bench.text(bench.path("hook"))
            #expect(!seen.contains("NOTIFY_SOCKET") && !seen.contains("WATCHDOG_"))

            worker.send(SIGTERM)
            try hearing { !worker.isRunning }
            #expect(try worker.wait().status == 0)
            coordinator.send(SIGTERM)
            try hearing { !coordinator.isRunning }
            #expect(try coordinator.wait().status == 130)
            for listener in [forCoordinator, forWorker] {
                listener.hear()
                let stops = try #require(listener.lines.firstIndex(of: "STOPPING=1"))
                #expect(!listener.lines[stops...].contains("READY=1"))
            }
            #expect(forWorker.lines.contains("STATUS=done"))
            #expect(
                forCoordinator.lines.last { $0.hasPrefix("STATUS=") }?.hasPrefix("STATUS=ended: ")
                    == true)
        }
    }

    @Test("a worker without a coordinator counts as started and says for what it waits")
    func alone() throws {
        let listener = try listener()
        let worker = try SkeinProcess(
            ["worker", "--coordinator", "127.0.0.1:1", "--patience", "1h"], shell: shell(listener))
        try listener.wait { $0 == "READY=1" }
        try listener.wait {
            $0.hasPrefix("STATUS=waits for a coordinator at 127.0.0.1:1 (")
        }
        worker.send(SIGTERM)
        try Deadline.wait(seconds: 300) {
            listener.hear()
            return !worker.isRunning
        }
        #expect(try worker.wait().status == 0)
        listener.hear()
        #expect(listener.lines.contains("STOPPING=1"))
    }

    @Test("one that cannot start says why, and is never ready")
    func fails() throws {
        let listener = try listener()
        let ending = try SkeinProcess.run(
            ["worker", "--coordinator", "127.0.0.1:1", "--token-file", "/nonexistent"],
            shell: shell(listener))
        #expect(ending.status == 74)
        listener.hear()
        #expect(!listener.lines.contains("READY=1"))
        #expect(listener.lines.last?.hasPrefix("STATUS=ended: ") == true, "\(listener.lines)")
    }

    @Test(
        "an address that cannot be used is a warning, and a missing listener is no trouble",
        arguments: ["vsock:2:5", "notify", "/nonexistent/notify"])
    func unusable(address: String) throws {
        let ending = try SkeinProcess.run(
            ["worker", "--coordinator", "127.0.0.1:1", "--patience", "2600ms"],
            shell: "export NOTIFY_SOCKET=\(address); " + #"exec "$@""#)
        #expect(ending.status == 69)
        let isWarned = ending.error.contains("the service manager is told nothing: NOTIFY_SOCKET")
        #expect(isWarned == !address.hasPrefix("/"))
    }
}
