import SkeinBasics
import Synchronization
import Testing

@Suite struct FeedTests {
    private func all<Element>(_ stream: AsyncStream<Element>) async -> [Element] {
        var found: [Element] = []
        for await element in stream { found.append(element) }
        return found
    }

    @Test("a feed that replays gives each listener what was sent before, and then ends")
    func replays() async {
        let feed = Feed<Int>(replays: true)
        let early = feed.stream()
        for number in 0..<10 { feed.send(number) }
        let middle = feed.stream()
        for number in 10..<20 { feed.send(number) }
        feed.finish()
        feed.send(99)
        for stream in [early, middle, feed.stream()] {
            #expect(await all(stream) == Array(0..<20))
        }
    }

    @Test("a feed and its listeners hold so many elements, the newest")
    func limit() async {
        let most = Feed<Int>.mostWaiting
        for replays in [false, true] {
            let feed = Feed<Int>(replays: replays)
            let slow = feed.stream()
            for number in 0..<(2 * most + 5) { feed.send(number) }
            feed.finish()
            let newest = Array((most + 5)..<(2 * most + 5))
            #expect(await all(slow) == newest)
            #expect(await all(feed.stream()) == (replays ? newest : []))
        }
    }

    @Test("a feed that does not replay gives what is sent from now on, to functions at once")
    func fromNowOn() async {
        let feed = Feed<Int>()
        feed.send(1)
        let stream = feed.stream()
        let heard = Mutex<[Int?]>([])
        #expect(feed.listen { element in heard.withLock { $0.append(element) } } != nil)
        feed.send(2)
        #expect(heard.withLock { $0 } == [2])
        feed.send(3)
        feed.finish()
        feed.finish()
        #expect(heard.withLock { $0 } == [2, 3, nil])
        #expect(await all(stream) == [2, 3])
        #expect(feed.listen { element in heard.withLock { $0.append(element) } } == nil)
        #expect(heard.withLock { $0.count } == 4)
    }

    @Test("a sequence ends when its feed is gone, and one that is left is forgotten")
    func gone() async {
        #expect(await all(Feed<Int>().stream()).isEmpty)
        let feed = Feed<Int>(replays: true)
        feed.send(1)
        for await element in feed.stream() {
            #expect(element == 1)
            break
        }
        feed.send(2)
        feed.finish()
        #expect(await all(feed.stream()) == [1, 2])
    }

    @Test("listeners that come while elements are sent have all of them, in order")
    func meanwhile() async {
        let feed = Feed<Int>(replays: true)
        let streams = Mutex<[AsyncStream<Int>]>([])
        BriefThreads.perform(3) { part in
            guard part == 0 else {
                for _ in 0..<50 {
                    let stream = feed.stream()
                    streams.withLock { $0.append(stream) }
                }
                return
            }
            for number in 0..<1000 { feed.send(number) }
            feed.finish()
        }
        for stream in streams.withLock({ $0 }) { #expect(await all(stream) == Array(0..<1000)) }
    }

    @Test("a settlement answers those who wait and those who ask later, with the last result")
    func settles() async throws {
        let settlement = Settlement<Int>()
        let waiting = (0..<5).map { _ in Task { try await settlement.value() } }
        settlement.settle(.success(1))
        for task in waiting { #expect(try await task.value == 1) }
        #expect(try await settlement.value() == 1)
        settlement.settle(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await settlement.value() }
    }

    @Test("a wait that is cancelled ends, or tells of it and goes on")
    func cancelled() async throws {
        let settlement = Settlement<Int>()
        let ended = Task { try await settlement.value() }
        ended.cancel()
        await #expect(throws: CancellationError.self) { try await ended.value }
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await settlement.value()
        }
        await #expect(throws: CancellationError.self) { try await before.value }
        let waits = Task {
            try await settlement.value { settlement.settle(.success(7)) }
        }
        waits.cancel()
        #expect(try await waits.value == 7)
    }
}
