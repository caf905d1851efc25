import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@Suite("work on threads", .ownThreads)
struct WorkQueueTests {
    /// A queue of one thread whose first item, 0, holds the thread until the gate is open.
    private final class Held: Sendable {
        let performed = Condition<[Int]>([])
        let isOpen = Condition(false)
        let queue: WorkQueue<Int>

        init(_ room: WorkQueue<Int>.Room = .callers) throws {
            let (performed, isOpen, began) = (performed, isOpen, Condition(false))
            queue = try #require(
                WorkQueue("test-held", room: room) { item in
                    if item == 0 {
                        began.change { $0 = true }
                        isOpen.wait { $0 ? () : nil }
                    }
                    performed.change { $0.append(item) }
                })
            queue.give(0)
            began.wait { $0 ? () : nil }
        }

        deinit { isOpen.change { $0 = true } }

        /// What was performed when everything is.
        func finish() -> [Int] {
            isOpen.change { $0 = true }
            #expect(queue.finish(until: .now + .seconds(300)) == 0)
            return performed.change { $0 }
        }
    }

    /// More than a process can map, so that the system refuses the thread.
    private static let tooMuchStack = 1 << 50

    @Test("a ring gives back what it was given, in order, however it grows around its end")
    func ring() {
        var (ring, next, expected) = (Ring<Int>(), 0, 0)
        for count in 0..<40 {
            for _ in 0...count {
                ring.append(next)
                next += 1
            }
            for _ in 0..<(count * 3 / 4) {
                #expect(ring.popFirst() == expected)
                expected += 1
            }
            #expect(ring.count == next - expected && ring.elements == Array(expected..<next))
        }
        while let element = ring.popFirst() {
            #expect(element == expected)
            expected += 1
        }
        #expect(expected == next && ring.isEmpty)
    }

    @Test("a wait with a deadline ends with a value, or without one when it has passed")
    func deadlines() {
        let number = Condition(1)
        #expect(number.wait(until: .now - .seconds(1)) { $0 == 1 ? "one" : nil } == "one")
        #expect(number.wait(until: .now + .milliseconds(10)) { $0 == 2 ? "two" : nil } == nil)
        let changed = Background("test") { number.change { $0 = 2 } }
        #expect(number.wait(until: .now + .seconds(300)) { $0 == 2 ? "two" : nil } == "two")
        changed.wait()
    }

    @Test("each owner's things keep their order, and the owners take turns")
    func turns() throws {
        var turns = FairQueue<String, Int>()
        for number in 0..<5 { turns.add(number, for: "a") }
        #expect(turns.next() == 0)
        turns.add(10, for: "b")
        turns.add(20, for: "c")
        turns.add(21, for: "c")
        #expect(turns.count == 7)
        var order: [Int] = []
        while let next = turns.next() { order.append(next) }
        #expect(order == [1, 10, 20, 2, 21, 3, 4])
        #expect(turns.next() == nil && turns.count == 0)
        turns.add(5, for: "a")
        #expect(turns.next() == 5)
        let held = try Held()
        for number in 1...3 { held.queue.give(number, for: "many") }
        held.queue.give(4, for: "other")
        held.queue.give(5)
        #expect(held.finish() == [0, 1, 4, 5, 2, 3])
    }

    @Test("items without a limit are performed in order, each once")
    func order() throws {
        let held = try Held()
        for number in 1..<1000 { held.queue.give(number) }
        #expect(held.queue.waitingCount == 999)
        #expect(held.finish() == Array(0..<1000))
    }

    @Test("a queue that refuses takes so many and no more, and again when there is room")
    func refusing() throws {
        let held = try Held(.refusing(2))
        for number in 1...3 {
            switch held.queue.give(number) {
            case .taken: #expect(number <= 2)
            case .full: #expect(number == 3)
            case .dropped, .over: Issue.record("\(number)")
            }
        }
        held.isOpen.change { $0 = true }
        try Deadline.wait { held.queue.waitingCount == 0 }
        let fourth = held.queue.give(4)
        guard case .taken = fourth else {
            Issue.record("there is room")
            return
        }
        #expect(held.finish() == [0, 1, 2, 4])
    }

    @Test("a queue that drops hands back the oldest, and a place for one keeps the newest")
    func dropping() throws {
        for limit in [1, 3] {
            let held = try Held(.droppingOldest(limit))
            var dropped: [Int] = []
            for number in 1...9 {
                if case .dropped(let oldest) = held.queue.give(number) { dropped.append(oldest) }
            }
            #expect(dropped == Array(1...(9 - limit)))
            #expect(held.finish() == [0] + Array((10 - limit)...9))
        }
    }

    @Test("closed while it performs, a queue performs what waits, or drops it, and takes no more")
    func closing() throws {
        for drops in [false, true] {
            let held = try Held()
            held.queue.give(1)
            held.queue.close(droppingWaiting: drops)
            let late = held.queue.give(2)
            guard case .over = late else {
                Issue.record("it is closed")
                return
            }
            #expect(held.queue.waitingCount == (drops ? 0 : 1))
            held.queue.close()
            #expect(held.finish() == (drops ? [0] : [0, 1]))
        }
    }

    @Test("the end is waited for until the deadline, and what is missing is counted")
    func deadline() throws {
        let held = try Held()
        for number in 1...4 { held.queue.give(number) }
        #expect(held.queue.finish(until: .now + .milliseconds(20)) == 5)
        #expect(held.queue.finish(until: .now - .seconds(1)) == 5)
        held.queue.close(droppingWaiting: true)
        #expect(held.queue.finish(until: .now) == 1)
        #expect(held.finish() == [0])
        #expect(held.queue.finish(until: .now - .seconds(1)) == 0)
    }

    @Test("what was taken before two threads close it is performed once, on several threads")
    func closedTwice() throws {
        for round in 0..<50 {
            let (performed, taken) = (Condition([Int]()), Condition([Int]()))
            let queue = try #require(
                WorkQueue<Int>("test", threads: 3) { item in performed.change { $0.append(item) } })
            BriefThreads.perform(4) { part in
                if part >= 2 {
                    queue.close()
                    return #expect(queue.finish(until: .now + .seconds(300)) == 0)
                }
                for number in 0..<(100 + round) {
                    let item = 1000 * part + number
                    if case .taken = queue.give(item) { taken.change { $0.append(item) } }
                }
            }
            #expect(queue.finish(until: .now + .seconds(300)) == 0)
            #expect(performed.change { $0.sorted() } == taken.change { $0.sorted() })
        }
    }

    @Test(
        "a queue that is released performs what it has, and the last to hold it may be its thread")
    func released() throws {
        let performed = Condition(0)
        do {
            let made = WorkQueue<@Sendable () -> Void>("test") { $0() }
            let queue = try #require(made)
            for _ in 0..<100 {
                queue.give {
                    withExtendedLifetime(queue) { performed.change { $0 += 1 } }
                }
            }
        }
        performed.wait { $0 == 100 ? () : nil }
    }

    @Test("an item that is dropped may call the queue when it goes")
    func itemsThatCall() throws {
        final class Caller: Sendable {
            let queue: WorkQueue<Caller?>
            let gone: Condition<Int>

            init(_ queue: WorkQueue<Caller?>, _ gone: Condition<Int>) {
                (self.queue, self.gone) = (queue, gone)
            }

            deinit {
                queue.give(nil)
                gone.change { $0 += 1 }
            }
        }
        for limit in [3, 4] {
            let (gone, isOpen) = (Condition(0), Condition(false))
            let queue = try #require(
                WorkQueue<Caller?>("test", room: .droppingOldest(limit)) { _ in
                    isOpen.wait { $0 ? () : nil }
                })
            defer { isOpen.change { $0 = true } }
            queue.give(nil)
            try Deadline.wait { queue.waitingCount == 0 }
            for _ in 0..<3 { queue.give(Caller(queue, gone)) }
            // Each that is dropped gives another one, which has the next dropped.
            queue.give(nil)
            #expect(gone.change { $0 } == (limit == 3 ? 3 : 0))
            queue.close(droppingWaiting: true)
            #expect(gone.change { $0 } == 3)
        }
    }

    @Test("without a thread there is no queue; work is done here, or refused")
    func noThread() async throws {
        #expect(WorkQueue<Int>("test", stackBytes: Self.tooMuchStack, perform: { _ in }) == nil)
        let background = Background("test", stackBytes: Self.tooMuchStack) {
            Thread.current.name != "test"
        }
        #expect(background.wait())
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await Background.run(
                "test", stackBytes: Self.tooMuchStack, orThrow: Refused()
            ) { Issue.record("there is no thread") }
        }
    }

    @Test("work that is done once has a thread with its name, and its result or error comes back")
    func background() async throws {
        #expect(Background("test-once") { Thread.current.name }.wait() == "test-once")
        struct Refused: Error {}
        #expect(
            try await Background.run("test-run", orThrow: Refused()) { Thread.current.name }
                == "test-run")
        await #expect(throws: CancellationError.self) {
            try await Background.run("test-run", orThrow: Refused()) { throw CancellationError() }
        }
    }
}
