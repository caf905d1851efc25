import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("who is let in and who is waited for")
struct CoordinatorMemberTests {
    @Test("who is heard keeps its name; a newcomer is told, and gets it when the other is silent")
    func nameTaken() {
        var desk = Desk()
        desk.join(1, incarnation: 1)
        desk.open([1])
        let told = desk.state.admission(name: "w1", incarnation: [2], now: .seconds(1))
        #expect(told?.code == .nameTaken)
        #expect(told?.reason == "w1 (10.0.0.1:4011) has this name and was heard 1.0 s ago")
        #expect(told?.retryMilliseconds == 1500)
        // It prepares for so long that the other one may be back.
        #expect(desk.join(1, incarnation: 2, as: 5, at: 1).rejections.map(\.code) == [.nameTaken])
        desk.at(2, .heard(PeerID(1), []))
        func code(_ incarnation: UInt8, _ seconds: Int) -> RejectCode? {
            desk.state.admission(
                name: "w1", incarnation: [incarnation], now: .seconds(seconds))?.code
        }
        #expect(code(2, 4) == .nameTaken)
        #expect(code(1, 4) == nil)
        let said = desk.join(1, incarnation: 2, as: 6, at: 4.6)
        #expect(said.rejections.map(\.code) == [.timeout])
        #expect(said.leases == ["0>6"])
        #expect(desk.at(4.6, .left(PeerID(1), .lost("reset"))) == [])
        // The one that was silent comes back.
        #expect(code(1, 5) == .nameTaken)
        desk.at(6, .left(PeerID(6), .goodbye))
        #expect(code(1, 6) == nil)
    }

    @Test("only the coordinator's own worker has its name")
    func ownName() {
        for own in [nil, [7]] as [[UInt8]?] {
            var settings = CoordinatorSettings()
            settings.ownIncarnation = own
            let state = CoordinatorState(settings: settings, now: .zero)
            let other = state.admission(name: "local", incarnation: [8], now: .zero)
            #expect(other?.code == .nameTaken)
            let found = state.admission(name: "local", incarnation: [7], now: .zero)
            #expect((found == nil) == (own != nil))
        }
    }

