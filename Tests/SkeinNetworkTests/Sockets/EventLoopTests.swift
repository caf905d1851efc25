import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("event loop")
struct EventLoopTests {
    @Test("all posts of many threads are done, each thread's in order")
    func posts() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let threads = 8
        let each = 3 * Limits.postedWork / threads
        let done = Gate(count: threads)
        for number in 0..<threads {
            let thread = Thread {
                for index in 0..<each {
                    seen.post { $0.add(number, index) }
                }
                done.arrive()
            }
            thread.start()
        }
        #expect(done.wait(seconds: 60))
        let counts = try seen.call { $0.inOrder }
        #expect(counts == Array(repeating: each, count: threads))
        loop.stop()
    }

    @Test("alarms go off in the order of their deadlines, and a cancelled one does not")
    func alarms() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let done = Gate(count: 1)
        try seen.call { record in
            let start = ContinuousClock.now
            var cancelled: [Alarm] = []
            for index in (0..<20).reversed() {
                let deadline = start + .milliseconds(10 + index / 2)
                loop.setAlarm(at: deadline) {
                    record.add(index % 2, index)
                    record.early = record.early || ContinuousClock.now < deadline
                }
                cancelled.append(loop.setAlarm(at: deadline) { record.add(2, index) })
            }
            cancelled.forEach(loop.cancel)
            loop.setAlarm(at: start + .milliseconds(50)) { done.arrive() }
        }
        #expect(done.wait(seconds: 60))
        let order = try seen.call { $0.all }
        // Equal deadlines: in the order of setting, which was backwards.
        let expected = (0..<20).map { $0 ^ 1 }
        #expect(order.map(\.1) == expected)
        #expect(try seen.call { !$0.early })
        loop.stop()
    }

    @Test("a state machine's deadline brings ticks, and none before its time")
    func timer() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let done = Gate(count: 1)
        try seen.call { record in
            var deadline: ContinuousClock.Instant? = .now + .milliseconds(20)
            loop.setTimer {
                deadline
            } tick: { now in
                guard let due = deadline else { return }
                record.early = record.early || now < due
                record.add(0, record.all.count)
                deadline = record.all.count < 5 ? due + .milliseconds(20) : nil
                if deadline == nil { done.arrive() }
            }
        }
        #expect(done.wait(seconds: 60))
        #expect(try seen.call { $0.all.count } == 5)
        #expect(try seen.call { !$0.early })
        loop.stop()
    }

    /// Processor seconds of the calling thread.
    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    @Test("a loop with nothing due sleeps")
    func sleeps() throws {
        let loop = try EventLoop(name: "test")
        try loop.call { loop.setTimer(nextDeadline: { .now + .seconds(3600) }, tick: { _ in }) }
        let before = try loop.call { (loop.turns, Self.threadSeconds) }
        usleep(300_000)
        let after = try loop.call { (loop.turns, Self.threadSeconds) }
        #expect(after.0 - before.0 <= 3)
        #expect(after.1 - before.1 < 0.05)
        loop.stop()
    }

    @Test("a deadline that stays in the past does not make the loop spin")
    func stuckDeadline() throws {
        let loop = try EventLoop(name: "test")
        try loop.call { loop.setTimer(nextDeadline: { .now - .seconds(1) }, tick: { _ in }) }
        let before = try loop.call { (loop.turns, ContinuousClock.now) }
        usleep(200_000)
        let after = try loop.call { (loop.turns, ContinuousClock.now) }
        // A turn a millisecond at most.
        #expect(Double(after.0 - before.0) <= (after.1 - before.1) / .milliseconds(1) + 50)
        loop.stop()
    }

    @Test("what was posted before a stop is done, and later posts are refused")
    func stops() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let counter = Gate(count: 100)
        for _ in 0..<100 { loop.post { counter.arrive() } }
        loop.stop()
        #expect(counter.wait(seconds: 0))
        #expect(!loop.post {})
        #expect(throws: SocketError.stopped) { try loop.call {} }
        #expect(throws: SocketError.stopped) { try seen.call { _ in } }
        loop.stop()
    }

    @Test("a loop can be stopped from its own thread, which frees its state")
    func stopsItself() throws {
        let loop = try EventLoop(name: "test")
        let gone = Gate(count: 1)
        let state = try Confined(to: loop) { Farewell(gone) }
        state.post { _ in loop.stop() }
        #expect(gone.wait(seconds: 60))
        loop.stop()
    }

    @Test("the loop's thread is known")
    func thread() throws {
        let loop = try EventLoop(name: "test")
        #expect(!loop.runsOnLoop)
        #expect(try loop.call { try loop.call { loop.runsOnLoop } })
        loop.stop()
        #expect(!loop.runsOnLoop)
    }

    @Test("a turn ends when its time is over, and those left out go first in the next")
    func turnTime() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let done = Gate(count: 1)
        try seen.call { record in
            let pipes = (0..<4).map { _ in TestPipe() }
            for (index, pipe) in pipes.enumerated() {
                pipe.send()
                // The pipes are not read, so all of them are ready in every turn.
                _ = loop.watch(pipe.reader, for: .read) { _ in
                    record.add(loop.turns, index)
                    let end = ContinuousClock.now + Limits.turnTime
                    while ContinuousClock.now < end {}
                    if record.all.count == 12 { done.arrive() }
                    withExtendedLifetime(pipes) {}
                }
            }
        }
        #expect(done.wait(seconds: 60))
        let all = try seen.call { Array($0.all.prefix(12)) }
        loop.stop()
        #expect(Set(all.map(\.0)).count == 12, "two in one turn")
        for start in stride(from: 0, to: 12, by: 4) {
            #expect(Set(all[start..<start + 4].map(\.1)).count == 4, "one was skipped")
        }
    }

    @Test("after a pause of the process all peers are heard before an alarm goes off")
    func pause() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        let done = Gate(count: 1)
        try seen.call { record in
            let pipes = (0..<4).map { _ in TestPipe() }
            for (index, pipe) in pipes.enumerated() {
                pipe.send()
                _ = loop.watch(pipe.reader, for: .read) { _ in
                    record.add(loop.turns, index)
                    let end = ContinuousClock.now + Limits.turnTime
                    while ContinuousClock.now < end {}
                    if record.all.count == 9 { done.arrive() }
                    withExtendedLifetime(pipes) {}
                }
            }
            // Long overdue when the loop looks at the clock again.
            loop.setAlarm(at: .now - .seconds(1)) { record.add(-1, record.all.count) }
        }
        #expect(done.wait(seconds: 60))
        let all = try seen.call { Array($0.all.prefix(9)) }
        loop.stop()
        #expect(Set(all.prefix(4).map(\.1)) == [0, 1, 2, 3])
        #expect(Set(all.prefix(4).map(\.0)).count == 1, "not in one turn")
        #expect(all[4].0 == -1 && all[4].1 == 4, "the alarm came after \(all[4].1)")
        #expect(Set(all.suffix(4).map(\.0)).count == 4, "two in one turn")
    }

    @Test("a descriptor reopened within a turn does not get the events of the old one")
    func reuse() throws {
        let loop = try EventLoop(name: "test")
        let seen = try Confined(to: loop) { Record() }
        try seen.call { record in
            // Both pipes are readable in the same turn; whichever comes first ends the other, and
            // puts an empty pipe in its place.
            let pipes = [TestPipe(), TestPipe()]
            var watches: [Watch?] = [nil, nil]
            for index in 0..<2 {
                watches[index] = loop.watch(pipes[index].reader, for: .read) { _ in
                    record.add(0, index)
                    let other = 1 - index
                    watches.compactMap { $0 }.forEach(loop.end)
                    pipes[other].empty()
                    record.add(1, other)
                    watches[other] = loop.watch(pipes[other].reader, for: .read) { _ in
                        record.add(2, other)
                    }
                }
            }
            for pipe in pipes { pipe.send() }
        }
        let limit = ContinuousClock.now + .seconds(60)
        while try seen.call({ $0.all.count }) < 2, ContinuousClock.now < limit { usleep(2000) }
        // A wrong event would have come in the same turn, or in the next.
        for _ in 0..<10 { try loop.call {} }
        let all = try seen.call { $0.all }
        #expect(all.map(\.0) == [0, 1])
        loop.stop()
    }
}

