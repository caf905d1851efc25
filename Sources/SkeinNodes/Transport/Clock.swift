/// The time of a shell, and the thread that it lives on: whatever it is told of happens there, one
/// thing after the other.
///
/// `EventLoop` is the system's time on a thread of its own. The simulation of the tests has a clock
/// whose time passes as fast as it can compute.
protocol Clock: AnyObject, Sendable {
    // MARK: From any thread

    /// Has `work` done on the clock's thread, after everything that was posted before.
    ///
    /// - Returns: whether it will be done; false once the clock has stopped.
    @discardableResult
    func post(_ work: @escaping @Sendable () -> Void) -> Bool

    /// Has `body` done on the clock's thread and waits for what it gives; at once on that thread.
    ///
    /// - Throws: what `body` throws, or `NodeError.stopped`.
    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value

    /// Ends the clock after what has been posted until now, and waits for its thread.
    func stop()

    // MARK: On the clock's thread

    func preconditionOnLoop()

    /// The time of this turn, the same for all that happens in it, never before an earlier one:
    /// what a state machine is to be told.
    var now: ContinuousClock.Instant { get }

    /// This very moment, which may be later than `now`.
    var moment: ContinuousClock.Instant { get }

    /// Calls `action` once, at `deadline` or as soon as possible after it; equal deadlines in the
    /// order of setting.
    @discardableResult
    func setAlarm(at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void) -> Alarm

    /// Takes an alarm back; nothing happens when it has gone off.
    func cancel(_ alarm: Alarm)

    /// Lets a state machine say when it wants to look at the time: `nextDeadline` is asked after
    /// whatever has happened, and `tick` is called when that time has come.
    func setTimer(
        nextDeadline: @escaping () -> ContinuousClock.Instant?,
        tick: @escaping (ContinuousClock.Instant) -> Void)

    /// Calls `action` when the clock has stopped, as the last thing on its thread.
    func whenEnding(_ action: @escaping () -> Void)
}

extension Clock {
    /// Calls `action` once, so long after this moment.
    @discardableResult
    func setAlarm(after delay: Duration, _ action: @escaping () -> Void) -> Alarm {
        setAlarm(at: moment + delay, action)
    }
}
