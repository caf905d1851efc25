import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinCluster

/// What a service manager is told, and when.
@Suite struct ServiceReportTests {
    private func look(
        _ sentence: String = "a", ready: Bool = false, stopping: Bool = false, moved: Double = 0
    ) -> ServiceReport.Look {
        ServiceReport.Look(
            sentence: sentence, isReady: ready, isStopping: stopping, moved: .seconds(moved))
    }

    @Test("a service says once that it is ready, and once that it stops")
    func stages() {
        var report = ServiceReport(watchdog: nil)
        #expect(
            report.lines(look("starting"), now: .zero)
                == ["STATUS=starting", "EXTEND_TIMEOUT_USEC=60000000"])
        #expect(report.interval == .milliseconds(250))
        #expect(
            report.lines(look("step 1", ready: true), now: .seconds(1)) == [
                "READY=1", "STATUS=step 1",
            ])
        #expect(report.lines(look("step 1", ready: true), now: .seconds(20)) == [])
        // A worker that loses its coordinator is not in a stage before.
        #expect(report.lines(look("alone"), now: .seconds(30)) == ["STATUS=alone"])
        #expect(
            report.lines(look("done", stopping: true), now: .seconds(31))
                == ["STOPPING=1", "STATUS=done"])
        #expect(report.lines(look("done", stopping: true), now: .seconds(60)) == [])
        var last = look("over", stopping: true)
        last.isLast = true
        #expect(report.lines(last, now: .seconds(60)) == ["STATUS=over"])
    }

    @Test("sentences come at most every 5 s, but at once with a new stage")
    func sentences() {
        var report = ServiceReport(watchdog: nil)
        _ = report.lines(look("0", ready: true), now: .zero)
        var told: [Int] = []
        for second in 1...20
        where !report.lines(look("\(second)", ready: true), now: .seconds(second)).isEmpty {
            told.append(second)
        }
        #expect(told == [5, 10, 15, 20])
    }

    @Test("a sentence is one line of bounded length")
    func oneLine() {
        var report = ServiceReport(watchdog: nil)
        let lines = report.lines(
            look("a\nREADY=1\r" + String(repeating: "é", count: 2000), ready: true), now: .zero)
        #expect(lines.count == 2)
        #expect(lines[1].hasPrefix("STATUS=a?READY=1?é"))
        #expect(lines[1].utf8.count < 1100)
    }

    @Test("the watchdog hears of the process at half its time, whatever the sentence")
    func watchdog() {
        for watchdog in [0.4, 3, 120] {
            var report = ServiceReport(watchdog: .seconds(watchdog))
            var now = Duration.zero
            var pings: [Duration] = []
            while now < .seconds(watchdog * 10) {
                if report.lines(look(ready: true, moved: now / .seconds(1)), now: now)
                    .contains("WATCHDOG=1")
                {
                    pings.append(now)
                }
                // Every turn a little late.
                now += report.interval + .milliseconds(1)
            }
            let gaps = zip(pings.dropFirst(), pings).map { $0 - $1 }
            #expect(pings.count >= 18, "\(watchdog): \(pings)")
            #expect(gaps.allSatisfy { $0 < .seconds(watchdog * 0.75) }, "\(gaps)")
        }
    }

    @Test("the watchdog hears nothing of a process in which nothing has moved for 5 minutes")
    func still() {
        var report = ServiceReport(watchdog: .seconds(120))
        func pings(at now: Double, moved: Double) -> Bool {
            report.lines(look(ready: true, moved: moved), now: .seconds(now)).contains("WATCHDOG=1")
        }
        #expect(pings(at: 0, moved: 0))
        #expect(pings(at: 290, moved: 0))
        #expect(!pings(at: 360, moved: 0))
        #expect(!pings(at: 420, moved: 0))
        #expect(pings(at: 425, moved: 424))
    }

    @Test("a start asks for more time for as long as it goes on")
    func extends() {
        var report = ServiceReport(watchdog: nil)
        func asks(at now: Double, moved: Double, ready: Bool = false) -> Bool {
            report.lines(look(ready: ready, moved: moved), now: .seconds(now))
                .contains("EXTEND_TIMEOUT_USEC=60000000")
        }
        #expect(asks(at: 1, moved: 0.5))
        #expect(!asks(at: 10, moved: 9))
        #expect(asks(at: 25, moved: 24))
        // It hangs: the manager's time goes by.
        #expect(!asks(at: 50, moved: 24))
        #expect(!asks(at: 500, moved: 24))
        #expect(asks(at: 501, moved: 500))
        #expect(!asks(at: 900, moved: 899, ready: true))
    }

    @Test("a worker without a coordinator counts as started after its time")
    func unready() {
        var report = ServiceReport(watchdog: nil, readyAfter: .seconds(10))
        #expect(!report.lines(look(), now: .seconds(9.9)).contains("READY=1"))
        #expect(report.lines(look(), now: .seconds(10)).contains("READY=1"))
        #expect(!report.lines(look(ready: true), now: .seconds(11)).contains("READY=1"))
    }

    @Test("what could not be sent is sent again")
    func lost() {
        var report = ServiceReport(watchdog: .seconds(60))
        let first = report.lines(look("a", ready: true), now: .zero)
        #expect(first == ["READY=1", "STATUS=a", "WATCHDOG=1"])
        report.lost(first)
        let again = report.lines(look("a", ready: true), now: .seconds(1))
        #expect(again == first)
        report.lost(again)
        #expect(
            report.lines(look("a", stopping: true), now: .seconds(2))
                == ["READY=1", "STOPPING=1", "STATUS=a", "WATCHDOG=1"])
    }

    @Test("the environment is read, and a watchdog of another process is not ours")
    func environment() {
        func read(_ variables: [String: String]) -> ServiceEnvironment? {
            ServiceEnvironment.read(variables, process: 7)
        }
        #expect(read([:]) == nil)
        #expect(read(["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "1"]) == nil)
        #expect(read(["NOTIFY_SOCKET": "@a"]) == ServiceEnvironment(socket: "@a"))
        let watched = ServiceEnvironment(socket: "/n", watchdog: .seconds(3))
        for process in ["7", nil] {
            var variables = ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "3000000"]
            variables["WATCHDOG_PID"] = process
            #expect(read(variables) == watched)
        }
        for (time, process) in [("3", "8"), ("3", "x"), ("0", "7"), ("-5", "7"), ("1s", "7")] {
            let variables = ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": time, "WATCHDOG_PID": process]
            #expect(read(variables) == ServiceEnvironment(socket: "/n"))
        }
    }

    @Test("a node whose network's thread hangs is not reported alive")
    func hangs() throws {
        let name = "@skein-test-\(UUID().uuidString)"
        let listener = try NotifyListener(name)
        let mayAnswer = Mutex(true)
        let reporter = ServiceReporter(
            ServiceEnvironment(socket: name, watchdog: .milliseconds(100)), log: Log()
        ) {
            while !mayAnswer.withLock({ $0 }) { usleep(1000) }
            return ServiceReporter.View(sentence: "goose", isReady: true)
        }
        try reporter.during {
            #expect(reporter.passing(true) && !reporter.passing(false))
            try listener.wait { $0 == "STOPPING=1" }
            try Deadline.wait {
                listener.hear()
                return listener.lines.count { $0 == "WATCHDOG=1" } >= 5
            }
            mayAnswer.withLock { $0 = false }
            // A view that was under way may still be reported.
            usleep(100_000)
            listener.hear()
            let before = listener.lines
            usleep(400_000)
            listener.hear()
            #expect(listener.lines == before)
            mayAnswer.withLock { $0 = true }
        }
        try listener.wait { $0 == "STATUS=done" }
    }
}
