import SkeinBasics
import Testing

@testable import SkeinCoordination

/// Who gets which logical worker of a run with local steps.
@Suite("homes of logical workers")
struct CoordinatorHomesTests {
    /// Workers 1 ... `count` have computed a round of as many pieces in 10 s each, and the next one is
    /// open, before which others would compute `replay` rounds again.
    private func desk(
        workers count: UInt64 = 2, pieces: Int = 2, threads: Int = 1, replay: Int,
        joining others: [UInt64] = []
    ) -> (desk: Desk, said: [CoordinatorState.Directive]) {
        var desk = Desk()
        for worker in 1...count { desk.join(worker, threads: threads) }
        desk.open([Int](repeating: 100, count: pieces), replay: 0)
        for index in 0..<UInt32(pieces) {
            desk.finish(1 + UInt64(index) % count, index, at: 10)
        }
        desk.at(10, .closed(round: 1))
        for worker in others { desk.join(worker, at: 10) }
        let said = desk.open(
            [Int](repeating: 100, count: pieces), number: 2, replay: replay, at: 10)
        return (desk, said)
    }

    @Test("a logical worker goes to the process that has its state, whatever the order")
    func home() {
        let (_, said) = desk(replay: 3)
        #expect(said.leases.sorted() == ["0>1", "1>2"])
        let (_, more) = desk(replay: 3, joining: [3, 4])
        #expect(more.leases.sorted() == ["0>1", "1>2"])
    }

    @Test("a home is not waited for when there is nothing to compute again")
    func nothingToReplay() {
        var (desk, _) = desk(workers: 1, pieces: 2, replay: 0)
        // w1 has one thread: it computes one and has one ahead.
        #expect(desk.join(2, at: 10.1).leases == ["1>2"])
    }

    @Test("others compute rounds again only if they are done sooner all the same")
    func worthIt() {
        // w1 has four to do, one after the other; w2 would compute one round again.
        let (_, said) = desk(workers: 1, pieces: 4, replay: 1, joining: [2])
        #expect(said.leases.contains { $0.hasSuffix(">1") })
        #expect(said.leases.contains { $0.hasSuffix(">2") })
        let (_, none) = desk(workers: 1, pieces: 4, replay: 3, joining: [2])
        #expect(!none.leases.contains { $0.hasSuffix(">2") })
    }

