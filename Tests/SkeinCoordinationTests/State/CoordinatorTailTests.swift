import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("the last pieces of a round")
struct CoordinatorTailTests {
    /// Workers that have each taken so many seconds for 100 tokens, and no open round.
    private static func desk(_ seconds: [Double]) -> Desk {
        var desk = Desk()
        for worker in seconds.indices { desk.join(UInt64(worker + 1)) }
        desk.open(seconds.map { _ in 100 })
        for (index, time) in seconds.enumerated().sorted(by: { $0.element < $1.element }) {
            let peers = (1...seconds.count).map { PeerID(UInt64($0)) }
            for peer in peers { desk.at(time, .heard(peer, [])) }
            desk.finish(UInt64(index + 1), UInt32(index), at: time)
        }
        desk.at(seconds.max() ?? 0, .closed(round: 1))
        return desk
    }

    @Test("with known paces each piece goes ahead to the thread that should be free first")
    func ahead() {
        var desk = Self.desk([1, 1])
        let said = desk.open([100, 90, 80, 70], number: 2, at: 1)
        #expect(said.leases == ["0>1", "1>2", "2>2", "3>1"])
        #expect(said.reasons == [.next, .next, .prefetch, .prefetch])
    }

    @Test("paces that differ by less than an eighth count as equal")
    func alike() {
        var desk = Self.desk([0.95, 1])
        // By their own paces w1 would be done with 100 tokens before w2 is with 97.
        let said = desk.open([100, 97, 80, 70], number: 2, at: 1)
        #expect(said.leases == ["0>1", "1>2", "2>2", "3>1"])
    }

    @Test("a slow worker gets nothing ahead that another one would be free for sooner")
    func slow() {
        var desk = Self.desk([0.25, 1])
        let said = desk.open([100, 100, 100, 100], number: 2, at: 1)
        #expect(said.leases == ["0>1", "1>2", "2>1"])
        // w1 is done with its first, and would be with its second before w2 with its only one.
        #expect(desk.finish(1, 0, round: 2, at: 1.25).leases == ["3>1"])
    }

    @Test("if a guess was wrong, the idle worker takes over what waits")
    func wrong() {
        var desk = Self.desk([1, 1])
        #expect(desk.open([100, 90, 80], number: 2, at: 1).leases == ["0>1", "1>2", "2>2"])
        let said = desk.finish(1, 0, round: 2, at: 1.5)
        #expect(said.cancellations == ["2<2"])
        #expect(said.leases == ["2>1"])
        #expect(said.reasons == [.takenOver(from: "w2")])
    }

    @Test("while the pace of a worker is not known, or its heartbeat is late, nothing is planned")
    func unknown() {
        var desk = Self.desk([1, 1])
        desk.join(3, at: 1)
        let said = desk.open([100, 100, 100, 100, 100], number: 2, at: 1)
        #expect(said.reasons == [.next, .next, .next])

        var late = Self.desk([1, 1])
        late.at(1.9, .heard(PeerID(1), []))
        #expect(late.open([100, 90, 80, 70], number: 2, at: 1.9).reasons == [.next, .next])
    }

    @Test("equal workers whose results come almost together both get their next piece ahead")
    func together() {
        var desk = Self.desk([1, 1])
        let first = desk.open([100, 100, 100, 100, 100, 100], number: 2, at: 1)
        #expect(first.leases == ["0>1", "1>2", "2>1", "3>2"])
        // w2 should be free first, but it has a piece that waits.
        #expect(desk.finish(1, 0, round: 2, at: 2).leases.isEmpty)
        #expect(desk.finish(2, 1, round: 2, at: 2.001).leases == ["4>1", "5>2"])
    }

    @Test("a piece that was given back keeps that as its reason")
    func givenBack() {
        var desk = Self.desk([1, 1, 1])
        #expect(desk.open([100, 100, 100], number: 2, at: 1).leases.count == 3)
        let said = desk.at(1.1, .left(PeerID(3), .lost("reset")))
        #expect(said.leases.count == 1)
        #expect(said.reasons == [.released(by: "w3")])
    }

    @Test("in a large fleet a plan is made at most twenty times a second")
    func seldom() {
        let fleet = 64
        var desk = Self.desk(Array(repeating: 0.01, count: fleet))
        let pieces = Array(repeating: 100, count: fleet + 1)
        #expect(desk.open(pieces, number: 2, at: 0.1).leases.count == fleet + 1)
        desk.at(0.1, .closed(round: 2))
        #expect(desk.open(pieces, number: 3, at: 0.12).leases.count == fleet)
        desk.at(0.12, .closed(round: 3))
        #expect(desk.open(pieces, number: 4, at: 0.16).leases.count == fleet + 1)
    }
}
