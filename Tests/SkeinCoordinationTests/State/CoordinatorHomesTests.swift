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

    @Test("nobody waits for a home when there is nothing to compute again")
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

    @Test("a silent home's piece is doubled only when a replay would have been done by then")
    func silent() {
        var (desk, _) = desk(workers: 2, pieces: 2, replay: 3)
        desk.finish(1, 0, round: 2, at: 20)
        #expect(desk.hear([1], from: 20, to: 22.4).leases == [])
    }
}
