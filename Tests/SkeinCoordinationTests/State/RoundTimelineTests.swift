import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("the timeline of the last rounds")
struct RoundTimelineTests {
    private let a = PeerID(1)
    private let b = PeerID(2)

    private func member(_ name: String) -> Member {
        Member(name: name, address: "10.0.0.1:1", threads: 1, incarnation: Array(name.utf8))
    }

    /// A state with two workers and an open round of four pieces.
    private func begun() -> CoordinatorState {
        var state = CoordinatorState(settings: CoordinatorSettings(), now: .zero)
        _ = state.handle(.joined(a, member("a")), now: .zero)
        _ = state.handle(.joined(b, member("b")), now: .zero)
        let round = RoundPlan(number: 1, label: .step(7), costs: [1, 1, 1])
        _ = state.handle(.opened(round), now: .seconds(10))
        return state
    }

    private func finish(
        _ index: UInt32, by peer: PeerID, at time: Duration, in state: inout CoordinatorState
    ) {
        let key = WorkKey(round: 1, index: index)
        _ = state.handle(.arrived(peer, key, attempt: 1, digest: [1]), now: time)
        _ = state.handle(.checked(peer, key, .accepted), now: time)
    }

    @Test("who computed what from when to when, and whose result came last")
    func spans() throws {
        var state = begun()
        finish(0, by: a, at: .seconds(11), in: &state)
        finish(1, by: b, at: .seconds(12), in: &state)
        finish(2, by: a, at: .milliseconds(14_500), in: &state)
        _ = state.handle(.closed(round: 1), now: .seconds(15))
        let entry = try #require(state.timeline.entries.first)
        #expect(state.timeline.entries.count == 1)
        #expect(entry.label == .step(7) && entry.seconds == 5 && entry.pieces == 3)
        #expect(entry.last == "a" && entry.lastSeconds == 2.5)
        let spans = entry.spans.filter { $0.ending == .accepted }
        #expect(spans.map(\.worker) == ["a", "b", "a"] && spans.map(\.index) == [0, 1, 2])
        #expect(spans.map(\.from) == [0, 0, 1] && spans.map(\.to) == [1, 2, 4.5])
    }

    @Test("a worker that is lost leaves a span that says so, and is listed until it returns")
    func lost() throws {
        var state = begun()
        _ = state.handle(.left(b, .lost("reset")), now: .seconds(13))
        let gone = state.snapshot(of: RunSnapshot.Progress(), now: .seconds(14))
        #expect(gone.workers.map(\.name) == ["a"])
        let absent = try #require(gone.absent.first)
        #expect(gone.absent.count == 1 && absent.name == "b" && absent.isLost)
        #expect(absent.reason == "reset" && absent.seconds == 1 && absent.losses == 1)
        #expect(try RunSnapshot(json: gone.json()) == gone)

        _ = state.handle(.joined(PeerID(3), member("b")), now: .seconds(15))
        let back = state.snapshot(of: RunSnapshot.Progress(), now: .seconds(16))
        #expect(back.absent.isEmpty && back.workers.map(\.name) == ["a", "b"])
        #expect(back.workers.last?.work?.losses == 1)

        _ = state.handle(.left(PeerID(3), .goodbye), now: .seconds(17))
        let left = state.snapshot(of: RunSnapshot.Progress(), now: .seconds(17))
        #expect(left.absent.map(\.isLost) == [false] && left.absent.map(\.losses) == [1])
        _ = state.handle(.closed(round: 1), now: .seconds(18))
        let endings = state.timeline.entries[0].spans.filter { $0.worker == "b" }.map(\.ending)
        #expect(endings.first == .lost)
    }

    @Test("totals go on over rounds, and only the last rounds and their first spans are kept")
    func bounds() {
        var state = begun()
        _ = state.handle(.closed(round: 1), now: .seconds(11))
        let first = state.snapshot(of: RunSnapshot.Progress(), now: .seconds(11)).totals.leases
        #expect(first > 0)
        for number in 2...50 {
            let round = RoundPlan(number: UInt64(number), label: .step(number), costs: [1])
            _ = state.handle(.opened(round), now: .seconds(10 + number))
            _ = state.handle(.closed(round: UInt64(number)), now: .seconds(10 + number))
        }
        let totals = state.snapshot(of: RunSnapshot.Progress(), now: .seconds(99)).totals
        #expect(totals.leases >= first + 49)
        #expect(state.timeline.entries.map { Int($0.number) } == Array(19...50))

        var timeline = RoundTimeline()
        timeline.open(RoundPlan(number: 1, label: .step(1), costs: [1]), now: .zero)
        for index in 0..<1000 {
            let lease = Lease(
                index: index, attempt: 1, started: .zero, isHeld: false, movedAt: .zero)
            timeline.end(lease, of: "w", .arrived, now: .seconds(1))
        }
        timeline.close(now: .seconds(2))
        #expect(timeline.entries[0].spans.count == RoundTimeline.mostSpans)
        #expect(timeline.entries[0].spansLeftOut == 1000 - RoundTimeline.mostSpans)
    }
}
