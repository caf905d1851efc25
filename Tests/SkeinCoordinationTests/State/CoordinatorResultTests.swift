import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("results")
struct CoordinatorResultTests {
    @Test("the first good result wins, and the other worker may stop")
    func firstWins() {
        var desk = Desk.doubled()
        #expect(desk.arrive(2, 0, at: 2).checks == ["0 2"])
        let said = desk.check(2, 0, at: 2)
        #expect(said.answers == ["0 2 accepted"])
        #expect(said.cancellations == ["0<1"])
        let late = desk.arrive(1, 0, at: 2.1)
        #expect(late.answers == ["0 1 duplicate"])
        #expect(late.sentences == [])
    }

    @Test("a second result waits for the first one's check, and is needed when that one is bad")
    func secondWaits() {
        var desk = Desk.doubled()
        desk.arrive(2, 0, at: 2)
        #expect(desk.arrive(1, 0, at: 2).checks == [])
        let refused = desk.check(2, 0, .refused("wrong shape"), at: 2.1)
        #expect(refused.answers == ["0 2 refused"])
        #expect(refused.checks == ["0 1"])
        #expect(refused.rejections.map(\.code) == [.quarantined])
        #expect(desk.check(1, 0, at: 2.2).answers == ["0 1 accepted"])
    }