    @Test("a home that is gone is waited for, as long as the rounds take that are computed again")
    func away() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        let said = desk.at(21, .left(PeerID(2), .lost("reset")))
        #expect(said.leases == [])
        #expect(said.sentences.contains { $0.contains("others wait 30.0 s for it") })
        #expect(desk.sentence(at: 22).contains("which is gone and has what 1 micro-batch need"))
        _ = desk.hear([1], from: 21, to: 50.8)
        #expect(desk.state.nextDeadline.map { $0 <= .seconds(51) } == true)
        #expect(desk.at(51, .tick).leases == ["1>1"])
    }

    @Test("a home that is back in time goes on, and its result counts")
    func back() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        desk.at(21, .left(PeerID(2), .lost("silent")))
        _ = desk.hear([1], from: 21, to: 31)
        // It still computes: the lease that it gets is the one that it has.
        #expect(desk.join(2, as: 3, at: 31).leases == ["1>3"])
        #expect(desk.finish(3, 1, round: 2, at: 32).answers == ["1 3 accepted"])
        #expect(desk.state.open?.isComplete == true)
    }

    @Test("a newer process of the same name does not have the state")
    func restarted() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        desk.at(21, .left(PeerID(2), .lost("reset")))
        #expect(desk.join(2, incarnation: 2, as: 3, at: 22).leases == ["1>1"])
    }

    @Test("a home that drains is not waited for")
    func draining() {
        var (desk, _) = desk(workers: 2, pieces: 4, replay: 3)
        #expect(desk.at(11, .draining(PeerID(2))).leases == ["2>1"])
        desk.finish(1, 0, round: 2, at: 20)
        #expect(desk.finish(1, 2, round: 2, at: 30).leases == ["3>1"])
    }

    @Test("a home that said goodbye is not waited for")
    func goodbye() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        #expect(desk.at(21, .left(PeerID(2), .goodbye)).leases == ["1>1"])
    }

    /// Three workers of whom the third's process is gone; worker 1 has its piece.
    private func orphaned() -> Desk {
        var (desk, _) = desk(workers: 3, pieces: 3, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        desk.at(21, .left(PeerID(3), .goodbye))
        return desk
    }

    @Test("who cannot rebuild a state is sent it twice, then another one tries; both stay members")
    func rebuiltInVain() {
        var desk = orphaned()
        let key = key(2, round: 2)
        #expect(desk.at(22, .stateWanted(PeerID(1), key)).replays == ["2 1"])
        #expect(desk.at(52, .stateWanted(PeerID(1), key)).replays == ["2 1"])
        let said = desk.at(82, .stateWanted(PeerID(1), key))
        #expect(said.cancellations == ["2<1"] && said.replays == [])
        #expect(!said.leases.contains("2>1"))
        #expect(said.sentences.contains { $0.contains("as w3 named it") })
        #expect(desk.finish(2, 1, round: 2, at: 83).leases.contains("2>2"))
        #expect(desk.at(84, .stateWanted(PeerID(2), key)).replays == ["2 2"])
        // No other worker has that lease.
        #expect(desk.at(84, .stateWanted(PeerID(1), key)).isEmpty)
        #expect(desk.at(84, .stateWanted(PeerID(7), key)).isEmpty)
        #expect(desk.finish(2, 2, round: 2, at: 120).answers == ["2 2 accepted"])
        #expect(desk.state.memberCount == 2)
    }

    @Test("a state that no worker can rebuild ends the run, when all have tried for long enough")
    func neverRebuilt() {
        var desk = orphaned()
        let key = key(2, round: 2)
        desk.finish(2, 1, round: 2, at: 22)
        var time = 23.0
        var ended: [String] = []
        var warnings = 0
        // Each gives up in turn; when both have, the one that gets it again goes on.
        while ended.isEmpty, time < 300 {
            for peer in [1, 2] as [UInt64] {
                let said = desk.at(time, .stateWanted(PeerID(peer), key))
                ended += said.lostStates
                warnings += said.sentences.count { $0.contains("cannot rebuild") }
                time += 1
            }
        }
        #expect(ended.count == 1 && time >= 23 + 60)
        // However often each of them fails.
        #expect(warnings == 2)
        #expect(ended.first?.contains("micro-batch 2 of step 7 starts, as w3 named it") == true)
    }

    /// Worker 2 has its piece and does not finish it, worker 1 has it, too, and asks for its state every
    /// second: everything that is said until `end`.
    private func besieged(until end: Double) -> (Desk, [CoordinatorState.Directive]) {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 1)
        desk.finish(1, 0, round: 2, at: 20)
        var time = 20.0
        var said: [CoordinatorState.Directive] = []
        while time < end {
            for peer in [1, 2] as [UInt64] { said += desk.at(time, .heard(PeerID(peer), [])) }
            said += desk.at(time, .moved(PeerID(2)))
            said += desk.at(time, .tick)
            said += desk.at(time, .stateWanted(PeerID(1), key(1, round: 2)))
            time += 1
        }
        return (desk, said)
    }

    @Test("while a state's home is here, no other that fails to rebuild it ends the run")
    func homeIsHere() {
        var (desk, said) = besieged(until: 90)
        #expect(said.leases.contains("1>1") && said.replays.count == 2)
        #expect(said.cancellations == ["1<1"] && said.rejections.isEmpty)
        #expect(said.lostStates == [] && said.givenUp == [])
        #expect(desk.finish(2, 1, round: 2, at: 91).answers == ["1 2 accepted"])
    }

    @Test("a home that does not finish what no other can rebuild must pause")
    func drippingHome() {
        let (_, said) = besieged(until: 160)
        #expect(said.rejections.contains { $0.reason.contains("does not finish micro-batch 1") })
        #expect(said.lostStates == [])
    }

    @Test("a home that drains does not keep a state alive that it named wrongly")
    func drainingHome() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 1)
        desk.finish(1, 0, round: 2, at: 20)
        desk.finish(2, 1, round: 2, at: 20)
        desk.at(21, .closed(round: 2))
        desk.at(21, .draining(PeerID(2)))
        desk.open([100, 100], number: 3, replay: 2, at: 22)
        desk.finish(1, 0, round: 3, at: 30)
        var time = 31.0
        var said: [CoordinatorState.Directive] = []
        while said.lostStates.isEmpty, time < 200 {
            said += desk.at(time, .stateWanted(PeerID(1), key(1, round: 3)))
            time += 1
        }
        #expect(time >= 31 + 60 && time < 110 && said.lostStates.count == 1)
    }

    @Test("a home that is gone for a moment is not taken for one that will not come back")
    func homeThatBlinks() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 0)
        desk.finish(1, 0, round: 2, at: 20)
        let key = key(1, round: 2)
        // w2 is past its deadline: w1, which is idle, begins, too.
        var said = desk.hear([1, 2], from: 20, to: 45)
        #expect(said.leases == ["1>1"])
        for _ in 0..<3 { said += desk.at(45, .stateWanted(PeerID(1), key)) }
        said += desk.at(46, .moved(PeerID(2)))
        said += desk.hear([1, 2], from: 46, to: 100)
        said += desk.at(106, .left(PeerID(2), .lost("reset")))
        for _ in 0..<3 { said += desk.at(106, .stateWanted(PeerID(1), key)) }
        #expect(said.lostStates == [] && said.replays.count >= 2)
        desk.join(2, as: 3, at: 107)
        #expect(desk.finish(3, 1, round: 2, at: 108).answers == ["1 3 accepted"])
    }

    @Test("a lease that rebuilt a state says nothing of its worker's pace")
    func replayedPace() {
        var desk = orphaned()
        let key = key(2, round: 2)
        desk.at(21, .stateWanted(PeerID(1), key))
        let before = desk.state.standings["w1"]?.pace(.gradient)
        desk.finish(1, 2, round: 2, at: 300)
        #expect(before == 0.1 && desk.state.standings["w1"]?.pace(.gradient) == 0.1)
    }

    @Test("a judge that lacks the state gets it, too, and one that rebuilds in vain is replaced")
    func judge() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 0)
        desk.finish(1, 0, round: 2, at: 20)
        #expect(desk.hear([1, 2], from: 20, to: 45).leases == ["1>1"])
        desk.join(3, at: 46)
        let key = key(1, round: 2)
        desk.at(46, .arrived(PeerID(2), key, attempt: 1, digest: [1]))
        desk.at(46, .arrived(PeerID(1), key, attempt: 1, digest: [2]))
        let said = desk.at(46, .checked(PeerID(2), key, .accepted))
        #expect(said.reasons == [.disputed("w2", "w1")] && said.leases == ["1>3"])
        for _ in 0..<2 { #expect(desk.at(47, .stateWanted(PeerID(3), key)).replays == ["1 3"]) }
        desk.join(4, at: 48)
        let more = desk.at(48, .stateWanted(PeerID(3), key))
        #expect(more.cancellations == ["1<3"] && more.leases == ["1>4"])
        let ending = desk.at(48, .arrived(PeerID(4), key, attempt: 1, digest: [1]))
        #expect(ending.contains(.settle(key)))
    }

    @Test("a silent home's piece is doubled only when a replay would have been done by then")
    func silent() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        #expect(desk.hear([1], from: 20, to: 22.4).leases == [])
    }
}
