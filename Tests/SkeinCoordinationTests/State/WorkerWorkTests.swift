import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("a worker's work")
struct WorkerWorkTests {
    @Test("leases are computed in the order in which they come, one on each thread")
    func order() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        #expect(bench.lease(5, at: 1) == [.compute(thread: 0, key(5), attempt: 1)])
        #expect(bench.lease(3, at: 1) == [.compute(thread: 1, key(3), attempt: 1)])
        #expect(bench.lease(9, at: 1) == [])
        #expect(bench.state.computing == [key(5), key(3)])
        #expect(
            bench.at(2, .computed(thread: 1, key(3))) == [
                .keep(thread: 1, key(3)), .compute(thread: 1, key(9), attempt: 1), .send(key(3)),
            ])
        #expect(bench.at(3, .answered(key(3), .accepted, "")) == [.forget(key(3))])
        #expect(bench.at(3, .answered(key(3), .accepted, "")) == [])
    }

    @Test("cancelled work is dropped from the queue, stopped on its thread, and kept if finished")
    func cancellation() {
        var bench = Bench()
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.lease(1, at: 1)
        bench.lease(2, at: 1)
        #expect(bench.at(2, .cancelled(key(1))) == [.forget(key(1))])
        #expect(bench.at(2, .cancelled(key(0))) == [.abandon(thread: 0, key(0)), .forget(key(0))])
        #expect(bench.state.computing == [])
        #expect(
            bench.at(3, .abandoned(thread: 0, key(0))) == [
                .compute(thread: 0, key(2), attempt: 1)
            ])
        bench.at(4, .computed(thread: 0, key(2)))
        #expect(bench.at(4, .cancelled(key(2))) == [])
        #expect(bench.at(4, .answered(key(2), .duplicate, "")) == [.forget(key(2))])
    }

    @Test("work that waits for what a lost connection was to bring ends, and may be leased again")
    func stranded() {
        var bench = Bench()
        bench.join(at: 0)
        bench.lease(0, at: 1)
        #expect(bench.at(2, .stranded(key(7))) == [])
        #expect(bench.at(2, .stranded(key(0))) == [.abandon(thread: 0, key(0)), .forget(key(0))])
        #expect(bench.at(2, .stranded(key(0))) == [])
        // Again before the thread has stopped: it is no cancellation that overtook the lease.
        #expect(bench.lease(0, at: 3) == [])
        #expect(
            bench.at(3, .abandoned(thread: 0, key(0))) == [
                .compute(thread: 0, key(0), attempt: 1)
            ])
    }

    @Test("a thread that finishes what was cancelled hands nothing in")
    func cancelledTooLate() {
        var bench = Bench()
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.at(2, .cancelled(key(0)))
        #expect(bench.at(2, .computed(thread: 0, key(0))) == [])
    }

    @Test("a cancellation that overtakes its lease cancels that lease and no later one")
    func overtaken() {
        var bench = Bench()
        bench.join(at: 0)
        #expect(bench.at(1, .cancelled(key(4))) == [])
        #expect(bench.lease(4, at: 2) == [.forget(key(4))])
        #expect(bench.lease(4, at: 3) == [.compute(thread: 0, key(4), attempt: 1)])
    }

    @Test("the number of early cancellations is bounded")
    func bounded() {
        var bench = Bench()
        bench.join(at: 0)
        for index in 0..<5000 { bench.at(1, .cancelled(key(UInt32(index)))) }
        #expect(bench.state.cancelledEarly.count == Limits.heldWork)
    }

    @Test("a coordinator that leases more than it may is hung up on, and is dialled again")
    func floodOfLeases() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        // Two are computed; twice as many wait as a coordinator leases to two threads at a time.
        for index in 0..<10 as Range<UInt32> { bench.lease(index, at: 1) }
        #expect(bench.state.queue.count == 8 && bench.state.isMember)
        let last = bench.lease(10, at: 1)
        #expect(last.first == .forget(key(10)))
        #expect(last.contains(.disconnect("too many leases")))
        #expect(last.contains { if case .connect = $0 { true } else { false } })
        #expect(bench.state.queue.isEmpty && !bench.state.isMember)
        #expect(
            bench.state.lastFailure
                == "the coordinator leases more than 8 pieces of work at a time")
    }

    @Test("a finished result outlives its connection and is handed in without computing again")
    func held() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.lease(1, at: 1)
        bench.lease(2, at: 1)
        bench.at(2, .computed(thread: 0, key(0)))
        // The third was on its way to thread 0; a queue would have been lost with the connection.
        let lost = bench.at(3, .disconnected("reset"))
        #expect(lost == [.connect(after: .seconds(0.05))])
        bench.at(3, .computed(thread: 1, key(1)))
        bench.at(3, .connected)
        bench.at(3, .offered(term: 1))
        #expect(bench.at(3, .prepared) == [.ready(held: [key(0), key(1)])])
        // Finished since READY: sent without being asked.
        bench.at(3, .computed(thread: 0, key(2)))
        let welcome = Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)
        #expect(bench.at(4, .welcomed(welcome)) == [.send(key(2))])
        #expect(bench.lease(1, at: 5) == [.send(key(1))])
    }

    @Test("a new term forgets everything; what threads still have of the old one is dropped")
    func newTerm() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        bench.lease(0, round: 8, at: 1)
        bench.lease(1, round: 8, at: 1)
        bench.at(2, .computed(thread: 1, key(1, round: 8)))
        bench.at(2, .disconnected("reset"))
        bench.at(2, .connected)
        #expect(
            bench.at(2, .offered(term: 2)) == [
                .abandon(thread: 0, key(0, round: 8)), .forget(key(0, round: 8)),
                .forget(key(1, round: 8)), .prepare,
            ])
        #expect(bench.at(2, .prepared) == [.ready(held: [])])
        bench.at(
            2, .welcomed(Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)))
        #expect(
            bench.lease(0, round: 1, at: 3) == [.compute(thread: 1, key(0), attempt: 1)])
        #expect(bench.at(3, .computed(thread: 0, key(0, round: 8))) == [])
    }

    @Test("a lease of a newer round ends everything of the older ones")
    func newRound() {
        var bench = Bench(threads: 2)
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.lease(1, at: 1)
        bench.at(2, .computed(thread: 0, key(0)))
        #expect(
            bench.lease(0, round: 2, at: 3) == [
                .abandon(thread: 1, key(1)), .forget(key(1)), .forget(key(0)),
                .compute(thread: 0, key(0, round: 2), attempt: 1),
            ])
        #expect(bench.lease(7, round: 1, at: 3) == [.forget(key(7))])
    }

    @Test("no more than four results for each thread are kept")
    func keptResults() {
        var bench = Bench()
        bench.join(at: 0)
        var forgotten: [WorkerState.Directive] = []
        for index in 0..<7 {
            bench.lease(UInt32(index), at: 1)
            forgotten += bench.at(1, .computed(thread: 0, key(UInt32(index)))).filter {
                if case .forget = $0 { true } else { false }
            }
        }
        #expect(forgotten == [.forget(key(0)), .forget(key(1)), .forget(key(2))])
        #expect(Bench(threads: 1024).state.keptResults == Limits.heldWork)
    }

    @Test("all results that a coordinator has no room for are kept, and none is computed again")
    func postponed() {
        var settings = CoordinatorSettings()
        settings.maximumUnchecked = 1
        var desk = Desk(settings: settings)
        var bench = Bench()
        bench.join(at: 0)
        // Another worker's result takes the room.
        desk.join(2)
        desk.open([1, 1, 1, 1, 1, 1, 1, 1])
        desk.arrive(2, 0, at: 0)
        desk.join(1)
        var kept: [UInt32] = []
        while let lease = desk.state.members[PeerID(1)]?.leases.first(where: { !$0.isHeld }) {
            let number = UInt32(lease.index)
            bench.lease(number, at: 0)
            bench.at(0, .computed(thread: 0, key(number)))
            #expect(desk.arrive(1, number, at: 0).contains(.drop(PeerID(1), key(number))))
            kept.append(number)
        }
        #expect(kept.count == 3)
        for number in kept { #expect(bench.lease(number, at: 1) == [.send(key(number))]) }
    }

    @Test("a worker that drains finishes what it computes, waits for the answer, and goes")
    func drain() {
        var bench = Bench()
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.lease(1, at: 1)
        #expect(bench.at(2, .drain) == [.forget(key(1)), .announceDrain])
        #expect(bench.lease(2, at: 2) == [.forget(key(2))])
        #expect(
            bench.at(3, .computed(thread: 0, key(0))) == [.keep(thread: 0, key(0)), .send(key(0))])
        #expect(
            bench.at(4, .answered(key(0), .accepted, "")) == [
                .forget(key(0)), .disconnect("drained"), .finish(.drained),
            ])
    }

    @Test("draining ends after 25 s, at once when there is nothing to finish, or when cut off")
    func drainEnds() {
        var bench = Bench()
        bench.join(at: 0)
        bench.lease(0, at: 1)
        bench.at(2, .drain)
        bench.at(27, .heard)
        #expect(bench.at(27, .tick).last == .finish(.drained))
        var idle = Bench()
        idle.join(at: 0)
        #expect(
            idle.at(1, .drain) == [.announceDrain, .disconnect("drained"), .finish(.drained)])
        var cut = Bench()
        cut.join(at: 0)
        cut.lease(0, at: 1)
        cut.at(2, .drain)
        #expect(cut.at(3, .disconnected("reset")).last == .finish(.drained))
        var alone = Bench()
        alone.at(0, .start)
        #expect(alone.at(1, .drain).last == .finish(.drained))
    }
}
