/// Names an action that a loop carries out at some time; the loop holds the action.
package struct Alarm: Sendable, Hashable {
    fileprivate var deadline: ContinuousClock.Instant
    fileprivate var serial: UInt64

    fileprivate func isBefore(_ other: Alarm) -> Bool {
        deadline == other.deadline ? serial < other.serial : deadline < other.deadline
    }
}

/// A loop's alarms in the order in which they go off; at most a few for each connection.
struct AlarmList {
    /// The next one is last.
    private var entries: [(alarm: Alarm, action: () -> Void)] = []
    private var serial: UInt64 = 0

    /// When the next one goes off.
    var first: ContinuousClock.Instant? { entries.last?.alarm.deadline }

    mutating func add(_ deadline: ContinuousClock.Instant, _ action: @escaping () -> Void) -> Alarm
    {
        serial += 1
        let alarm = Alarm(deadline: deadline, serial: serial)
        entries.insert((alarm, action), at: position(of: alarm))
        return alarm
    }

    mutating func remove(_ alarm: Alarm) {
        let index = position(of: alarm)
        guard index < entries.count, entries[index].alarm == alarm else { return }
        entries.remove(at: index)
    }

    mutating func removeAll() {
        entries.removeAll()
    }

    /// Removes and returns the next action that is due at `now`.
    mutating func takeDue(_ now: ContinuousClock.Instant) -> (() -> Void)? {
        guard let last = entries.last, last.alarm.deadline <= now else { return nil }
        entries.removeLast()
        return last.action
    }

    /// The first index whose alarm does not go off after `alarm`.
    private func position(of alarm: Alarm) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if alarm.isBefore(entries[middle].alarm) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
