import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("room for results")
struct CoordinatorRoomTests {
    @Test(
        "results beyond what may wait stay at their workers, and are asked for when there is room")
    func room() {
        var settings = CoordinatorSettings()
        settings.maximumUnchecked = 2
        var desk = Desk(settings: settings)
        desk.join(1, threads: 1024)
        desk.open(Array(repeating: 1, count: 100))
        var dropped: [CoordinatorState.Directive] = []
        for index in 0..<100 as Range<UInt32> { dropped += desk.arrive(1, index, at: 1) }
        #expect(desk.state.open?.unchecked == 2)
        #expect(dropped.checks == ["0 1", "1 1"])
        #expect(dropped.count { if case .drop = $0 { true } else { false } } == 98)
        #expect(dropped.answers == [])
        // One after the other comes in again, in order, and none is computed again.
        for index in 0..<100 as Range<UInt32> {
            let said = desk.check(1, index, at: 2)
            #expect(said.answers == ["\(index) 1 accepted"])
            guard index < 98 else { continue }
            #expect(said.leases == ["\(index + 2)>1"])
            #expect(said.reasons == [.recalled])
            #expect(desk.arrive(1, index + 2, at: 2).checks == ["\(index + 2) 1"])
        }
        #expect(desk.state.open?.isComplete == true)
    }

    /// There is room for one result. That of worker 1 was checked; worker 2 keeps those of pieces 1 to
    /// `kept`, and has been asked for the first of them at 2 s.
    private func recalled(kept: Int) -> Desk {
        var settings = CoordinatorSettings()
        settings.maximumUnchecked = 1
        var desk = Desk(settings: settings)
        desk.join(1)
        desk.join(2, threads: kept)
        desk.open(Array(repeating: 1, count: 4))
        desk.arrive(1, 0, at: 1)
        for index in 1...UInt32(kept) { desk.arrive(2, index, at: 1) }
        #expect(desk.check(1, 0, at: 2).reasons.contains(.recalled))
        return desk
    }

    /// Once a second both are heard; with `moving`, bytes of worker 2 move, too.
    private func wait(
        _ desk: inout Desk, from: Int, to: Int, moving: Bool
    ) -> [CoordinatorState.Directive] {
        var said: [CoordinatorState.Directive] = []
        for second in from...to {
            for peer in [1, 2] as [UInt64] {
                said += desk.at(Double(second), .heard(PeerID(peer), []))
            }
            if moving { said += desk.at(Double(second), .moved(PeerID(2))) }
            said += desk.at(Double(second), .tick)
        }
        return said
    }

    @Test("room for a result that was asked for is kept while its bytes move")
    func movingBytes() {
        var desk = recalled(kept: 1)
        #expect(wait(&desk, from: 3, to: 8, moving: true).cancellations == [])
        let said = wait(&desk, from: 9, to: 11, moving: false) + desk.arrive(1, 2, at: 12)
        #expect(said.contains(.drop(PeerID(1), key(2))))
        #expect(!said.reasons.contains(.recalled))
        #expect(desk.arrive(2, 1, at: 13).checks == ["1 2"])
    }

    @Test("room is kept no longer than the patience, whatever bytes move")
    func endlessBytes() {
        var desk = recalled(kept: 1)
        #expect(!wait(&desk, from: 3, to: 11, moving: true).cancellations.contains("1<2"))
        desk.arrive(1, 2, at: 12)
        #expect(!wait(&desk, from: 12, to: 62, moving: true).reasons.contains(.recalled))
        let said = wait(&desk, from: 63, to: 63, moving: true)
        #expect(said.cancellations == ["1<2"])
        #expect(said.leases.contains("2>1"))
        #expect(said.reasons.contains(.recalled))
        // A result that still comes was sent over a slow line and is not wasted.
        let late = desk.arrive(2, 1, at: 64)
        #expect(late.answers == [])
        #expect(late.checks == ["1 2"])
    }

    @Test("a worker that does not hand in what was asked for does not get that room again")
    func manyKept() {
        var desk = recalled(kept: 3)
        #expect(!wait(&desk, from: 3, to: 12, moving: false).cancellations.contains("1<2"))
        let said = wait(&desk, from: 13, to: 13, moving: false)
        #expect(said.cancellations == ["1<2", "2<2", "3<2"])
        #expect(said.sentences.contains { $0.contains("has not sent it: others compute") })
        // It does not get the same work again while others are here.
        #expect(!said.leases.contains { $0.hasSuffix(">2") })
        let next = desk.arrive(1, 1, at: 14)
        #expect(next.checks == ["1 1"])
        #expect(next.leases == ["2>1"])
    }
}
