import Foundation
import SkeinModels
import SkeinTensors
import Synchronization

/// A few dedicated threads that compute micro-batches.
///
/// Not Swift's shared pool: matrix products on it would delay everything else in the process. One
/// micro-batch is computed on one thread; those that have none help with its products
/// (`WorkSharing`), so that a step's last micro-batch does not leave all others idle. Results do not
/// depend on how many threads there are. One caller at a time uses a pool; it blocks until its work
/// is done.
///
/// Workspaces are lent to jobs, the last returned first: as many grow to the size of a training
/// micro-batch as are computed at once, however many threads there are. A workspace for each thread
/// would in time grow on every one of them.
package final class ComputePool: Sendable {
    package let threadCount: Int
    private let channel: Channel

    /// - Parameter threadCount: threads to start; at least 1.
    package init(threadCount: Int) {
        let count = max(1, threadCount)
        self.threadCount = count
        let channel = Channel(sharing: WorkSharing(threadCount: count))
        self.channel = channel
        for number in 0..<count {
            let thread = Thread { channel.work(as: number) }
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
    package func forEach<Result: Sendable>(
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

    /// What a thread does next.
    private enum Turn {
        case compute(Job, LentWorkspace)
        case help
        case end
    }

    /// Jobs that wait for a thread. Holds at most the micro-batches of one step.
    private final class Channel: Sendable {
        // The condition guards the state; both live exactly as long as each other.
        private let condition = Condition(Waiting())
        private let sharing: WorkSharing
        /// Something waits that is more than help: looked at without the condition's lock.
        private let isCalling = Atomic<Bool>(false)

        init(sharing: WorkSharing) {
            self.sharing = sharing
        }

        func add(_ jobs: [Job]) {
            condition.change {
                $0.jobs += jobs.reversed()
                isCalling.store(!$0.jobs.isEmpty || $0.isClosed, ordering: .relaxed)
            }
        }

        func dropPending() -> Int {
            condition.change { state in
                defer { state.jobs.removeAll() }
                return state.jobs.count
            }
        }

        func close() {
            condition.change {
                $0.isClosed = true
                isCalling.store(true, ordering: .relaxed)
            }
        }

        /// A thread's life.
        func work(as number: Int) {
            while true {
                switch nextTurn() {
                case .end: return
                case .help: sharing.help(as: number) { isCalling.load(ordering: .relaxed) }
                case .compute(let job, let workspace):
                    workspace.value.place = sharing.place(of: number)
                    let deliver = job(workspace.value)
                    // First, so that whoever gets the result finds the workspace free.
                    giveBack(workspace)
                    deliver()
                }
            }
        }

        /// The next job, first come first served, and where to compute it. While others compute
        /// theirs, whoever finds none helps.
        private func nextTurn() -> Turn {
            condition.wait { state in
                if state.isClosed { return .end }
                guard let job = state.jobs.popLast() else {
                    isCalling.store(false, ordering: .relaxed)
                    return sharing.hasWork ? .help : nil
                }
                sharing.enter()
                return .compute(job, state.workspaces.popLast() ?? LentWorkspace())
            }
        }

        private func giveBack(_ workspace: LentWorkspace) {
            condition.change(waking: false) {
                $0.workspaces.append(workspace)
                sharing.leave()
            }
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