    @Test("a second result is a duplicate when the first one is good; another digest is a warning")
    func duplicates() {
        var desk = Desk.doubled()
        desk.arrive(2, 0, digest: [1], at: 2)
        desk.arrive(1, 0, digest: [2], at: 2)
        let said = desk.check(2, 0, at: 2.1)
        #expect(said.answers == ["0 2 accepted", "0 1 duplicate"])
        #expect(
            said.sentences == [
                "w2 and w1 gave different results for micro-batch 0 of step 7: "
                    + "one of them computes wrongly, and nobody else is here to tell which; "
                    + "using that of w2, which came first"
            ])
        #expect(desk.state.counters.duplicates == 1)
    }

    @Test("a result that was never leased is ignored; one of no work at all is a failure")
    func unleased() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1])
        desk.join(2, at: 0.1)
        let unasked = desk.arrive(2, 1, at: 1)
        #expect(unasked.checks == [])
        #expect(unasked.answers == ["1 2 refused"])
        #expect(unasked.rejections == [])
        #expect(desk.arrive(2, 2, at: 1).checks == ["2 2"])
        let said = desk.arrive(2, 3, at: 1)
        #expect(said.answers == ["3 2 refused"])
        #expect(said.rejections.map(\.code) == [.quarantined])
    }

    @Test("a repeated result is one result")
    func repeated() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        #expect(desk.arrive(1, 0, at: 1).checks == ["0 1"])
        #expect(desk.arrive(1, 0, at: 1) == [])
        #expect(desk.check(1, 0, at: 1).answers == ["0 1 accepted"])
        #expect(desk.check(1, 0, at: 1) == [])
        #expect(desk.arrive(1, 0, at: 1).answers == ["0 1 duplicate"])
    }

    @Test("refused work goes to another worker, and its worker must pause")
    func refused() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1, 1])
        desk.arrive(1, 0, at: 1)
        let said = desk.check(1, 0, .refused("wrong hash"), at: 1)
        #expect(said.rejections.first?.retryMilliseconds == 1000)
        #expect(said.leases == [])
        #expect(desk.finish(2, 1, at: 1.5).leases == ["0>2"])
        let early = desk.state.admission(name: "w1", incarnation: [1], now: .seconds(1.5))
        #expect(early?.code == .quarantined)
        #expect(early?.retryMilliseconds == 500)
        #expect(desk.state.admission(name: "w1", incarnation: [1], now: .seconds(2)) == nil)
    }

    @Test("pauses double up to half the patience, and eight good results in a row end that")
    func coolDown() {
        var desk = Desk(patience: .seconds(20))
        desk.join(2)
        var time = 0.0
        var pauses: [UInt32] = []
        var peer: UInt64 = 100
        func fail(_ number: UInt64) {
            time += 100
            peer += 1
            desk.join(2, as: peer + 1000, at: time)
            desk.join(1, as: peer, at: time)
            desk.open([1, 1, 1], number: number, at: time)
            let bad = WorkKey(round: number, index: 0)
            desk.at(time, .arrived(PeerID(peer), bad, attempt: 1, digest: []))
            let said = desk.at(time, .checked(PeerID(peer), bad, .refused("x")))
            pauses += said.rejections.map(\.retryMilliseconds)
        }
        for number in 1...6 { fail(UInt64(number)) }
        #expect(pauses == [1000, 2000, 4000, 8000, 10000, 10000])
        time += 100
        peer += 1
        desk.at(time, .left(PeerID(peer - 1 + 1000), .goodbye))
        desk.join(1, threads: 8, as: peer, at: time)
        desk.open(Array(repeating: 1, count: 8), number: 7, at: time)
        for index in 0..<8 {
            let good = WorkKey(round: 7, index: UInt32(index))
            desk.at(time, .arrived(PeerID(peer), good, attempt: 1, digest: []))
            desk.at(time, .checked(PeerID(peer), good, .accepted))
        }
        fail(8)
        #expect(pauses.last == 1000)
    }

    @Test("a result that is not finite is one worker's fault when another's is finite")
    func notFiniteOnce() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1, 1])
        desk.arrive(1, 0, digest: [9], at: 1)
        let said = desk.check(1, 0, .doubtful("a NaN in q_proj"), at: 1)
        #expect(said.answers == ["0 1 refused"])
        #expect(said.leases == [])
        #expect(said.rejections == [])
        #expect(desk.finish(2, 1, at: 2).leases == ["0>2"])
        let good = desk.finish(2, 0, at: 3)
        #expect(good.answers == ["0 2 accepted"])
        #expect(good.rejections.map(\.code) == [.quarantined])
    }

    @Test("the same result that is not finite from two workers is the run's: it is delivered")
    func diverged() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1, 1])
        desk.hear([1, 2], from: 0.1, to: 1)
        desk.finish(2, 1, at: 1)
        desk.arrive(1, 0, digest: [9], at: 1)
        #expect(desk.check(1, 0, .doubtful("a NaN"), at: 1).leases == ["0>2"])
        desk.arrive(2, 0, digest: [9], at: 2)
        let said = desk.check(2, 0, .doubtful("a NaN"), at: 2)
        #expect(said.deliveries == ["0 2"])
        #expect(said.answers == ["0 2 accepted"])
    }

    @Test("the only worker is asked again, and believed when it gives the same")
    func divergedAlone() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        desk.arrive(1, 0, digest: [9], at: 1)
        #expect(desk.check(1, 0, .doubtful("a NaN"), at: 1).leases == ["0>1"])
        desk.arrive(1, 0, digest: [9], at: 2)
        #expect(desk.check(1, 0, .doubtful("a NaN"), at: 2).deliveries == ["0 1"])
        var other = Desk()
        other.join(1)
        other.open([1])
        other.arrive(1, 0, digest: [9], at: 1)
        other.check(1, 0, .doubtful("a NaN"), at: 1)
        other.arrive(1, 0, digest: [8], at: 2)
        let said = other.check(1, 0, .doubtful("a NaN"), at: 2)
        #expect(said.deliveries == [])
        #expect(said.rejections.map(\.code) == [.quarantined])
    }

    @Test("a doubtful result that comes twice was computed once, whatever lease it came by")
    func doubtfulSentTwice() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1])
        let piece = key(0)
        func arrive(computation: UInt32, at time: Double) -> [CoordinatorState.Directive] {
            desk.at(
                time,
                .arrived(PeerID(1), piece, attempt: 1, digest: [9], computation: computation))
            return desk.check(1, 0, .doubtful("a NaN"), at: time)
        }
        #expect(arrive(computation: 1, at: 1).leases == ["0>1"])
        let again = arrive(computation: 1, at: 2)
        #expect(again.deliveries == [])
        #expect(again.answers == ["0 1 refused"])
        #expect(again.leases == ["0>1"])
        #expect(arrive(computation: 2, at: 3).deliveries == ["0 1"])
    }

    @Test(
        "a doubtful result is computed again before it counts, not sent again by who was away",
        arguments: [false, true])
    func notSentAgain(isCheckedLast: Bool) {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        desk.arrive(1, 0, digest: [9], at: 1)
        desk.at(1, .left(PeerID(1), .lost("reset")))
        var answers: [String] = []
        if isCheckedLast { answers += desk.join(1, as: 2, held: [0], at: 1.2).answers }
        let said = desk.check(1, 0, .doubtful("a NaN"), at: 1.5)
        #expect(said.deliveries == [])
        answers += said.answers
        var leases = said.leases
        if !isCheckedLast {
            let joined = desk.join(1, as: 2, held: [0], at: 2)
            answers += joined.answers
            leases += joined.leases
        }
        // The worker forgets the result, and then computes it.
        #expect(answers == ["0 2 refused"])
        #expect(leases == ["0>2"])
        #expect(desk.state.members[PeerID(2)]?.leases.map(\.isHeld) == [false])
        desk.arrive(2, 0, digest: [9], at: 3)
        #expect(desk.check(2, 0, .doubtful("a NaN"), at: 3).deliveries == ["0 2"])
    }

    @Test("neither is it sent again by who comes back while another's result is checked")
    func notSentAgainDuringCheck() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1])
        desk.arrive(1, 0, digest: [9], at: 1)
        desk.at(1, .left(PeerID(1), .lost("reset")))
        #expect(desk.check(1, 0, .doubtful("a NaN"), at: 1.5).leases == ["0>2"])
        desk.arrive(2, 0, digest: [8], at: 2)
        #expect(desk.join(1, as: 3, held: [0], at: 2.5).answers == ["0 3 refused"])
    }

    @Test("a good result counts although its worker has gone during the check")
    func goneDuringCheck() {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1])
        desk.arrive(1, 0, at: 1)
        #expect(desk.at(1, .left(PeerID(1), .lost("reset"))).leases == [])
        #expect(desk.check(1, 0, at: 1.1).answers == [])
        #expect(
            desk.state.snapshot(of: RunSnapshot.Progress(), now: .seconds(2)).round?.accepted == 1)
    }

    @Test("the result of a lease that has expired still counts")
    func expired() {
        var desk = Desk()
        desk.join(1)
        desk.open([1])
        desk.at(1, .left(PeerID(1), .lost("reset")))
        desk.join(2, at: 1)
        desk.join(1, as: 9, at: 1.2)
        #expect(desk.arrive(9, 0, at: 1.3).checks == ["0 9"])
        let said = desk.check(9, 0, at: 1.4)
        #expect(said.answers == ["0 9 accepted"])
        #expect(said.cancellations == ["0<2"])
    }

    /// `count` new names, one after the other, each with a bad result of piece 0.
    private func refuse(
        _ desk: inout Desk, _ count: Int, from first: Int, at seconds: Double
    ) -> [CoordinatorState.Directive] {
        var said: [CoordinatorState.Directive] = []
        for number in first..<(first + count) {
            let peer = UInt64(number)
            desk.join(peer, at: seconds)
            guard desk.state.open?.pieces[0].holders == [PeerID(peer)] else { continue }
            desk.arrive(peer, 0, at: seconds)
            said += desk.check(peer, 0, .refused("wrong length"), at: seconds)
        }
        return said
    }

    @Test("work that all workers do badly for longer than the patience ends the run")
    func poison() {
        var desk = Desk()
        desk.open([1])
        let said = refuse(&desk, 100, from: 1, at: 0.1)
        #expect(said.sentences.count { $0.contains("refused the result") } == 100)
        #expect(said.givenUp == [])
        #expect(
            refuse(&desk, 1, from: 200, at: 60.1).givenUp == [
                "micro-batch 0 of step 7 was refused 101 times in 60.0 s, by everybody who is here, "
                    + "last from w200: wrong length"
            ])
    }

    @Test("new names with bad results neither end the run nor keep the work from a good worker")
    func changingNames() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1])
        desk.finish(1, 0, at: 1)
        // The good worker computes; meanwhile new names come for the other piece, for hours.
        desk.open([1, 1], number: 2, at: 1)
        let good = WorkKey(round: 2, index: 0)
        let bad = WorkKey(round: 2, index: 1)
        var refused = 0
        for number in 2...40 as ClosedRange<UInt64> {
            let time = Double(number) * 10
            desk.at(time, .heard(PeerID(1), []))
            guard desk.join(number, at: time).leases == ["1>\(number)"] else { continue }
            desk.at(time, .arrived(PeerID(number), bad, attempt: 1, digest: []))
            let said = desk.at(time, .checked(PeerID(number), bad, .refused("x")))
            #expect(said.givenUp == [])
            refused += 1
        }
        #expect(refused == 4)
        #expect(
            desk.at(400, .arrived(PeerID(1), good, attempt: 1, digest: [])).leases == ["1>1"])
    }

    @Test("two new names with the same NaN are not believed while a good worker can be asked")
    func strangersDiverge() {
        var desk = Desk()
        desk.join(1)
        desk.open([1, 1, 1])
        desk.finish(1, 0, at: 1)
        desk.join(2, at: 1)
        desk.join(3, at: 1)
        for peer in [2, 3] as [UInt64] {
            #expect(desk.state.open?.pieces[2].holders == [PeerID(peer)])
            desk.arrive(peer, 2, digest: [9], at: 2)
            #expect(desk.check(peer, 2, .doubtful("a NaN"), at: 2).deliveries == [])
        }
        #expect(desk.finish(1, 1, at: 3).leases == ["2>1"])
        let said = desk.finish(1, 2, at: 4)
        #expect(said.answers == ["2 1 accepted"])
        #expect(said.rejections.map(\.code) == [.quarantined, .quarantined])
    }
}
