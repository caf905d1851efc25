import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("a worker's connection")
struct WorkerConnectionTests {
    @Test("it dials at once, then after random times that double up to 10 s")
    func backoff() {
        var bench = Bench(patience: .seconds(600))
        #expect(bench.at(0, .start) == [.connect(after: .zero)])
        var delays: [Double] = []
        for second in 1...10 {
            let said = bench.at(Double(second), .disconnected("refused"), jitter: 1)
            if case .connect(let delay) = said.first { delays.append(delay.inSeconds) }
        }
        #expect(delays == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10, 10, 10])
        #expect(bench.at(11, .disconnected("refused"), jitter: 0) == [.connect(after: .zero)])
    }

    @Test("it says what it waits for and what it does")
    func sentence() {
        var bench = Bench(patience: .seconds(60))
        func sentence(at now: Double) -> String {
            bench.state.sentence(
                coordinator: "c:1", preparedBytes: 3 << 20, now: .seconds(now))
        }
        #expect(sentence(at: 0) == "starting")
        bench.at(0, .start)
        #expect(sentence(at: 2) == "waits for a coordinator at c:1; gives up in 58.0 s")
        bench.at(2, .disconnected("refused"))
        #expect(sentence(at: 3) == "waits for a coordinator at c:1 (refused); gives up in 57.0 s")
        bench.at(4, .connected)
        bench.at(4, .offered(term: 1))
        #expect(
            sentence(at: 9)
                == "prepares for the run at c:1 for 5.0 s: 3 MiB of the model done")
        #expect(
            bench.state.sentence(
                coordinator: "c:1", preparedBytes: 0, waitsForOther: true, now: .seconds(9))
                == "prepares for the run at c:1 for 5.0 s: 0 MiB of the model done; waits for "
                + "another process of this host that fetches the model")
        bench.join(at: 10)
        #expect(sentence(at: 11) == "in the run at c:1: waits for work")
        bench.at(11, .leased(key(1), attempt: 1))
        #expect(sentence(at: 12) == "in the run at c:1: computes 1 micro-batch")
        bench.at(12, .drain)
        #expect(
            sentence(at: 12)
                == "leaves after its current work: in the run at c:1: computes 1 micro-batch")
    }

    @Test("it gives up when no coordinator has welcomed it for its patience")
    func patience() {
        var bench = Bench(patience: .seconds(5))
        bench.join(at: 0)
        bench.at(100, .heard)
        #expect(bench.at(101, .disconnected("reset")) == [.connect(after: .seconds(0.05))])
        #expect(bench.at(103, .disconnected("refused")).count == 1)
        #expect(bench.state.nextDeadline == .seconds(106))
        let said = bench.at(106, .tick)
        #expect(
            said.last
                == .finish(
                    .patience("no coordinator has welcomed this worker for 5.0 s: refused")))
        #expect(bench.at(107, .tick) == [])
    }

    @Test("what says nothing where a coordinator should be is told as that")
    func stranger() {
        var bench = Bench(patience: .seconds(3))
        bench.at(0, .start)
        bench.at(0, .connected)
        #expect(
            bench.at(3, .tick).last
                == .finish(
                    .patience(
                        "no coordinator has welcomed this worker for 3.0 s: what answers there says "
                            + "nothing")))
    }

    @Test("a time to try again that comes too late is not told")
    func lastAttempt() {
        var bench = Bench(patience: .seconds(3))
        bench.at(0, .start)
        var lines: [String] = []
        for time in [0.5, 1, 1.5, 2, 2.5, 2.99] {
            for directive in bench.state.handle(
                .disconnected("refused"), now: .seconds(time), jitter: 1)
            {
                if case .log(_, let line) = directive { lines.append(line) }
            }
        }
        #expect(lines.first?.contains("tries again in") == true, "\(lines)")
        #expect(lines.last == "refused; gives up in 0.0 s", "\(lines)")
    }

    @Test("loading a model does not count against its patience")
    func slowModel() {
        var bench = Bench(patience: .seconds(5))
        bench.at(0, .start)
        bench.at(1, .connected)
        bench.at(1, .offered(term: 1))
        for second in 1...60 {
            bench.at(Double(second), .heard)
            #expect(bench.at(Double(second), .tick) == [])
        }
        #expect(bench.at(61, .disconnected("reset")).count == 1)
        #expect(bench.at(66, .disconnected("refused")).last.map(isFinish) == true)
    }

    @Test("a coordinator that is silent for 2.5 s is left")
    func silence() {
        var bench = Bench()
        bench.join(at: 0)
        #expect(bench.state.nextDeadline == .seconds(2.5))
        #expect(bench.at(2.4, .tick) == [])
        let said = bench.at(2.5, .tick)
        #expect(said == [.disconnect("silence"), .connect(after: .seconds(0.05))])
    }

    @Test("a connection that is not answered is left after 5 s")
    func noAnswer() {
        var bench = Bench()
        bench.at(0, .start)
        #expect(bench.at(5, .tick).first == .disconnect("no answer"))
        bench.at(6, .connected)
        #expect(bench.at(11, .tick).first == .disconnect("no answer"))
    }

    @Test("a rejection is final or says when to come again", arguments: RejectCode.allCases)
    func rejections(_ code: RejectCode) {
        var bench = Bench()
        bench.at(0, .start)
        bench.at(0, .connected)
        let rejection = Rejection(code: code, reason: "why", retryMilliseconds: 3000)
        var said = bench.at(0, .rejected(rejection, isTagged: true))
        #expect(said.contains(.leaveRun) == [.data, .configuration].contains(code))
        said.removeAll { $0 == .leaveRun }
        if code.isFinal {
            #expect(said == [.disconnect("rejected"), .finish(.rejected(rejection))])
        } else {
            // A worker that must pause may be the only one: it returns soon after that.
            let delay = Duration.milliseconds(code == .quarantined ? 3050 : 3100)
            #expect(said == [.disconnect("rejected"), .connect(after: delay)])
        }
    }

    @Test(
        "whatever a stranger says without a tag, the worker tries again and keeps what it has",
        arguments: RejectCode.allCases)
    func strangers(_ code: RejectCode) {
        for hasWorked in [false, true] {
            var bench = Bench()
            if hasWorked {
                bench.join(at: 0)
                bench.lease(0, at: 1)
                bench.at(1, .computed(thread: 0, key(0)))
                bench.at(1, .disconnected("the peer closed the connection"))
            } else {
                bench.at(0, .start)
            }
            bench.at(1, .connected)
            // As long a pause as can be said.
            let rejection = Rejection(code: code, reason: "why", retryMilliseconds: .max)
            let said = bench.at(1, .rejected(rejection, isTagged: false), jitter: 0)
            #expect(said == [.disconnect("refused"), .connect(after: .zero)], "\(hasWorked)")
            bench.at(2, .connected)
            let other = bench.at(2, .refused("it speaks version 3"), jitter: 0)
            #expect(other == [.disconnect("refused"), .connect(after: .zero)])
            #expect(bench.state.lastFailure.contains("has not proved the token"))
            guard hasWorked else { continue }
            bench.at(3, .connected)
            bench.at(3, .offered(term: 1))
            #expect(bench.at(3, .prepared) == [.ready(held: [key(0)])])
        }
    }

    @Test(
        "a worker that was let in waits for its run, whatever another coordinator at its address says",
        arguments: RejectCode.allCases)
    func otherCoordinators(_ code: RejectCode) {
        var bench = Bench(patience: .seconds(5))
        bench.join(at: 0)
        bench.at(1, .disconnected("reset"))
        bench.at(1, .connected)
        bench.at(1, .offered(term: 1))
        let said = bench.at(
            1, .rejected(Rejection(code: code, reason: "why"), isTagged: true), jitter: 0)
        // A thread that hangs cannot be ended.
        let isOver = code == .stuck
        #expect(said.contains(where: isFinish) == isOver)
        #expect(said.contains(.connect(after: .zero)) == !isOver)
        guard !isOver, code != .quarantined else { return }
        #expect(bench.at(7, .tick).contains(where: isFinish))
    }

    @Test("an offer that is of no use ends a worker that has never worked, and no other")
    func uselessOffer() {
        for hasWorked in [false, true] {
            var bench = Bench()
            if hasWorked {
                bench.join(at: 0)
                bench.at(1, .disconnected("reset"))
            } else {
                bench.at(0, .start)
            }
            bench.at(1, .connected)
            #expect(bench.at(1, .offered(term: 1, start: [1])).last == .prepare)
            let said = bench.at(1, .notPrepared(.offer("unknown options")), jitter: 0)
            let expected: [WorkerState.Directive] =
                hasWorked
                ? [.disconnect("the offer is of no use"), .connect(after: .zero)] : [.fail]
            #expect(said == expected)
            if hasWorked { #expect(bench.at(2, .notPrepared(.offer("again"))) == []) }
        }
    }

    @Test("a model that came damaged is fetched once more; one that was lost on its way, always")
    func damagedModel() {
        var bench = Bench()
        bench.at(0, .start)
        bench.at(0, .connected)
        bench.at(0, .offered(term: 1))
        #expect(bench.at(1, .notPrepared(.connectionLost)) == [.prepare])
        #expect(bench.at(2, .notPrepared(.damaged("a"))) == [.prepare])
        #expect(bench.at(3, .notPrepared(.connectionLost)) == [.prepare])
        #expect(bench.at(4, .notPrepared(.damaged("b"))) == [.fail])
        #expect(bench.at(5, .notPrepared(.own)) == [.fail])
    }

    @Test("parameters that cannot be used are asked for as a member; READY speaks for those before")
    func parametersNeeded() {
        var bench = Bench()
        bench.at(0, .start)
        bench.at(0, .connected)
        #expect(bench.at(0, .parametersNeeded(version: 4)) == [])
        bench.at(0, .offered(term: 1))
        #expect(bench.at(0, .prepared) == [.ready(held: [])])
        #expect(bench.at(0, .parametersNeeded(version: 6)) == [])
        let welcome = Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)
        #expect(bench.at(1, .welcomed(welcome)) == [.askParameters(version: 6)])
        #expect(bench.at(1, .parametersNeeded(version: 7)) == [.askParameters(version: 7)])
    }

    @Test("another start of the coordinator is another one, though its term is the same")
    func restoredCopy() {
        var bench = Bench()
        bench.at(0, .start)
        bench.at(0, .connected)
        bench.at(0, .offered(term: 7, start: [1]))
        bench.at(0, .prepared)
        bench.at(0, .welcomed(Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)))
        bench.lease(0, at: 1)
        bench.at(1, .computed(thread: 0, key(0)))
        bench.at(2, .disconnected("reset"))
        bench.at(2, .connected)
        #expect(bench.at(2, .offered(term: 7, start: [2])) == [.forget(key(0)), .prepare])
        #expect(bench.at(2, .prepared) == [.ready(held: [])])
    }

    @Test("it keeps nothing of another run, and is ready for the new one once it is prepared")
    func otherRun() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.lease(1, at: 1)
        bench.at(2, .computed(thread: 0, key(0)))
        bench.at(3, .disconnected("reset"))
        bench.at(4, .connected)
        // The same term, as in a directory that was copied.
        #expect(
            bench.at(4, .offered(term: 1, isOtherRun: true)) == [
                .abandon(thread: 1, key(1)), .forget(key(1)), .forget(key(0)), .leaveRun,
            ])
        bench.at(5, .abandoned(thread: 1, key(1)))
        // There is room for the new run's engine only now.
        #expect(bench.at(5, .leftRun) == [.prepare])
        #expect(bench.at(6, .prepared) == [.ready(held: [])])
    }

    @Test("a worker that is always told that it belongs to another run gives up")
    func alwaysOtherRun() {
        var bench = Bench(patience: .seconds(5))
        bench.at(0, .start)
        var ending: WorkerState.Directive?
        for second in 0..<100 where ending == nil {
            let time = Double(second)
            bench.at(time, .connected)
            bench.at(time, .offered(term: 1))
            let said = bench.at(
                time + 0.5,
                .rejected(Rejection(code: .data, reason: "other data"), isTagged: true))
            ending = said.first(where: isFinish)
        }
        #expect(
            ending
                == .finish(
                    .patience(
                        "no coordinator has welcomed this worker for 5.0 s: the coordinator says: "
                            + "other data")))
    }

    @Test("a pause that the coordinator orders does not count against the patience")
    func orderedPause() {
        var bench = Bench(patience: .seconds(10))
        bench.at(0, .start)
        bench.at(0, .connected)
        bench.at(
            1,
            .rejected(
                Rejection(code: .quarantined, reason: "x", retryMilliseconds: 10_000),
                isTagged: true))
        #expect(bench.at(12, .connected) == [])
        #expect(bench.at(12, .tick) == [])
        #expect(bench.at(17, .tick).contains(.disconnect("no answer")))
        #expect(bench.at(21, .tick).contains(.disconnect("patience is over")))
    }

    @Test("it ends with the run, and waits for a coordinator that may come back")
    func goodbye() {
        var bench = Bench()
        bench.join(at: 0)
        #expect(bench.at(1, .dismissed(Leave(reason: .interrupted))).count == 2)
        bench.join(at: 2, term: 2)
        #expect(bench.at(3, .dismissed(Leave(reason: .complete))).last == .finish(.complete))
        var other = Bench()
        other.join(at: 0)
        let said = other.at(1, .dismissed(Leave(reason: .failed, detail: "disk full")))
        #expect(said.last == .finish(.failed("disk full")))
    }

    private func isFinish(_ directive: WorkerState.Directive) -> Bool {
        if case .finish = directive { true } else { false }
    }
}