    @Test("a worker that connects again before its old connection ended keeps its name")
    func reconnected() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        let said = desk.join(1, as: 5, at: 1)
        #expect(said.rejections.map(\.reason) == ["w1 has connected again from 10.0.0.1:4011"])
        #expect(said.leases == ["0>5"])
        #expect(desk.state.admission(name: "w1", incarnation: [1], now: .seconds(1)) == nil)
    }

    @Test("three lost connections are bad luck, the fourth in a row is a failure")
    func lostInARow() {
        var desk = Desk()
        desk.open([1, 1, 1])
        for peer in 1...3 {
            desk.join(1, as: UInt64(peer), at: Double(peer))
            desk.at(Double(peer), .left(PeerID(UInt64(peer)), .lost("reset")))
            #expect(
                desk.state.admission(name: "w1", incarnation: [1], now: .seconds(peer)) == nil)
        }
        desk.join(1, as: 4, at: 4)
        desk.at(4, .left(PeerID(4), .lost("reset")))
        let rejection = desk.state.admission(name: "w1", incarnation: [1], now: .seconds(4))
        #expect(rejection?.code == .quarantined)
    }

    @Test("a good result in between starts the count of lost connections again")
    func lostNotInARow() {
        var desk = Desk()
        desk.open([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
        for peer in 1...8 {
            desk.join(1, as: UInt64(peer), at: Double(peer))
            if peer == 4 { desk.finish(4, 0, at: 4) }
            desk.at(Double(peer), .left(PeerID(UInt64(peer)), .lost("reset")))
            let rejection = desk.state.admission(
                name: "w1", incarnation: [1], now: .seconds(peer))
            #expect((rejection == nil) == (peer != 7 && peer != 8), "peer \(peer)")
            if rejection != nil { return }
        }
    }

    @Test("no worker is let in when the coordinator is about to end, or when it is full")
    func closedDoors() {
        var desk = Desk()
        desk.join(1)
        desk.at(1, .stopAdmitting)
        let rejection = desk.state.admission(name: "w2", incarnation: [1], now: .seconds(1))
        #expect(rejection?.code == .draining)
        #expect(desk.join(2, at: 1).rejections.map(\.code) == [.draining])

        var settings = CoordinatorSettings()
        settings.maximumWorkers = 1
        var small = CoordinatorState(settings: settings, now: .zero)
        let member = Member(name: "a", address: "x:1", threads: 1, incarnation: [1])
        _ = small.handle(.joined(PeerID(1), member), now: .zero)
        let full = small.admission(name: "b", incarnation: [1], now: .zero)
        #expect(full?.code == .full)
        #expect(small.admission(name: "a", incarnation: [2], now: .seconds(3)) == nil)
    }

    @Test("thread counts from a hostile or broken peer are clamped", arguments: [-5, 0, 1 << 40])
    func threads(_ count: Int) {
        var desk = Desk()
        desk.join(1, threads: count)
        let leases = desk.open(Array(repeating: 1, count: 5000)).leases.count
        #expect(leases == (count > 1 ? 2048 : 2))
    }

    @Test("events of unknown peers change nothing")
    func unknownPeers() {
        var desk = Desk()
        desk.open([1])
        let peer = PeerID(77)
        #expect(desk.at(1, .heard(peer, [])) == [])
        #expect(desk.arrive(77, 0, at: 1) == [])
        #expect(desk.check(77, 0, at: 1) == [])
        #expect(desk.at(1, .left(peer, .goodbye)) == [])
        #expect(desk.at(1, .draining(peer)) == [])
        #expect(desk.at(1, .closed(round: 9)) == [])
    }

    @Test("a worker lost because of its silence is named in the log, even one without work")
    func silentLoss() {
        var desk = Desk()
        desk.join(1)
        let lost = desk.at(2.5, .tick)
        #expect(lost.rejections.map(\.code) == [.timeout])
        #expect(
            lost.sentences == ["lost w1 (10.0.0.1:4011), which had no work: silent for 2.5 s"])
    }

    @Test("the sentence names the culprit, since when, and what comes next")
    func sentences() {
        var desk = Desk(minimumWorkers: 2)
        #expect(
            desk.sentence(at: 2)
                == "the coordinator has been preparing the run for 2.0 s; then it leases the first step"
        )
        desk.join(1, at: 2)
        desk.open([100, 100], at: 3)
        #expect(
            desk.sentence(at: 15)
                == "step 7 has waited 12.0 s for 1 more worker (1 of 2 needed is here); the run gives "
                + "up in 48.0 s, counted again whenever a worker joins or makes progress with its "
                + "preparation")
        desk.join(2, at: 15)
        #expect(
            desk.sentence(at: 15.5)
                == "step 7 has waited 0.5 s for micro-batch 0 on worker w1 (10.0.0.1:4011), last heard "
                + "13.5 s ago; it counts as lost in 0.0 s, then the micro-batch goes to another "
                + "worker")
        desk.at(16, .heard(PeerID(1), []))
        desk.at(16, .heard(PeerID(2), []))
        #expect(
            desk.sentence(at: 16)
                == "step 7 has waited 1.0 s for micro-batch 0 on worker w1 (10.0.0.1:4011), last heard "
                + "0.0 s ago; its first, so its pace is unknown; overdue in 59.0 s")
        desk.finish(2, 1, at: 17)
        #expect(
            desk.sentence(at: 17)
                == "step 7 has waited 2.0 s for micro-batch 0 on worker w1 (10.0.0.1:4011), last heard "
                + "1.0 s ago; expected any moment, overdue in 2.0 s")
        desk.arrive(1, 0, at: 17.5)
        #expect(
            desk.sentence(at: 17.7)
                == "step 7 has waited 0.2 s for the coordinator: it checks the result of "
                + "micro-batch 0 from w1, 1 in all")
        desk.check(1, 0, at: 18)
        #expect(
            desk.sentence(at: 18.5)
                == "step 7 has waited 0.5 s for the coordinator: every micro-batch is accepted; "
                + "it closes the round next")
        desk.at(19, .closed(round: 1))
        desk.at(19, .phase(.betweenSteps("applies AdamW")))
        #expect(
            desk.sentence(at: 19.1)
                == "between steps: the coordinator applies AdamW (for 0.1 s); "
                + "then it leases the next step")
        desk.at(20, .phase(.finished))
        #expect(desk.state.waiting(now: .seconds(21)).culprit == .nobody)
    }

    @Test("a stall is reported after 5 s, then every 5 s, and every 30 s after half a minute")
    func stalls() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        var told: [Int] = []
        for second in 1...130 {
            desk.at(Double(second), .heard(PeerID(1), []))
            let said = desk.at(Double(second), .tick)
            if said.sentences.contains(where: { $0.contains("worker w1") }) { told.append(second) }
        }
        #expect(told == [5, 10, 15, 20, 25, 30, 60, 90, 120])
    }

    @Test("a long micro-batch that advances is no stall; one that does not is")
    func slowProgress() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        var told: [Int] = []
        for second in 1...40 {
            let done = UInt16(10 * min(second, 20))
            desk.at(
                Double(second),
                .heard(PeerID(1), [Heartbeat.Progress(key: key(0), thousandths: done)]))
            let said = desk.at(Double(second), .tick)
            if said.sentences.contains(where: { $0.contains("worker w1") }) { told.append(second) }
        }
        #expect(told == [25, 30, 35, 40])
    }

    @Test("the snapshot shows what a status page needs")
    func snapshot() {
        var desk = Desk()
        desk.join(1, threads: 2)
        desk.join(2)
        desk.open([100, 100, 100, 100, 100, 100, 100, 100])
        desk.finish(1, 0, at: 1)
        desk.arrive(2, 1, at: 1)
        desk.check(2, 1, .refused("x"), at: 1)
        let snapshot = desk.state.snapshot(of: RunSnapshot.Progress(), now: .seconds(1.5))
        #expect(snapshot.workers.map(\.name) == ["w1"])
        #expect(snapshot.workers.first?.work?.tokensPerSecond == 200)
        #expect(snapshot.workers.first?.work?.accepted == 1)
        #expect(snapshot.paused.map(\.name) == ["w2"])
        #expect(snapshot.round?.accepted == 1)
        #expect(snapshot.counters.refused == 1)
        #expect(snapshot.round?.label == .step(7))
    }
}
