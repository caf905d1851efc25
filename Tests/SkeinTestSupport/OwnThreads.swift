import Dispatch
import Foundation
import Testing

/// Runs tests that block, because they wait for processes and sockets, on threads of their own: two at
/// once for each core, since each is idle for half of its time.
///
/// Swift's pool has a thread for each core. A test that blocks there keeps a core from the tests that
/// compute, and a suite that is serialized gets its turns last.
///
/// An asynchronous test must not block on a task of its own (`async let`): that has the same thread.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true
    /// How long a test may run; one that takes longer fails, and is waited for. Tests have limits of
    /// their own for each of their waits; this names one that has not.
    private let limit = Duration.seconds(3600)

    fileprivate init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite has nothing to run but its tests, for each of which this is called.
        guard !test.isSuite, testCase != nil else { return try await function() }
        let thread = await ThreadList.shared.take()
        let limit = limit
        let result: Result<Void, any Error> = await withTaskGroup { group in
            group.addTask {
                // Unlike a time limit of swift-testing, it does not count the wait for a thread.
                try? await Task.sleep(for: limit)
                if !Task.isCancelled { Issue.record("the test still runs after \(limit)") }
            }
            defer { group.cancelAll() }
            do {
                return .success(
                    try await withTaskExecutorPreference(thread) { try await function() })
            } catch {
                return .failure(error)
            }
        }
        await ThreadList.shared.give(thread)
        try result.get()
    }
}

extension Trait where Self == OwnThreads {
    /// The test waits for processes or sockets.
    package static var ownThreads: OwnThreads { OwnThreads() }
}

/// A thread that runs one task.
private final class TestThread: TaskExecutor {
    private let queue = DispatchQueue(label: "skein-test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The threads that wait for a test, and the tests that wait for one, in the order of their coming.
private actor ThreadList {
    static let shared = ThreadList(min(16, 2 * ProcessInfo.processInfo.activeProcessorCount))

    private var idle: [TestThread]
    private var waiting: [CheckedContinuation<TestThread, Never>] = []

    init(_ count: Int) { idle = (0..<count).map { _ in TestThread() } }

    func take() async -> TestThread {
        if let thread = idle.popLast() { return thread }
        return await withCheckedContinuation { waiting.append($0) }
    }

    func give(_ thread: TestThread) {
        if waiting.isEmpty {
            idle.append(thread)
        } else {
            waiting.removeFirst().resume(returning: thread)
        }
    }
}
