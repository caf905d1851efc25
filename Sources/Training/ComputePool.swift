import Foundation
import Models

/// A few dedicated threads that compute micro-batches.
///
/// Not Swift's shared pool: matrix products on it would delay everything else in the process. One
/// micro-batch is computed whole on one thread, so results do not depend on how many there are.
/// One caller at a time uses a pool; it blocks until its work is done.
///
/// Workspaces are lent to jobs, the last returned first: as many grow to the size of a training
/// micro-batch as are computed at once, however many threads there are. A workspace for each thread
/// would in time grow on every one of them.
public final class ComputePool: Sendable {
    public let threadCount: Int
    private let channel = Channel()

    /// - Parameter threadCount: threads to start; at least 1.
    public init(threadCount: Int) {
        self.threadCount = max(1, threadCount)
        for number in 0..<self.threadCount {
            let channel = self.channel
            let thread = Thread {
                while let (job, workspace) = channel.nextJob() {
                    let deliver = job(workspace.value)
                    // First, so that whoever gets the result finds the workspace free.
                    channel.giveBack(workspace)
                    deliver()
                }
            }
            thread.name = "skein-compute-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    deinit {
        channel.close()
    }

    /// Calls `body` for 0 ..< `count` on the pool's threads, in order of starting, and hands each
    /// result to `receive` on the caller's thread, in order of finishing.
    ///
    /// - Throws: what `receive` throws; what has not started then is not started.
    public func forEach<Result: Sendable>(
        _ count: Int, compute body: @escaping @Sendable (Int, DecoderWorkspace) -> Result,
        receive: (Int, Result) throws -> Void
    ) throws {
        let results = Mailbox<(Int, Result)>()
        channel.add(
            (0..<count).map { index in
                { workspace in
                    let result = body(index, workspace)
                    return { results.put((index, result)) }
                }
            })
        var received = 0
        while received < count {
            let (index, result) = results.take()
            received += 1
            do {
                try receive(index, result)
            } catch {
                let dropped = channel.dropPending()
                while received + dropped < count {
                    _ = results.take()
                    received += 1
                }
                throw error
            }
        }
    }
}

extension ComputePool {
    /// Computes, and returns what hands the result to the caller.
    typealias Job = @Sendable (DecoderWorkspace) -> () -> Void

    /// A workspace on its way between the channel and one thread.
    private struct LentWorkspace: @unchecked Sendable {
        // Taken off the channel's stack under its lock, so one thread at a time has it.
        let value = DecoderWorkspace()
    }

    private struct Waiting: Sendable {
        /// The next one last.
        var jobs: [Job] = []
        /// Nobody's at the moment, the last returned last.
        var workspaces: [LentWorkspace] = []
        var isClosed = false
    }

    /// Jobs that wait for a thread. Holds at most the micro-batches of one step.
    private final class Channel: Sendable {
        // The condition guards the state; both live exactly as long as each other.
        private let condition = Condition(Waiting())

        func add(_ jobs: [Job]) {
            condition.change { $0.jobs += jobs.reversed() }
        }

        func dropPending() -> Int {
            condition.change { state in
                defer { state.jobs.removeAll() }
                return state.jobs.count
            }
        }

        func close() {
            condition.change { $0.isClosed = true }
        }

        /// The next job, first come first served, and where to compute it; nil when the pool is gone.
        func nextJob() -> (Job, LentWorkspace)? {
            condition.wait { state in
                if state.isClosed { return .some(nil) }
                guard let job = state.jobs.popLast() else { return nil }
                return (job, state.workspaces.popLast() ?? LentWorkspace())
            }
        }

        func giveBack(_ workspace: LentWorkspace) {
            condition.change(waking: false) { $0.workspaces.append(workspace) }
        }
    }

    /// Results on their way to the caller.
    private final class Mailbox<Element: Sendable>: Sendable {
        private let condition = Condition<[Element]>([])

        func put(_ element: Element) {
            condition.change { $0.append(element) }
        }

        func take() -> Element {
            condition.wait { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }
}
