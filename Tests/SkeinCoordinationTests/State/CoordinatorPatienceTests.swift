import SkeinBasics
import Testing

@testable import SkeinCoordination

/// How long a coordinator waits for enough workers.
@Suite("a coordinator's patience")
struct CoordinatorPatienceTests {
    /// Reports a worker that prepares, and the time.
    private func prepares(
        _ desk: inout Desk, _ number: UInt64, _ bytes: UInt64, at seconds: Double
    ) -> [String] {
        let event = CoordinatorState.Event.preparing(
            PeerID(number), name: "w\(number)", address: "10.0.0.\(number):4011", bytes: bytes)
        return (desk.at(seconds, event) + desk.at(seconds, .tick)).givenUp
    }

    @Test("the first worker to join does not end the run, however late it is")
    func firstIsLate() {
        var desk = Desk(minimumWorkers: 2, patience: .seconds(6))
        desk.open([1, 1])
        #expect(desk.state.giveUpAt == .seconds(60))
        #expect(desk.at(10, .tick).givenUp.isEmpty)
        #expect(desk.join(1, at: 10).givenUp.isEmpty)
        #expect(desk.hear([1], from: 10, to: 15.9).givenUp.isEmpty)
        #expect(desk.join(2, at: 15.9).leases == ["0>1", "1>2"])
    }

