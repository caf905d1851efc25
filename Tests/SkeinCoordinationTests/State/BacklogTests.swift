import Testing

@testable import SkeinCoordination

@Suite("what waits for all peers together")
struct BacklogTests {
    private static func entry(
        _ peer: UInt64, own: Int = 0, old: (version: UInt64, bytes: Int)? = nil, taken: UInt64 = 0
    ) -> Backlog.Entry {
        Backlog.Entry(peer: PeerID(peer), ownBytes: own, old: old, taken: taken)
    }

    /// The readers that are hung up on after `seconds` in which no reader took anything.
    private static func dropped(
        _ entries: [Backlog.Entry], after seconds: Int = 60, taken: UInt64 = 0
    ) -> [UInt64] {
        var backlog = Backlog(ownLimit: 1000, versionLimit: 100)
        _ = backlog.look(at: entries, now: .zero)
        return backlog.look(at: entries, now: .seconds(seconds)).map(\.peer.number)
    }

    @Test("below the limit no peer is hung up on, however long it reads nothing")
    func below() {
        let entries = (1...10).map { Self.entry($0, own: 100, old: (7, 100)) }
        #expect(Self.dropped(entries, after: 3600) == [])
    }

    @Test("beyond it those go who take nothing, the one with most first, until it is met")
    func beyond() {
        let entries = [
            Self.entry(1, own: 300), Self.entry(2, own: 500), Self.entry(3, own: 400),
            Self.entry(4, own: 10),
        ]
        #expect(Self.dropped(entries) == [2])
        #expect(Self.dropped(entries, after: 3) == [], "they have not stood still for long")
    }

    @Test("a slow peer that takes something stays, unless far more waits than may")
    func moving() {
        var backlog = Backlog(ownLimit: 1000, versionLimit: 100)
        func look(_ own: Int, _ second: Int) -> [UInt64] {
            let entries = [
                Self.entry(1, own: own, taken: UInt64(second)), Self.entry(2, own: 600),
            ]
            return backlog.look(at: entries, now: .seconds(second)).map(\.peer.number)
        }
        let first = look(900, 0)
        let later = look(900, 60)
        let more = look(2500, 61)
        let huge = look(4500, 62)
        #expect(first == [] && later == [2] && more == [2] && huge == [2, 1])
        // What a round sends in one turn is no fault of those that it is sent to.
        var fresh = Backlog(ownLimit: 1000, versionLimit: 100)
        #expect(fresh.look(at: [Self.entry(1, own: 4500)], now: .zero) == [])
    }

    @Test("a version that many are sent counts once, and several are too much")
    func versions() {
        let same = (1...100).map { Self.entry($0, old: (7, 60)) }
        #expect(Self.dropped(same) == [])
        let two = [Self.entry(1, old: (7, 60)), Self.entry(2, old: (7, 60))]
        #expect(Self.dropped(two + [Self.entry(3, old: (8, 60))]) == [1, 2])
    }

    @Test("the words say how much waits and for how long")
    func words() {
        var backlog = Backlog(ownLimit: 10, versionLimit: 0)
        _ = backlog.look(at: [Self.entry(1, own: 12)], now: .zero)
        let verdicts = backlog.look(at: [Self.entry(1, own: 12)], now: .milliseconds(6200))
        #expect(
            verdicts == [
                Backlog.Verdict(
                    peer: PeerID(1),
                    reason: "12 bytes wait for it, of which it has taken none for 6.2 s")
            ])
    }
}
