import SkeinBasics
import Synchronization

/// The dedicated threads of a process that compute: for `train`, for a worker, for an evaluation.
///
/// Not Swift's shared pool: matrix products on it would delay everything else in the process. A job
/// runs on one thread; threads without a job help with the products of the others (`WorkSharing`),
/// so that a step's last micro-batch does not leave them idle. Results do not depend on how many
/// threads there are.
///
/// Workspaces are lent to jobs, the last returned first, so only as many grow to the size of a
/// micro-batch as jobs run at once. With a workspace for each thread, every one would grow in time.
package final class ComputeThreads<Workspace>: Sendable {
    /// Computes in the workspace that it is lent, at the place of its thread. Returns a function
    /// that hands over the result, to be called when the workspace is free again.
    package typealias Job = @Sendable (Workspace, WorkSharing.Place) -> () -> Void

    package let threadCount: Int
    private let queue: JobQueue<Workspace>

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threadCount: at least 1. If the system refuses some, the others do the work; if it
    ///     refuses all, nothing could go on, and the process ends as it does without memory.
    ///   - makeWorkspace: makes a workspace, at most one for each thread.
    package init(threadCount: Int, makeWorkspace: @escaping @Sendable () -> Workspace) {
        let count = max(1, threadCount)
        self.threadCount = count
        let queue = JobQueue(threadCount: count, makeWorkspace: makeWorkspace)
        self.queue = queue
        for number in 0..<count {
            let isStarted = SystemThread.start("skein-compute-\(number)", stackBytes: 8 << 20) {
                queue.work(as: number)
            }
            if !isStarted { queue.lacksThread() }
        }
    }

    deinit { queue.close(whenEnded: nil) }

    /// Runs a job on the next free thread, first come, first served.
    ///
    /// The caller must bound the number of waiting jobs.
    package func start(_ job: @escaping Job) { queue.add([job]) }

    /// Ends the threads once all jobs are done; then calls `whenEnded`, on the last of them.
    package func close(whenEnded: (@Sendable () -> Void)? = nil) {
        queue.close(whenEnded: whenEnded)
    }

    /// Calls `body` for 0 ..< `count` on the threads, in order, and hands the results to `receive`
    /// on the caller's thread, in the order in which they finish. Blocks until all are done; one
    /// caller at a time.
    ///
    /// - Throws: what `receive` throws; what has not started by then is not started.
    package func forEach<Result: Sendable>(
        _ count: Int,
        compute body: @escaping @Sendable (Int, Workspace, WorkSharing.Place) -> Result,
        receive: (Int, Result) throws -> Void
    ) throws {
        let results = Mailbox<(Int, Result)>()
        queue.add(
            (0..<count).map { index in
                { workspace, place in
                    let result = body(index, workspace, place)
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
                let dropped = queue.dropPending()
                while received + dropped < count {
                    _ = results.take()
                    received += 1
                }
                throw error
            }
        }
    }
}

/// Waiting jobs, and the loops of the threads. Not a `WorkQueue`: its threads borrow workspaces, and
/// while none of their own waits they help with the jobs of others.
private final class JobQueue<Workspace>: Sendable {
    /// A workspace on its way between the queue and one thread.
    private struct Lent: @unchecked Sendable {
        // Popped under the condition's lock, so one thread at a time has it.
        let workspace: Workspace
    }

    private struct State: Sendable {
        /// The next one is the last.
        var jobs: [ComputeThreads<Workspace>.Job] = []
        /// The free ones, the last returned last.
        var workspaces: [Lent] = []
        var isClosed = false
        /// Threads that have not ended.
        var living: Int
        var whenEnded: (@Sendable () -> Void)?
    }

    /// What a thread does next.
    private enum Turn {
        case compute(ComputeThreads<Workspace>.Job, Lent)
        case help
        case end
    }

    private let condition: Condition<State>
    private let sharing: WorkSharing
    private let makeWorkspace: @Sendable () -> Workspace
    /// Whether there is more to do than help; read without the condition's lock.
    private let isCalling = Atomic<Bool>(false)

    init(threadCount: Int, makeWorkspace: @escaping @Sendable () -> Workspace) {
        condition = Condition(State(living: threadCount))
        sharing = WorkSharing(threadCount: threadCount)
        self.makeWorkspace = makeWorkspace
    }

    func add(_ jobs: [ComputeThreads<Workspace>.Job]) {
        condition.change {
            // Behind those that already wait: the next one is the last.
            $0.jobs.insert(contentsOf: jobs.reversed(), at: 0)
            isCalling.store(!$0.jobs.isEmpty || $0.isClosed, ordering: .relaxed)
        }
    }

    func dropPending() -> Int {
        condition.change { state in
            defer { state.jobs.removeAll() }
            return state.jobs.count
        }
    }

    func close(whenEnded: (@Sendable () -> Void)?) {
        condition.change {
            $0.isClosed = true
            if let whenEnded { $0.whenEnded = whenEnded }
            isCalling.store(true, ordering: .relaxed)
        }
    }

    /// A thread's loop.
    func work(as number: Int) {
        let place = sharing.place(of: number)
        while true {
            switch nextTurn() {
            case .end: return end()
            case .help: sharing.help(as: number) { isCalling.load(ordering: .relaxed) }
            case .compute(let job, let lent):
                let handOver = job(lent.workspace, place)
                // First, so that the receiver of the result finds the workspace free.
                giveBack(lent)
                handOver()
            }
        }
    }

    /// The next job and its workspace. Without one, a thread helps while others compute.
    private func nextTurn() -> Turn {
        condition.wait { state in
            guard let job = state.jobs.popLast() else {
                // Not while jobs wait: their owners wait for an outcome.
                if state.isClosed { return .end }
                isCalling.store(false, ordering: .relaxed)
                return sharing.hasWork ? .help : nil
            }
            sharing.enter()
            return .compute(job, state.workspaces.popLast() ?? Lent(workspace: makeWorkspace()))
        }
    }

    private func giveBack(_ lent: Lent) {
        condition.change(waking: false) {
            $0.workspaces.append(lent)
            sharing.leave()
        }
    }

    /// Called when the system has refused a thread.
    func lacksThread() {
        let living = condition.change(waking: false) { state in
            state.living -= 1
            return state.living
        }
        if living == 0 { MemoryShortage.end(bytes: 8 << 20, for: "a compute thread") }
    }

    private func end() {
        let whenEnded = condition.change(waking: false) { state in
            state.living -= 1
            return state.living == 0 ? state.whenEnded : nil
        }
        whenEnded?()
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
