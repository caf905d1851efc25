/// A shell's time and thread: all its events happen on that thread, one after the other.
///
/// `EventLoop` has the system's time and a thread of its own. The tests' simulation has a clock
/// that runs as fast as it can compute.
package protocol Clock: AnyObject, Sendable {
    // MARK: From any thread

    /// Runs `work` on the clock's thread, after everything posted before.
    ///
    /// - Returns: whether it will run; false once the clock has stopped.
    @discardableResult
    func post(_ work: @escaping @Sendable () -> Void) -> Bool

    /// Runs `body` on the clock's thread and waits for its result; on that thread, runs it at once.
    ///
    /// - Throws: what `body` throws, or `SocketError.stopped`.
    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value

    /// Stops the clock after all work posted so far, and waits for its thread to end.
    func stop()

    // MARK: On the clock's thread

    func preconditionOnLoop()

    /// The time of this turn, the same for all that happens in it, never earlier than the turn
    /// before: the time to tell a state machine.
    var now: ContinuousClock.Instant { get }

    /// The actual time, which may be later than `now`.
    var moment: ContinuousClock.Instant { get }

    /// Calls `action` once, at `deadline` or as soon as possible after it. Alarms with equal
    /// deadlines go off in the order in which they were set.
    @discardableResult
    func setAlarm(at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void) -> Alarm

    /// Cancels an alarm; does nothing if it has gone off.
    func cancel(_ alarm: Alarm)

    /// Sets a state machine's timer: `nextDeadline` is asked after each event, and `tick` is called
    /// when that time has come.
    func setTimer(
        nextDeadline: @escaping () -> ContinuousClock.Instant?,
        tick: @escaping (ContinuousClock.Instant) -> Void)

    /// Calls `action` when the clock has stopped, as the last thing on its thread.
    func whenEnding(_ action: @escaping () -> Void)
}

extension Clock {
    /// Calls `action` once, `delay` from this moment.
    @discardableResult
    package func setAlarm(after delay: Duration, _ action: @escaping () -> Void) -> Alarm {
        setAlarm(at: moment + delay, action)
    }
}

extension EventLoop: Clock {
    package var moment: ContinuousClock.Instant { .now }
}
