import SkeinBasics
import Testing

@testable import SkeinLaunch

@Suite struct SupervisionTests {
    private static func seconds(_ seconds: Double) -> Duration { .seconds(seconds) }

    /// A coordinator and its workers, all running since 0.
    private func running(workers: Int = 2, computesLocally: Bool = false) -> Supervision {
        var rule = Supervision(workerCount: workers, computesLocally: computesLocally)
        #expect(rule.handle(.began, now: .zero) == [.start(.coordinator, again: false)])
        #expect(
            rule.handle(.listening, now: .zero)
                == (0..<workers).map { .start(.worker($0), again: false) })
        return rule
    }

    @Test("workers start when the coordinator listens, and the launch ends after the last child")
    func complete() {
        var rule = running()
        #expect(rule.handle(.progressed, now: .seconds(1)) == [])
        #expect(rule.handle(.ended(.worker(0), .exited(0)), now: .seconds(2)) == [])
        #expect(rule.handle(.ended(.coordinator, .exited(0)), now: .seconds(2)) == [])
        #expect(
            rule.handle(.ended(.worker(1), .exited(0)), now: .seconds(3))
                == [.finish(.coordinator(.exited(0)))])
    }

    @Test("workers that do not leave by themselves get SIGTERM after 5 s, SIGKILL 10 s later")
    func farewell() {
        var rule = running()
        _ = rule.handle(.ended(.coordinator, .exited(65)), now: .seconds(100))
        #expect(rule.handle(.tick, now: .seconds(104.9)) == [])
        #expect(
            rule.handle(.tick, now: .seconds(105))
                == [.terminate(.worker(0)), .terminate(.worker(1))])
        #expect(rule.handle(.ended(.worker(0), .exited(0)), now: .seconds(106)) == [])
        #expect(rule.handle(.tick, now: .seconds(114.9)) == [])
        #expect(rule.handle(.tick, now: .seconds(115)) == [.kill(.worker(1))])
        #expect(
            rule.handle(.ended(.worker(1), .killed(signal: 9)), now: .seconds(115))
                == [.finish(.coordinator(.exited(65)))])
    }

    @Test("workers of a stopped run, which would wait for its return, get SIGTERM at once")
    func stoppedRun() {
        var rule = running()
        #expect(
            rule.handle(.interrupted, now: .zero) == [.say(.stopping), .terminate(.coordinator)])
        #expect(rule.handle(.ended(.coordinator, .exited(130)), now: .seconds(1)) == [])
        #expect(
            rule.handle(.tick, now: .seconds(1))
                == [.terminate(.worker(0)), .terminate(.worker(1))])
    }

    @Test("workers of a coordinator that has ended for what may pass, so that they wait, as well")
    func passingReason() {
        var rule = running()
        #expect(rule.handle(.ended(.coordinator, .exited(69)), now: .seconds(1)).count == 0)
        #expect(
            rule.handle(.tick, now: .seconds(1))
                == [.terminate(.worker(0)), .terminate(.worker(1))])
    }

    @Test("a killed worker is restarted after 0.5, 1, 2, 4 and 8 s, and then no more")
    func restarts() {
        var rule = running()
        var now = Duration.zero
        let ending = Supervision.Ending.killed(signal: 9)
        for (index, delay) in [0.5, 1, 2, 4, 8].enumerated() {
            let wait = Self.seconds(delay)
            #expect(
                rule.handle(.ended(.worker(1), ending), now: now)
                    == [
                        .say(
                            .restarting(.worker(1), ending, after: wait, count: index + 1, limit: 5)
                        )
                    ])
            #expect(rule.handle(.tick, now: now + wait - .milliseconds(1)) == [])
            now += wait
            #expect(rule.handle(.tick, now: now) == [.start(.worker(1), again: true)])
        }
        #expect(
            rule.handle(.ended(.worker(1), ending), now: now)
                == [.say(.givingUp(.worker(1), ending))])
        #expect(rule.handle(.tick, now: now + .seconds(60)) == [])
        #expect(Supervision.delay(beforeRestart: 6) == .seconds(16))
        #expect(Supervision.delay(beforeRestart: Int.max) == .seconds(60))
    }

    @Test("a worker that has joined is restarted for hours, at most 60 s after each failure")
    func rebootingHost() {
        var rule = running()
        let (gone, unmounted) = (Supervision.Ending.exited(255), Supervision.Ending.exited(127))
        #expect(rule.handle(.joined(worker: 1), now: .zero) == [])
        var now = Duration.seconds(10)
        for count in 1...300 {
            let ending = count % 10 == 0 ? unmounted : gone
            let wait = Self.seconds(min(60, 0.5 * Double(1 << min(count - 1, 10))))
            #expect(
                rule.handle(.ended(.worker(1), ending), now: now) == [
                    .say(
                        .restarting(.worker(1), ending, after: wait, count: count, limit: nil))
                ])
            #expect(rule.handle(.tick, now: now + wait - .milliseconds(1)) == [])
            now += wait
            #expect(rule.handle(.tick, now: now) == [.start(.worker(1), again: true)])
        }
        #expect(now > .seconds(4 * 3600))
        // It has worked again, so the next delay is the shortest.
        _ = rule.handle(.joined(worker: 1), now: now)
        _ = rule.handle(.progressed, now: now + .seconds(6))
        #expect(
            rule.handle(.ended(.worker(1), gone), now: now + .seconds(9)) == [
                .say(
                    .restarting(
                        .worker(1), gone, after: .milliseconds(500), count: 1, limit: nil))
            ])
        // The end of the launch does not wait for its restart.
        #expect(rule.handle(.ended(.coordinator, .exited(0)), now: now + .seconds(9)) == [])
        #expect(
            rule.handle(.ended(.worker(0), .exited(0)), now: now + .seconds(9))
                == [.finish(.coordinator(.exited(0)))])
    }

    @Test("a status that is final for a worker stays final after it has joined")
    func refusedLater() {
        var rule = running()
        _ = rule.handle(.joined(worker: 0), now: .zero)
        let ending = Supervision.Ending.exited(65)
        #expect(
            rule.handle(.ended(.worker(0), ending), now: .seconds(1))
                == [.say(.givingUp(.worker(0), ending))])
        _ = rule.handle(.joined(worker: 1), now: .zero)
        #expect(rule.handle(.ended(.worker(1), .exited(0)), now: .seconds(1)) == [])
        #expect(rule.handle(.tick, now: .seconds(100)) == [])
    }

    @Test("a step resets the restarts of children that have been up for 5 s")
    func settled() {
        var rule = running()
        let ending = Supervision.Ending.exited(1)
        _ = rule.handle(.ended(.worker(0), ending), now: .seconds(1))
        _ = rule.handle(.tick, now: .seconds(2))
        _ = rule.handle(.progressed, now: .seconds(6.9))
        #expect(
            rule.handle(.ended(.worker(0), ending), now: .seconds(7))
                == [.say(.restarting(.worker(0), ending, after: .seconds(1), count: 2, limit: 5))])
        _ = rule.handle(.tick, now: .seconds(8))
        _ = rule.handle(.progressed, now: .seconds(13))
        #expect(
            rule.handle(.ended(.worker(0), ending), now: .seconds(14))
                == [
                    .say(
                        .restarting(
                            .worker(0), ending, after: .milliseconds(500), count: 1, limit: 5))
                ])
    }

    @Test("a killed coordinator is restarted, and its workers stay")
    func coordinator() {
        var rule = running()
        let ending = Supervision.Ending.killed(signal: 9)
        #expect(
            rule.handle(.ended(.coordinator, ending), now: .seconds(9))
                == [
                    .say(
                        .restarting(
                            .coordinator, ending, after: .milliseconds(500), count: 1, limit: 5))
                ])
        #expect(
            rule.handle(.tick, now: .seconds(9.5)) == [.start(.coordinator, again: true)])
        #expect(rule.handle(.listening, now: .seconds(10)) == [])
    }

    @Test(
        "a status that a restart would repeat is final",
        arguments: [0, 64, 65, 69, 130] as [Int32])
    func finalStatus(status: Int32) {
        var rule = running(workers: 0)
        #expect(
            rule.handle(.ended(.coordinator, .exited(status)), now: .zero)
                == [.finish(.coordinator(.exited(status)))])
    }

    @Test("a coordinator that never listened is not restarted, unless it was killed")
    func neverListened() {
        var rule = Supervision(workerCount: 1, computesLocally: false)
        _ = rule.handle(.began, now: .zero)
        #expect(
            rule.handle(.ended(.coordinator, .exited(74)), now: .zero)
                == [.finish(.coordinator(.exited(74)))])
        var killed = Supervision(workerCount: 1, computesLocally: false)
        _ = killed.handle(.began, now: .zero)
        #expect(
            killed.handle(.ended(.coordinator, .killed(signal: 9)), now: .zero).count == 1)
        #expect(
            killed.handle(.tick, now: .seconds(1)) == [.start(.coordinator, again: true)])
    }

    @Test("without any usable worker the coordinator is stopped, with the worker's end as result")
    func noWorkers() {
        var rule = running()
        let ending = Supervision.Ending.exited(65)
        #expect(
            rule.handle(.ended(.worker(0), ending), now: .zero)
                == [.say(.givingUp(.worker(0), ending))])
        #expect(
            rule.handle(.ended(.worker(1), ending), now: .zero) == [
                .say(.givingUp(.worker(1), ending)), .say(.noWorkersLeft),
                .terminate(.coordinator),
            ])
        #expect(
            rule.handle(.ended(.coordinator, .exited(130)), now: .seconds(1))
                == [.finish(.worker(1, ending))])
        var local = running(computesLocally: true)
        _ = local.handle(.ended(.worker(0), ending), now: .zero)
        #expect(
            local.handle(.ended(.worker(1), ending), now: .zero)
                == [.say(.givingUp(.worker(1), ending))])
    }

    @Test("Ctrl-C stops the coordinator first, and nothing is restarted any more")
    func interrupt() {
        var rule = running()
        let ending = Supervision.Ending.killed(signal: 6)
        _ = rule.handle(.ended(.worker(0), ending), now: .seconds(1))
        #expect(
            rule.handle(.interrupted, now: .seconds(1))
                == [.say(.stopping), .terminate(.coordinator)])
        #expect(rule.handle(.tick, now: .seconds(60)) == [])
        #expect(rule.handle(.ended(.coordinator, .exited(130)), now: .seconds(61)) == [])
        #expect(
            rule.handle(.ended(.worker(1), .exited(69)), now: .seconds(61))
                == [.finish(.coordinator(.exited(130)))])
    }

    @Test("a second Ctrl-C kills all, in every phase")
    func secondInterrupt() {
        var rule = running(workers: 1)
        _ = rule.handle(.interrupted, now: .zero)
        #expect(
            rule.handle(.interrupted, now: .zero)
                == [.say(.killing), .kill(.coordinator), .kill(.worker(0))])
        #expect(rule.handle(.interrupted, now: .zero) == [])
        #expect(rule.handle(.ended(.coordinator, .killed(signal: 9)), now: .zero) == [])
        #expect(
            rule.handle(.ended(.worker(0), .killed(signal: 9)), now: .zero)
                == [.finish(.interrupted)])
    }

    @Test("Ctrl-C while the coordinator waits for its restart stops the workers")
    func interruptWithoutCoordinator() {
        var rule = running(workers: 1)
        _ = rule.handle(.ended(.coordinator, .killed(signal: 9)), now: .zero)
        #expect(rule.handle(.interrupted, now: .zero) == [.say(.stopping)])
        #expect(rule.handle(.tick, now: .seconds(5)) == [.terminate(.worker(0))])
        #expect(
            rule.handle(.ended(.worker(0), .exited(0)), now: .seconds(6))
                == [.finish(.interrupted)])
    }
}
