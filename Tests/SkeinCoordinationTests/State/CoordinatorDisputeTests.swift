import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("results that differ")
struct CoordinatorDisputeTests {
    /// Worker 1 and worker 2 have given different results of piece 0; worker 3 is asked.
    private func disputed() -> (Desk, [CoordinatorState.Directive]) {
        var desk = Desk.doubled()
        desk.join(3, at: 1.9)
        desk.arrive(2, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        let said = desk.check(2, 0, at: 2.1)
        return (desk, said)
    }

    @Test("what two workers disagree about is computed by a third, and the wrong one has to go")
    func dispute() {
        var (desk, said) = disputed()
        #expect(said.leases == ["0>3"])
        #expect(said.reasons == [.disputed("w2", "w1")])
        #expect(said.contains(.dispute(key(0))))
        #expect(
            desk.sentence(at: 2.1).hasSuffix(
                "to tell whether w2 or w1 computes micro-batch 0 wrongly; then the coordinator "
                    + "closes the round")
        )
        let ending = desk.arrive(3, 0, digest: [1], at: 3)
        #expect(ending.answers == ["0 3 duplicate"])
        #expect(ending.checks == [])
        #expect(ending.contains(.settle(key(0))))
        #expect(!ending.contains(.spoil(round: 1)))
        #expect(
            ending.rejections.map(\.reason) == [
                "its result of micro-batch 0 of step 7 is not that of w2 and w3: it computes wrongly"
            ])
        #expect(desk.state.members[PeerID(1)] == nil)
    }

    @Test("what the run has recorded is not voted on: a worker that contradicts it has to go")
    func confirmed() {
        var desk = Desk.doubled()
        desk.join(3, at: 1.9)
        desk.arrive(2, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        let said = desk.check(2, 0, .confirmed, at: 2.1)
        #expect(!said.contains(.dispute(key(0))))
        #expect(said.answers == ["0 2 accepted", "0 1 duplicate"])
        #expect(
            said.rejections.map(\.reason) == [
                "its result of micro-batch 0 of step 7 is not what the run has recorded"
            ])
        #expect(desk.state.members[PeerID(1)] == nil)
        #expect(desk.state.members[PeerID(2)] != nil)
    }

    @Test("when the accepted one was wrong, the round is computed again")
    func spoiled() {
        var (desk, _) = disputed()
        let ending = desk.arrive(3, 0, digest: [2], at: 3)
        #expect(ending.contains(.spoil(round: 1)))
        #expect(ending.contains(.settle(key(0))))
        #expect(desk.state.members[PeerID(2)] == nil)
        #expect(desk.state.members[PeerID(1)] != nil)
    }

    @Test("two new names do not outvote a worker with good results; one with good results does")
    func strangersVote() {
        for isProven in [false, true] {
            var desk = Desk()
            desk.join(1)
            desk.open([1, 1])
            desk.finish(1, 0, at: 0.1)
            desk.finish(1, 1, at: 0.2)
            if isProven {
                desk.open([1], number: 2, at: 0.3)
                desk.join(4, at: 0.3)
                let key = WorkKey(round: 2, index: 0)
                desk.at(0.4, .left(PeerID(1), .lost("reset")))
                desk.at(0.5, .arrived(PeerID(4), key, attempt: 1, digest: [1]))
                desk.at(0.5, .checked(PeerID(4), key, .accepted))
            }
            var votes: [(name: String, digest: [UInt8])] = [("w1", [1]), ("w2", [2])]
            votes.append((isProven ? "w4" : "w3", [2]))
            let expected: [UInt8]? = isProven ? [2] : nil
            #expect(desk.state.verdict(of: Dispute(votes: votes)) == expected)
            // Any worker can confirm the accepted result.
            votes.append(("w5", [1]))
            #expect(desk.state.verdict(of: Dispute(votes: votes)) == [1])
        }
    }

    /// Worker 1 has given a good result; then it and worker 3, a new name, computed the same work,
    /// and the result of worker 3 was accepted. Worker 1 disagrees.
    private func newNameFirst() -> Desk {
        var desk = Desk()
        desk.join(1)
        desk.open([1], number: 9)
        let earlier = WorkKey(round: 9, index: 0)
        desk.at(0.1, .arrived(PeerID(1), earlier, attempt: 1, digest: [1]))
        desk.at(0.1, .checked(PeerID(1), earlier, .accepted))
        desk.at(0.1, .left(PeerID(1), .goodbye))
        desk.join(3, at: 0.1)
        desk.open([1], at: 0.1)
        desk.at(0.2, .left(PeerID(3), .goodbye))
        desk.join(1, at: 0.2)
        desk.join(3, as: 13, at: 0.3)
        desk.arrive(13, 0, digest: [1], at: 1)
        desk.arrive(1, 0, digest: [2], at: 1)
        return desk
    }

    @Test("new names that agree with an accepted new name do not throw out a worker with a past")
    func strangersFirst() {
        var desk = newNameFirst()
        desk.join(5, at: 1.1)
        #expect(desk.check(13, 0, at: 1.2).leases == ["0>5"])
        let votes = desk.state.open?.disputes[0]?.votes ?? []
        #expect(
            desk.state.verdict(of: Dispute(votes: votes + [(name: "w5", digest: [1])])) == nil)
        let ending = desk.arrive(5, 0, digest: [1], at: 2)
        #expect(desk.state.members[name: "w1"] != nil)
        #expect(ending.contains(.spoil(round: 1)))
        #expect(desk.state.members[name: "w3"] == nil)
        #expect(desk.state.members[name: "w5"] == nil)
    }

    @Test("where no worker is left to ask, a worker with a past wins over a new name")
    func pastWins() {
        var desk = newNameFirst()
        let ending = desk.check(13, 0, at: 1.2)
        #expect(ending.contains(.spoil(round: 1)))
        let expected =
            "w3 and w1 gave different results for micro-batch 0 of step 7: one of them computes "
            + "wrongly, and nobody else is here to tell which; using that of w1, which has "
            + "given good results before"
        #expect(ending.sentences.first == expected)
        #expect(desk.state.members[name: "w1"] != nil)
        #expect(desk.state.members[name: "w3"] == nil)
    }

    @Test("a third that leaves is replaced by a fourth; without one the first result is used")
    func judgeLeaves() {
        var (desk, _) = disputed()
        desk.join(4, at: 2.2)
        #expect(desk.at(2.3, .left(PeerID(3), .lost("reset"))).leases == ["0>4"])
        let ending = desk.at(2.4, .left(PeerID(4), .lost("reset")))
        #expect(ending.contains(.settle(key(0))))
        #expect(!ending.contains(.spoil(round: 1)))
    }

    @Test("a judge that does not answer is replaced, whatever bytes it sends")
    func silentJudge() {
        var (desk, _) = disputed()
        desk.join(4, at: 2.2)
        func wait(_ peers: [UInt64], from: Int, to: Int) -> [CoordinatorState.Directive] {
            var said: [CoordinatorState.Directive] = []
            for second in from...to {
                for peer in peers {
                    said += desk.at(Double(second), .heard(PeerID(peer), []))
                    said += desk.at(Double(second), .moved(PeerID(peer)))
                }
                said += desk.at(Double(second), .tick)
            }
            return said
        }
        #expect(wait([1, 2, 3, 4], from: 3, to: 62).leases == [])
        let said = wait([1, 2, 3, 4], from: 63, to: 63)
        #expect(said.cancellations == ["0<3"])
        #expect(said.leases == ["0>4"])
        // No worker is asked twice.
        let ending = wait([1, 2, 3, 4], from: 64, to: 124)
        #expect(ending.cancellations == ["0<4"])
        #expect(ending.leases == [])
        #expect(ending.contains(.settle(key(0))))
        #expect(!ending.contains(.spoil(round: 1)))
    }

    @Test("a judge that is no longer waited for can still vote while the dispute lasts")
    func lateJudge() {
        var (desk, _) = disputed()
        desk.join(4, at: 2.2)
        for second in 3...63 {
            for peer in 1...4 as ClosedRange<UInt64> {
                desk.at(Double(second), .heard(PeerID(peer), []))
            }
            desk.at(Double(second), .tick)
        }
        #expect(desk.state.open?.disputes[0]?.judge == PeerID(4))
        let ending = desk.arrive(3, 0, digest: [2], at: 64)
        #expect(ending.contains(.spoil(round: 1)))
        #expect(ending.cancellations == ["0<4"])
    }

    @Test("the wait for a busy judge starts when it has a thread")
    func queuedJudge() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1])
        desk.join(2)
        desk.join(3)
        #expect(desk.state.members[PeerID(3)]?.leases.map(\.index) == [1])
        desk.join(4)
        #expect(desk.hear([2, 3, 4], from: 0, to: 1.6).leases == ["0>4"])
        desk.at(1.6, .heard(PeerID(1), []))
        desk.arrive(4, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        desk.at(2, .left(PeerID(2), .goodbye))
        #expect(desk.check(4, 0, at: 2).leases.contains("0>3"))
        func wait(from: Int, to: Int) -> [CoordinatorState.Directive] {
            (from...to).flatMap { second in
                for peer in [1, 3, 4] as [UInt64] {
                    desk.at(Double(second), .heard(PeerID(peer), []))
                    desk.at(Double(second), .moved(PeerID(peer)))
                }
                return desk.at(Double(second), .tick)
            }
        }
        #expect(!wait(from: 3, to: 100).cancellations.contains("0<3"))
        desk.finish(3, 1, at: 100)
        #expect(!wait(from: 101, to: 160).cancellations.contains("0<3"))
        // Its own pace is known now: a piece took it 98 s.
        #expect(wait(from: 161, to: 500).cancellations.contains("0<3"))
    }

    @Test("a dispute that has ended is not opened again by a worker that has voted")
    func repeatedVote() {
        var (desk, _) = disputed()
        desk.at(2.2, .left(PeerID(3), .goodbye))
        let ending = desk.at(2.3, .tick)
        #expect(ending.contains(.settle(key(0))) || desk.state.open?.disputes.isEmpty == true)
        for _ in 0..<3 {
            let said = desk.arrive(1, 0, digest: [9], at: 3)
            #expect(!said.contains(.dispute(key(0))))
            #expect(said.sentences == [])
        }
    }

    @Test("a worker that claims to have many threads is not idle because of that")
    func busyJudge() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1])
        #expect(desk.join(3, threads: 1024).leases == ["1>3"])
        desk.join(2)
        #expect(desk.hear([2, 3], from: 0, to: 1.6).leases == ["0>2"])
        desk.at(1.6, .heard(PeerID(1), []))
        desk.join(5, at: 1.9)
        desk.arrive(2, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        #expect(desk.check(2, 0, at: 2).leases == ["0>5"])
    }

    @Test("a judge with good results is preferred to one that joined before it")
    func provenJudge() {
        var desk = Desk()
        desk.join(4)
        desk.open([1], number: 9)
        let earlier = WorkKey(round: 9, index: 0)
        desk.at(0.1, .arrived(PeerID(4), earlier, attempt: 1, digest: [1]))
        desk.at(0.1, .checked(PeerID(4), earlier, .accepted))
        desk.join(1, at: 0.1)
        desk.join(2, at: 0.1)
        #expect(desk.open([1], at: 0.1).leases == ["0>1"])
        #expect(desk.hear([2, 4], from: 0.2, to: 1.6).leases == ["0>2"])
        desk.at(1.6, .heard(PeerID(1), []))
        desk.join(3, at: 1.9)
        desk.arrive(2, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        #expect(desk.check(2, 0, at: 2).leases == ["0>4"])
    }
}
