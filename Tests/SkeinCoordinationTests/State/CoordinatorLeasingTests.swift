import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("leasing")
struct CoordinatorLeasingTests {
    @Test("work goes out in order, to one worker after the other, to as many as have threads")
    func inOrder() {
        var desk = Desk()
        desk.join(1, threads: 2)
        desk.join(2)
        #expect(desk.open([1, 1, 1]).leases == ["0>1", "1>2", "2>1"])
    }

    @Test("a worker gets one more for each thread while there is plenty, and none in the tail")
    func prefetch() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        // 6 pieces: 2 computed, then 4 unleased for 2 threads: 2 are fetched ahead, 2 stay.
        let said = desk.open([1, 1, 1, 1, 1, 1])
        #expect(said.leases == ["0>1", "1>2", "2>1", "3>2"])
        #expect(said.reasons == [.next, .next, .prefetch, .prefetch])
        #expect(desk.finish(1, 0, at: 1).leases == [])
        #expect(desk.finish(1, 2, at: 2).leases == ["4>1"])
    }

    @Test("an idle worker starts what waits behind other work at a busy one")
    func takeOver() {
        var desk = Desk()
        desk.join(1)
        desk.open([100, 100, 100])
        let said = desk.join(2, at: 0.1)
        #expect(said.leases == ["2>2"])
        // The third is left for it; with nothing left, the one that waits at w1 moves.
        let more = desk.arrive(2, 2, at: 0.2) + desk.check(2, 2, at: 0.2)
        #expect(more.cancellations == ["1<1"])
        #expect(more.leases == ["1>2"])
        #expect(more.reasons == [.takenOver(from: "w1")])
    }

    @Test("nothing starts before --min-workers have joined; afterwards the others continue")
    func minimumWorkers() {
        var desk = Desk(minimumWorkers: 2)
        desk.open([1, 1])
        #expect(desk.join(1).leases == [])
        #expect(desk.join(2, at: 1).leases == ["0>1", "1>2"])
        #expect(desk.at(2, .left(PeerID(2), .lost("reset"))).leases == [])
        #expect(desk.finish(1, 0, at: 3).leases == ["1>1"])
    }

    @Test("too few workers for --patience end the run; ten times that before the first one joined")
    func patience() {
        var desk = Desk(minimumWorkers: 2, patience: .seconds(10))
        desk.open([1])
        #expect(desk.at(99.9, .tick).givenUp == [])
        #expect(desk.state.nextDeadline ?? .zero <= .seconds(100))
        #expect(
            desk.at(100, .tick).givenUp == [
                "step 7 has waited 100.0 s for 2 more workers (0 of 2 needed are here); "
                    + "the patience is over"
            ])
        #expect(desk.at(101, .tick) == [])
    }

    @Test("the work of a worker that leaves goes to others at once")
    func leaving() {
        var desk = Desk()
        desk.join(1)
        desk.join(2, threads: 2)
        desk.open([1, 1])
        let said = desk.at(1, .left(PeerID(1), .lost("reset")))
        #expect(said.leases == ["0>2"])
        #expect(said.reasons == [.released(by: "w1")])
    }

    @Test("a worker whose heartbeat is late shares its work, one silent for 2.5 s loses it")
    func silence() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1])
        #expect(desk.hear([2], from: 0, to: 0.7).leases == [])
        let shared = desk.hear([2], from: 0.8, to: 0.9)
        #expect(shared.leases == ["0>2"])
        #expect(shared.reasons == [.silent("w1")])
        let lost = desk.hear([2], from: 1, to: 2.6)
        #expect(lost.rejections.map(\.code) == [.timeout])
        #expect(lost.leases == [])
        #expect(desk.arrive(1, 0, at: 2.7) == [])
    }

    @Test("a worker past its deadline shares its work; the deadline of a first lease is patience")
    func deadline() {
        var desk = Desk(patience: .seconds(10))
        desk.join(1)
        desk.join(2)
        desk.open([100])
        #expect(desk.hear([1, 2], from: 0.1, to: 10).leases == [])
        #expect(desk.hear([1, 2], from: 10.1, to: 10.2).reasons == [.overdue("w1")])
    }

    @Test("a slow worker shares its work, and its result can still be first")
    func slow() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([100, 100])
        desk.hear([1, 2], from: 0.1, to: 1)
        // 1 s for 100 tokens: no lease is overdue before the floor of 2 s.
        #expect(desk.finish(2, 1, at: 1).leases == [])
        let doubled = desk.hear([1, 2], from: 1.1, to: 1.7)
        #expect(doubled.leases == ["0>2"])
        #expect(doubled.reasons == [.straggler("w1")])
        let first = desk.finish(1, 0, at: 1.8)
        #expect(first.cancellations == ["0<2"])
        #expect(first.answers == ["0 1 accepted"])
    }

    @Test("what would be finished last is given to a faster worker, too, and never a third time")
    func straggler() {
        var desk = Desk()
        for worker in 1...4 { desk.join(UInt64(worker)) }
        desk.open([100, 100, 100, 100])
        desk.hear([1, 2, 3, 4], from: 0.1, to: 1)
        desk.finish(1, 0, at: 1)
        desk.finish(2, 1, at: 1)
        desk.at(20, .heard(PeerID(4), []))
        desk.finish(3, 2, at: 20)
        let said = desk.hear([1, 2, 3, 4], from: 20.1, to: 20.4)
        #expect(said.leases == [])
        #expect(desk.state.counters.speculative == 1)
        #expect(desk.state.counters.leases == 5)
    }

    @Test("a worker that reports little progress is doubled before its deadline")
    func progress() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([100, 100])
        desk.hear([1, 2], from: 0.1, to: 1)
        desk.finish(2, 1, at: 1)
        #expect(desk.at(1.2, .tick).leases == [])
        // 5 % after 1.2 s: 24 s in all, and w2 needs 1 s.
        let progress = Heartbeat.Progress(key: key(0), thousandths: 50)
        desk.at(1.2, .heard(PeerID(1), [progress]))
        #expect(desk.at(1.3, .tick).reasons == [.straggler("w1")])
    }

    @Test("a draining worker keeps what it computes and nothing else")
    func draining() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1])
        desk.join(2, at: 0.1)
        let said = desk.at(0.2, .draining(PeerID(1)))
        #expect(said.cancellations == ["1<1"])
        #expect(said.leases == [])
        let next = desk.finish(2, 2, at: 0.3)
        #expect(next.leases == ["1>2"])
        #expect(desk.finish(1, 0, at: 0.4).leases == [])
    }

    @Test("finished work that a worker brings along is leased to it first")
    func held() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1])
        desk.at(1, .left(PeerID(1), .lost("reset")))
        let said = desk.join(1, as: 9, held: [1, 7], at: 1.2)
        #expect(said.leases == ["1>9", "0>9"])
        #expect(said.reasons.first == .held)
        #expect(said.answers == ["7 9 stale"])
        #expect(desk.arrive(9, 1, at: 1.3).checks == ["1 9"])
    }

    @Test("a worker that brings along all that it may keep gets no other until some is handed in")
    func muchHeld() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1, 1])
        desk.at(0.1, .left(PeerID(1), .lost("reset")))
        #expect(desk.join(1, as: 9, held: [0, 1], at: 0.2).leases == ["0>9", "1>9"])
        #expect(desk.arrive(9, 0, at: 0.3).leases == [])
        #expect(desk.check(9, 0, at: 0.4).leases == ["2>9"])
    }

    @Test("a closed round takes all its leases back")
    func closing() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1, 1, 1])
        desk.arrive(2, 1, at: 1)
        let said = desk.at(1, .closed(round: 1))
        #expect(said.cancellations == ["0<1", "2<2"])
        #expect(said.answers == ["1 2 stale"])
        #expect(desk.check(2, 1, at: 2) == [])
        #expect(desk.arrive(1, 0, at: 2).answers == ["0 1 stale"])
    }

    @Test("4096 workers and 65536 pieces take no longer than their number")
    func scale() {
        var desk = Desk()
        for worker in 1...4096 { desk.join(UInt64(worker)) }
        var waiting = desk.open(Array(repeating: 10, count: 65536)).leases
        #expect(waiting.count == 8192)
        var accepted = 0
        var time = 0.0
        while !waiting.isEmpty {
            var next: [String] = []
            for lease in waiting {
                let parts = lease.split(separator: ">")
                guard let index = UInt32(parts[0]), let peer = UInt64(parts[1]) else { continue }
                time += 0.00001
                let said = desk.finish(peer, index, at: time)
                accepted += said.answers.count { $0.hasSuffix("accepted") }
                next += said.leases
            }
            waiting = next
        }
        #expect(accepted == 65536)
    }
}
