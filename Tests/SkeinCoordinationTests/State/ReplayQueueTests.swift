import Testing

@testable import SkeinCoordination

@Suite("replays on their way to workers")
struct ReplayQueueTests {
    private func request(_ peer: UInt64, _ index: UInt32 = 0) -> ReplayQueue.Request {
        ReplayQueue.Request(peer: PeerID(peer), key: WorkKey(round: 1, index: index))
    }

    private func expectNext(_ line: inout ReplayQueue, _ expected: ReplayQueue.Request?) {
        let next = line.next()
        #expect(next == expected)
    }

    private func expectEncoded(
        _ line: inout ReplayQueue, _ request: ReplayQueue.Request, bytes: Int, _ expected: Bool
    ) {
        let isWanted = line.encoded(request, bytes: bytes, now: .zero)
        #expect(isWanted == expected)
    }

    @Test("one is encoded at a time, and a worker is sent one at a time")
    func order() {
        var line = ReplayQueue(limit: 100)
        for (peer, index) in [(1, 0), (1, 1), (2, 2), (2, 2)] as [(UInt64, UInt32)] {
            line.append(request(peer, index))
        }
        expectNext(&line, request(1, 0))
        expectNext(&line, nil)
        line.append(request(1, 0))
        expectEncoded(&line, request(1, 0), bytes: 10, true)
        // The first worker's other one waits until this one has left.
        expectNext(&line, request(2, 2))
        expectEncoded(&line, request(2, 2), bytes: 10, true)
        expectNext(&line, nil)
        line.left(PeerID(1))
        expectNext(&line, request(1, 1))
        #expect(line.bytes == 10)
    }

    @Test("no more bytes are under way than the limit, and one in any case")
    func limit() {
        var line = ReplayQueue(limit: 100)
        for peer in 1...3 as ClosedRange<UInt64> { line.append(request(peer)) }
        for peer in 1...2 as ClosedRange<UInt64> {
            expectNext(&line, request(peer))
            expectEncoded(&line, request(peer), bytes: 60, true)
        }
        expectNext(&line, nil)
        line.left(PeerID(2))
        expectNext(&line, request(3))
        expectEncoded(&line, request(3), bytes: 1000, true)
        line.left(PeerID(1))
        line.append(request(1))
        expectNext(&line, nil)
        line.remove(PeerID(3))
        expectNext(&line, request(1))
    }

    @Test("what is no longer wanted is not sent, and blocks no worker")
    func unwanted() {
        var line = ReplayQueue(limit: 100)
        line.append(request(1))
        line.append(request(2))
        expectNext(&line, request(1))
        line.cancel(request(1))
        // The run's thread is still busy with it.
        expectNext(&line, nil)
        expectEncoded(&line, request(2), bytes: 10, false)
        expectEncoded(&line, request(1), bytes: 10, false)
        expectNext(&line, request(2))
        line.cancel(request(2))
        line.append(request(2))
        line.endRound()
        expectEncoded(&line, request(2), bytes: 10, false)
        line.append(request(3))
        expectNext(&line, request(3))
        line.remove(PeerID(3))
        expectEncoded(&line, request(3), bytes: 10, false)
        #expect(line.bytes == 0)
        expectNext(&line, nil)
    }

    @Test("few at a time, however small; who waits for others is known")
    func few() {
        var line = ReplayQueue(limit: 100)
        let count = UInt64(Limits.replaysUnderWay)
        for peer in 1...count + 1 { line.append(request(peer)) }
        for peer in 1...count {
            expectNext(&line, request(peer))
            #expect(line.waits(PeerID(peer)))
            expectEncoded(&line, request(peer), bytes: 1, true)
            #expect(!line.waits(PeerID(peer)))
        }
        expectNext(&line, nil)
        #expect(line.waits(PeerID(count + 1)))
        line.left(PeerID(1))
        expectNext(&line, request(count + 1))
    }

    @Test("who takes nothing for the patience, or for long while others wait, is too slow")
    func slow() {
        var line = ReplayQueue(limit: 100)
        func look(_ seconds: Int, pending: Int) -> ReplayQueue.Look? {
            line.look(
                at: PeerID(1), pending: pending, now: .seconds(seconds), patience: .seconds(60))
        }
        #expect(look(0, pending: 5) == nil)
        line.append(request(1))
        expectNext(&line, request(1))
        expectEncoded(&line, request(1), bytes: 1000, true)
        #expect(look(1, pending: 1000) == .stands)
        #expect(look(50, pending: 999) == .moves)
        #expect(look(109, pending: 999) == .stands)
        guard case .tooSlow = look(110, pending: 999) else {
            Issue.record("it takes nothing")
            return
        }
        for minute in 2...20 { #expect(look(60 * minute, pending: 990 - minute) == .moves) }
        line.append(request(2))
        guard case .tooSlow = look(1201, pending: 900) else {
            Issue.record("it takes too long for others")
            return
        }
    }
}
