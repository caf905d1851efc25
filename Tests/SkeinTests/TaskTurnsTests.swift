import SkeinBasics
import Synchronization
import Testing

@testable import Skein

@Suite struct TaskTurnsTests {
    @Test("tasks are admitted one at a time, and a task that is cancelled stops waiting")
    func turns() async throws {
        let turns = TaskTurns()
        let inside = Condition(0)
        let hasBegun = Settlement<Void>()
        let mayEnd = Settlement<Void>()
        let first = Task {
            try await turns.take {
                hasBegun.settle(.success(()))
                try await mayEnd.value()
            }
        }
        try await hasBegun.value()
        let others = (0..<20).map { _ in
            Task {
                try await turns.take {
                    let before = inside.change { count in
                        defer { count += 1 }
                        return count
                    }
                    #expect(before == 0)
                    await Task.yield()
                    inside.change { $0 -= 1 }
                }
            }
        }
        others[7].cancel()
        await #expect(throws: CancellationError.self) { try await others[7].value }
        mayEnd.settle(.success(()))
        try await first.value
        // A turn that throws ends, too.
        await #expect(throws: CancellationError.self) {
            try await turns.take { throw CancellationError() }
        }
        for (number, task) in others.enumerated() where number != 7 { try await task.value }
    }

    @Test(
        "each part of a brief piece of work is done once, and all before the caller goes on",
        arguments: [0, 1, 2, 9])
    func brief(count: Int) {
        let done = Mutex<[Int]>([])
        BriefThreads.perform(count) { number in done.withLock { $0.append(number) } }
        #expect(done.withLock { $0.sorted() } == Array(0..<count))
    }
}
