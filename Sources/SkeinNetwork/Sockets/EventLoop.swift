import Foundation
import SkeinBasics

/// One thread that waits for sockets, deadlines and work posted by other threads, and handles all
/// three. It sleeps when nothing is due, and never computes.
///
/// All state of a node is confined to this thread: handlers, alarms and posted work run on it, one
/// after the other, so they need no lock. `Confined` holds such state for other threads.
///
/// A loop lives until `stop()`. `post`, `call`, `stop` and `runsOnLoop` may be used on any thread,
/// everything else only on the loop's; anything else is a bug of ours.
package final class EventLoop: @unchecked Sendable {
    // Sendable, because `shared` is used only under `condition`, `wakeReader` and `wakeWriter`
    // never change, and everything else is used only on the loop's thread, which
    // `preconditionOnLoop()` checks in each method that other files can call.

    private struct Shared {
        var posted: [@Sendable () -> Void] = []
        /// Whether a byte is in the pipe: one is enough for many posts.
        var isWaking = false
        var isStopping = false
        /// Whether posts are refused: the loop has taken the last ones.
        var isClosed = false
        var hasEnded = false
        var thread: pthread_t?
    }

    private let condition = NSCondition()
    private var shared = Shared()
    private let wakeReader: Int32
    private let wakeWriter: Int32

    private var watches: WatchList
    /// Whether this turn hears all peers, however long that takes: the process was stopped.
    private var catchesUp = false
    private var alarms = AlarmList()
    private var nextDeadline: () -> ContinuousClock.Instant? = { nil }
    private var tick: (ContinuousClock.Instant) -> Void = { _ in }
    private var endings: [() -> Void] = []

    /// The time of this turn, the same for all that happens in it, never earlier than the turn
    /// before: the time to tell a state machine.
    package private(set) var now = ContinuousClock.now

    /// Where connections read headers, and bytes that are not kept: one buffer instead of one each.
    package let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Limits.readBytes, alignment: 64)

    /// How often the loop has woken up; an idle loop does not.
    package private(set) var turns = 0

    /// Starts the thread.
    ///
    /// - Parameter name: of the thread, for debuggers.
    /// - Throws: `SocketError.systemRefused`.
    package init(name: String) throws(SocketError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .systemRefused(operation: "make a pipe", code: errno)
        }
        watches = WatchList()
        wakeReader = ends[0]
        wakeWriter = ends[1]
        for end in ends { Descriptor.prepare(end) }
        guard SystemThread.start(name, { self.run() }) else {
            // Elsewhere the loop's thread does this.
            _ = watches.close()
            throw .threadRefused
        }
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
        scratch.deallocate()
    }

    // MARK: From any thread

    /// Whether the caller is the loop's thread.
    package var runsOnLoop: Bool {
        condition.lock()
        defer { condition.unlock() }
        return shared.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    package func preconditionOnLoop() {
        precondition(runsOnLoop, "this belongs to the loop's thread")
    }

    /// Runs `work` on the loop's thread, after everything posted before.
    ///
    /// While `Limits.postedWork` posts wait for the loop, other threads block here; so hold no lock
    /// that the loop may want. The loop's own posts never block.
    ///
    /// - Returns: whether it will run; false once the loop has stopped.
    @discardableResult
    package func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let isLoop = shared.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        while !isLoop, !shared.isClosed, shared.posted.count >= Limits.postedWork {
            condition.wait()
        }
        guard !shared.isClosed else { return false }
        shared.posted.append(work)
        wake()
        return true
    }

    /// Runs `body` on the loop's thread and waits for its result; on that thread, runs it at once.
    ///
    /// - Throws: what `body` throws, or `SocketError.stopped`.
    package func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws
        -> Value
    {
        if runsOnLoop { return try body() }
        let answer = Answer<Value>()
        guard post({ answer.give(Result(catching: body)) }) else { throw SocketError.stopped }
        return try answer.wait().get()
    }

    /// Stops the loop after all work posted so far, drops its watches and alarms, and waits for its
    /// thread to end; on that thread it does not wait.
    package func stop() {
        let isLoop = runsOnLoop
        condition.lock()
        defer { condition.unlock() }
        shared.isStopping = true
        wake()
        while !isLoop, !shared.hasEnded { condition.wait() }
    }

    /// The caller holds the lock.
    private func wake() {
        guard !shared.isWaking else { return }
        shared.isWaking = true
        var byte: UInt8 = 1
        // A full pipe wakes the loop as well; this cannot fail in any other way.
        _ = write(wakeWriter, &byte, 1)
    }

    // MARK: On the loop's thread

    /// Calls `handler` whenever `descriptor` is ready for `interest`, or broken.
    ///
    /// The loop does not own the descriptor; end the watch before closing it.
    package func watch(
        _ descriptor: Int32, for interest: Readiness, handler: @escaping (Readiness) -> Void
    ) -> Watch {
        preconditionOnLoop()
        return watches.add(descriptor, interest, handler)
    }

    /// Changes what a watch waits for; even an empty set reports a broken descriptor.
    package func change(_ watch: Watch, to interest: Readiness) {
        preconditionOnLoop()
        watches.change(watch, to: interest)
    }

    /// Ends a watch: its handler is not called again, not even in this turn.
    package func end(_ watch: Watch) {
        preconditionOnLoop()
        withExtendedLifetime(watches.remove(watch)) {}
    }

    /// Calls `action` once, at `deadline` or as soon as possible after it.
    ///
    /// Alarms go off in the order of their deadlines; equal ones, in the order in which they were
    /// set.
    @discardableResult
    package func setAlarm(at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void)
        -> Alarm
    {
        preconditionOnLoop()
        return alarms.add(deadline, action)
    }

    /// Cancels an alarm; does nothing if it has gone off.
    package func cancel(_ alarm: Alarm) {
        preconditionOnLoop()
        withExtendedLifetime(alarms.remove(alarm)) {}
    }

    /// Sets a state machine's timer.
    ///
    /// `nextDeadline` is asked before every sleep; when its time has come, `tick` is called with
    /// `now`. A `tick` that leaves a deadline in the past is called again a millisecond later.
    package func setTimer(
        nextDeadline: @escaping () -> ContinuousClock.Instant?,
        tick: @escaping (ContinuousClock.Instant) -> Void
    ) {
        preconditionOnLoop()
        self.nextDeadline = nextDeadline
        self.tick = tick
    }

    /// Calls `action` when the loop has stopped, as the last thing on its thread.
    package func whenEnding(_ action: @escaping () -> Void) {
        preconditionOnLoop()
        endings.append(action)
    }

    private func run() {
        condition.lock()
        shared.thread = pthread_self()
        condition.unlock()
        let waking = watches.add(wakeReader, .read) { [wakeReader] _ in
            var bytes: (UInt64, UInt64) = (0, 0)
            while read(wakeReader, &bytes, 16) > 0 {}
        }
        while doPostedWork() {
            let due = nextDue
            watches.wait(milliseconds: sleep(until: due))
            // Taken after the sleep and before sockets are read: if the whole process was stopped
            // for a while, peers that spoke meanwhile are heard before they are judged.
            now = .now
            turns += 1
            // A late turn hears all peers, not only those that it has time for. Not twice in a row:
            // an overloaded loop is late, too, and must get to its alarms.
            let isLate = due.map { now - $0 > Limits.lateTurn } ?? false
            catchesUp = isLate && !catchesUp
            handleReady()
            runDueAlarms()
        }
        end(waking)
        dropEverything()
        condition.lock()
        shared.hasEnded = true
        // The system may reuse this thread's number.
        shared.thread = nil
        condition.broadcast()
        condition.unlock()
    }

    /// Calls the handlers of ready descriptors, for at most `Limits.turnTime` unless the loop
    /// catches up. Those left out go first in the next turn, so that none waits for longer than all
    /// others take.
    private func handleReady() {
        let end = now + Limits.turnTime
        // No access to `watches` is under way while a handler runs: it may add and end watches.
        while let (handler, readiness) = watches.next() {
            handler(readiness)
            if !catchesUp, ContinuousClock.now >= end { return }
        }
    }

    /// - Returns: whether the loop goes on.
    private func doPostedWork() -> Bool {
        condition.lock()
        let work = shared.posted
        shared.posted = []
        shared.isWaking = false
        let isStopping = shared.isStopping
        if isStopping { shared.isClosed = true }
        if !work.isEmpty || isStopping { condition.broadcast() }
        condition.unlock()
        for item in work { item() }
        return !isStopping
    }

    private func runDueAlarms() {
        while let action = alarms.takeDue(now) { action() }
        if let deadline = nextDeadline(), deadline <= now { tick(now) }
    }

    /// The next deadline of an alarm or of the state machine.
    private var nextDue: ContinuousClock.Instant? {
        [alarms.first, nextDeadline()].compactMap { $0 }.min()
    }

    /// Milliseconds to a deadline, rounded up so that no wait ends too early; -1: no deadline.
    private func sleep(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let (seconds, attoseconds) = (deadline - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        guard seconds < 3600 else { return 3_600_000 }
        return max(
            1,
            Int32(seconds) * 1000
                + Int32(
                    (attoseconds + 999_999_999_999_999)
                        / 1_000_000_000_000_000))
    }

    private func dropEverything() {
        nextDeadline = { nil }
        tick = { _ in }
        withExtendedLifetime(watches.close()) {}
        alarms.removeAll()
        for action in endings { action() }
        endings = []
    }
}

/// One value handed from one thread to another.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    // `result` is used only under `condition`.
    private let condition = NSCondition()
    private var result: Result<Value, any Error>?

    func give(_ result: Result<Value, any Error>) {
        condition.lock()
        self.result = result
        condition.signal()
        condition.unlock()
    }

    func wait() -> Result<Value, any Error> {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return result }
            condition.wait()
        }
    }
}