/// What happened on a loop, in order.
final class Record {
    var all: [(Int, Int)] = []
    var early = false

    func add(_ group: Int, _ index: Int) { all.append((group, index)) }

    /// How many of each group, when each group counts up from 0.
    var inOrder: [Int] {
        var next: [Int: Int] = [:]
        for (group, index) in all where next[group, default: 0] == index { next[group] = index + 1 }
        return next.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// Lets a test wait for other threads.
final class Gate: @unchecked Sendable {
    // `missing` is used only under `condition`.
    private let condition = NSCondition()
    private var missing: Int

    init(count: Int) { missing = count }

    func arrive() {
        condition.lock()
        missing -= 1
        condition.broadcast()
        condition.unlock()
    }

    /// Whether all have arrived within `seconds`.
    func wait(seconds: Double) -> Bool {
        let limit = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while missing > 0 {
            guard condition.wait(until: limit) else { return missing <= 0 }
        }
        return true
    }
}

/// State that tells when it is freed.
private final class Farewell {
    let gate: Gate
    init(_ gate: Gate) { self.gate = gate }
    deinit { gate.arrive() }
}

private struct TestPipe {
    let reader: Int32
    let writer: Int32

    init() {
        (reader, writer) = ClosingDescriptors.pipe()
    }

    func send() {
        var byte: UInt8 = 7
        precondition(write(writer, &byte, 1) == 1)
    }

    /// Closes this pipe and opens another one, with nothing in it, under the same numbers. At once:
    /// a number that is free for a moment may go to a file of another test.
    func empty() {
        let other = ClosingDescriptors.pipe()
        for (old, new) in [(reader, other.reading), (writer, other.writing)] {
            precondition(dup2(new, old) == old)
            // A copy is inherited unless this is said again.
            _ = fcntl(old, F_SETFD, FD_CLOEXEC)
            close(new)
        }
    }
}