    @Test("it restarts with every worker that joins, and ends when no more come")
    func joins() {
        var desk = Desk(minimumWorkers: 4, patience: .seconds(6))
        desk.open([1])
        for number in 1...3 {
            desk.join(UInt64(number), at: Double(5 * number))
        }
        let peers: [UInt64] = [1, 2, 3]
        #expect(desk.hear(peers, from: 15, to: 20.9).givenUp.isEmpty)
        let sentences = desk.hear(peers, from: 21, to: 21).givenUp
        #expect(
            sentences == [
                "step 7 has waited 21.0 s for 1 more worker (3 of 4 needed are here); "
                    + "the patience is over"
            ])
    }

    @Test("a worker whose model makes progress is waited for; one that is only alive is not")
    func preparations() {
        var desk = Desk(minimumWorkers: 2, patience: .seconds(6))
        desk.join(1)
        desk.open([1, 1])
        for second in 1...60 {
            let time = Double(second)
            desk.hear([1], from: time - 0.9, to: time)
            #expect(prepares(&desk, 2, UInt64(second) << 20, at: time).isEmpty, "\(second) s")
        }
        for second in 61...65 {
            let time = Double(second)
            desk.hear([1], from: time - 0.9, to: time)
            #expect(prepares(&desk, 2, 60 << 20, at: time).isEmpty, "\(second) s")
        }
        desk.hear([1], from: 65.1, to: 65.9)
        #expect(
            prepares(&desk, 2, 60 << 20, at: 66) == [
                "step 7 has waited 66.0 s for 1 more worker (1 of 2 needed is here); "
                    + "w2 (10.0.0.2:4011) is preparing (60 MiB of the model done, the last 6.0 s "
                    + "ago); the patience is over"
            ])
    }

    @Test("one that is alive and gets nowhere is sent away after five patiences")
    func standsStill() {
        var desk = Desk(patience: .seconds(6))
        desk.join(1)
        desk.open([1])
        _ = prepares(&desk, 2, 0, at: 1)
        _ = prepares(&desk, 3, 0, at: 1)
        _ = prepares(&desk, 2, 5 << 20, at: 2)
        #expect(desk.state.nextUnready == .seconds(31))
        // The third one's model is slow to come.
        desk.at(30, .moved(PeerID(3)))
        desk.hear([1, 2, 3], from: 2, to: 31.9)
        #expect(desk.state.preparations.count == 2)
        let said = desk.at(32, .tick)
        let reason = "no progress with its model for 30.0 s, though it is alive; 5 MiB are done"
        #expect(said.rejections == [Rejection(code: .timeout, reason: reason)])
        #expect(!RejectCode.timeout.isFinal)
        #expect(said.sentences.contains("hung up on w2 (10.0.0.2:4011): \(reason)"))
        #expect(desk.state.preparations.keys.map(\.number) == [3])
        #expect(desk.state.nextUnready == .seconds(60))
        desk.hear([1, 3], from: 32, to: 59.9)
        let later = desk.at(60, .tick)
        #expect(later.rejections.count == 1)
        #expect(desk.state.nextUnready == nil)
    }

    @Test("one that is silent while it prepares is sent away like a member")
    func silent() {
        var desk = Desk()
        _ = prepares(&desk, 2, 0, at: 1)
        desk.at(2, .heard(PeerID(2), []))
        _ = prepares(&desk, 3, 0, at: 4)
        #expect(desk.state.nextDeadline == .seconds(4.5))
        let said = desk.at(4.5, .tick)
        let reason = "silent for 2.5 s while it prepared"
        #expect(said.rejections == [Rejection(code: .timeout, reason: reason)])
        #expect(desk.state.preparations.keys.map(\.number) == [3])
        #expect(desk.at(6.5, .tick).rejections.count == 1)
        #expect(desk.state.preparations.isEmpty)
    }

    @Test("a worker that returns with what it had does not extend the patience")
    func returnsWithTheSame() {
        var desk = Desk(minimumWorkers: 2, patience: .seconds(6))
        desk.join(1)
        desk.open([1, 1])
        _ = prepares(&desk, 2, 0, at: 1)
        _ = prepares(&desk, 2, 5 << 20, at: 2)
        #expect(desk.state.giveUpAt == .seconds(8))
        desk.at(3, .left(PeerID(2), .lost("reset")))
        let again = CoordinatorState.Event.preparing(
            PeerID(7), name: "w2", address: "10.0.0.2:4012", bytes: 0)
        desk.at(4, again)
        func told(_ bytes: UInt64, at seconds: Double) {
            desk.at(
                seconds,
                .preparing(PeerID(7), name: "w2", address: "10.0.0.2:4012", bytes: bytes))
        }
        told(5 << 20, at: 5)
        #expect(desk.state.giveUpAt == .seconds(8))
        told(6 << 20, at: 6)
        #expect(desk.state.giveUpAt == .seconds(12))
    }

    @Test("the sentence says who prepares, and what restarts the patience")
    func sentence() {
        var desk = Desk(minimumWorkers: 3)
        desk.open([1])
        desk.join(1, at: 1)
        _ = prepares(&desk, 2, 0, at: 2)
        _ = prepares(&desk, 3, 0, at: 2)
        desk.at(3, .heard(PeerID(1), []))
        _ = prepares(&desk, 2, 5 << 20, at: 4)
        #expect(
            desk.sentence(at: 5)
                == "step 7 has waited 5.0 s for 2 more workers (1 of 3 needed is here); "
                + "w2 (10.0.0.2:4011) is preparing (5 MiB of the model done, the last 1.0 s ago), "
                + "and 1 more; the run gives up in 59.0 s, counted again whenever a worker joins "
                + "or makes progress with its preparation")
        desk.at(6, .left(PeerID(2), .lost("reset")))
        desk.join(3, at: 7)
        #expect(!desk.sentence(at: 8).contains("preparing"))
    }

    @Test("workers that prepare take places, too")
    func full() {
        var settings = CoordinatorSettings()
        settings.maximumWorkers = 1
        var state = CoordinatorState(settings: settings, now: .zero)
        _ = state.handle(
            .preparing(PeerID(1), name: "a", address: "x:1", bytes: 0), now: .zero)
        #expect(state.admission(name: "b", incarnation: [1], now: .zero)?.code == .full)
        let member = Member(name: "a", address: "x:1", threads: 1, incarnation: [1])
        #expect(state.handle(.joined(PeerID(1), member), now: .zero).isEmpty)
    }
}
