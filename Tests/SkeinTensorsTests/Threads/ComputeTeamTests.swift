import Foundation
import Synchronization
import Testing

@testable import SkeinTensors

/// Forks and joins; no test asks how fast they are.
@Suite struct ComputeTeamTests {
    @Test("every piece is done once before a run returns", arguments: [1, 2, 5])
    func pieces(threads: Int) {
        let team = ComputeTeam(threadCount: threads)
        #expect(team.threadCount == threads)
        // The last one takes several jobs.
        for pieces in [0, 1, 2, 7, 64, 1000, 65_535, 150_001] {
            let counts = UnsafeMutablePointer<Int>.allocate(capacity: max(1, pieces))
            defer { counts.deallocate() }
            counts.update(repeating: 0, count: max(1, pieces))
            team.run(pieces) { piece, thread in
                precondition((0..<threads).contains(thread))
                counts[piece] += 1
            }
            #expect((0..<pieces).allSatisfy { counts[$0] == 1 }, "\(pieces) pieces")
        }
    }

    @Test("each of many forks sees what the one before has written", arguments: [2, 5])
    func manyForks(threads: Int) {
        let team = ComputeTeam(threadCount: threads)
        let width = 12
        let values = UnsafeMutablePointer<Int>.allocate(capacity: 2 * width)
        defer { values.deallocate() }
        values.update(repeating: 0, count: 2 * width)
        let rounds = 20_000
        for round in 0..<rounds {
            let (from, to) = (values + round % 2 * width, values + (round + 1) % 2 * width)
            // Each piece reads two pieces of the round before.
            team.run(width) { piece, _ in
                to[piece] = max(from[piece], from[(piece + 1) % width]) + 1
            }
        }
        #expect((0..<width).allSatisfy { values[rounds % 2 * width + $0] == rounds })
    }

    @Test("a thread does its own share in order, then the others' from their ends")
    func shares() {
        let team = ComputeTeam(threadCount: 2)
        let order = UnsafeMutablePointer<Int>.allocate(capacity: 8)
        defer { order.deallocate() }
        let count = Atomic<Int>(0)
        let callerBegan = Atomic<Bool>(false)
        let deadline = ContinuousClock.now + Self.patience
        // The caller keeps its first piece until the other thread has done all others, which begins
        // when the caller has it.
        team.run(8) { piece, thread in
            if thread == 1 {
                while !callerBegan.load(ordering: .acquiring), ContinuousClock.now < deadline {
                    Self.sleep(.microseconds(100))
                }
            }
            if thread == 0 {
                callerBegan.store(true, ordering: .releasing)
                while count.load(ordering: .acquiring) < 7, ContinuousClock.now < deadline {
                    Self.sleep(.microseconds(100))
                }
            } else {
                order[count.load(ordering: .relaxed)] = piece
                count.add(1, ordering: .releasing)
            }
        }
        #expect(count.load(ordering: .acquiring) == 7)
        #expect((0..<7).map { order[$0] } == [4, 5, 6, 7, 3, 2, 1])
    }

    @Test("any memory can be announced, also none and what is not mapped", arguments: [1, 2, 5])
    func announcements(threads: Int) {
        let team = ComputeTeam(threadCount: threads)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
        defer { memory.deallocate() }
        let announced: [UnsafeRawBufferPointer] = [
            UnsafeRawBufferPointer(memory), UnsafeRawBufferPointer(start: nil, count: 0),
            UnsafeRawBufferPointer(
                start: UnsafeRawPointer(bitPattern: UInt.max - 100_000), count: 90_000),
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 64), count: .max / 2),
        ]
        let sum = Atomic<Int>(0)
        for round in 0..<400 {
            team.announce(
                announced[round % 4], round % 3 == 0 ? nil : announced[round / 4 % 4])
            team.run(7) { piece, _ in sum.add(piece, ordering: .relaxed) }
        }
        #expect(sum.load(ordering: .relaxed) == 400 * 21)
    }

    @Test("threads that went to sleep come back, and the caller sleeps while a piece takes long")
    func sleep() {
        let team = ComputeTeam(threadCount: 3)
        let sum = Atomic<Int>(0)
        for _ in 0..<5 {
            Thread.sleep(forTimeInterval: 0.02)
            team.run(6) { piece, thread in
                if thread > 0 { Thread.sleep(forTimeInterval: 0.01) }
                sum.add(piece, ordering: .relaxed)
            }
        }
        #expect(sum.load(ordering: .relaxed) == 75)
    }

    @Test("a team that was held up continues without the slow thread, and later with it")
    func heldUp() {
        let team = ComputeTeam(threadCount: 2)
        let hasStarted = Atomic<Bool>(false)
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while team.aloneUntil == nil, clock.now < deadline {
            hasStarted.store(false, ordering: .relaxed)
            let began = clock.now
            team.run(2) { _, thread in
                if thread == 1 {
                    hasStarted.store(true, ordering: .releasing)
                    // Far longer than the caller's piece, however late this thread was.
                    Self.sleep(.milliseconds(30) + (clock.now - began) * 8)
                } else {
                    // The caller is here with one of two pieces: the other thread takes the second.
                    while !hasStarted.load(ordering: .acquiring), clock.now < deadline {
                        Self.sleep(.microseconds(100))
                    }
                }
            }
        }
        #expect(team.aloneUntil != nil)
        let others = Atomic<Int>(0)
        while others.load(ordering: .relaxed) == 0, clock.now < deadline {
            team.run(4) { _, thread in
                if thread == 1 { others.add(1, ordering: .relaxed) }
                Self.sleep(.milliseconds(1))
            }
        }
        #expect(others.load(ordering: .relaxed) > 0)
    }

    /// For what must happen, however busy the machine is.
    private static let patience = Duration.seconds(120)

    private static func sleep(_ duration: Duration) {
        Thread.sleep(forTimeInterval: duration / .seconds(1))
    }

    /// Waits until `condition` holds, with patience.
    private static func wait(until condition: () -> Bool) {
        let deadline = ContinuousClock.now + patience
        while !condition(), ContinuousClock.now < deadline { sleep(.milliseconds(1)) }
    }

    @Test("a run releases what its pieces hold")
    func release() {
        final class Held {}
        let team = ComputeTeam(threadCount: 2)
        weak var held: Held?
        do {
            let object = Held()
            held = object
            team.run(50) { _, _ in withExtendedLifetime(object) {} }
        }
        // A thread may be about to drop its own reference.
        Self.wait { held == nil }
        #expect(held == nil)
    }

    @Test("threads end with their team")
    func stop() {
        var team: ComputeTeam? = ComputeTeam(threadCount: 4)
        team?.run(100) { _, _ in }
        let state = team?.state
        team = nil
        Self.wait { state?.live.load(ordering: .acquiring) == 0 }
        #expect(state?.live.load(ordering: .acquiring) == 0)
    }
}
